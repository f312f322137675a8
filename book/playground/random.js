"use strict";

// Random numbers with a seed, so that what a reader has seen can be seen again.
globalThis.playground ??= {};

// The generator sfc32 (Chris Doty-Humphrey, PractRand): four words of 32 bits.
playground.random = (seed) => {
  let [a, b, c, count] = [seed | 0, Math.floor(seed / 2 ** 32) | 0, 0x5afe, 1];
  function word() {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return sum >>> 0;
  }
  for (let i = 0; i < 15; i += 1) {
    word();
  }

  // In [0, 1), with the 53 bits of a double.
  const uniform = () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
  const normal = () => (
    Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  );
  // The index that a uniform number falls on (safeteach/kernels.py).
  function draw(chances) {
    let total = 0;
    for (const chance of chances) {
      total += chance;
    }
    const below = uniform() * total;
    let i = 0;
    let sum = chances[0];
    while (sum <= below && i < chances.length - 1) {
      i += 1;
      sum += chances[i];
    }
    return i;
  }
  return { draw, normal, uniform };
};
