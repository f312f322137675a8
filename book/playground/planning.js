"use strict";

// The best policy, the best safe one, and one that looks a single step ahead; and what a policy
// does, exactly (safeteach/planning). Sums are taken in the library's order, so that they agree
// to the last bit.
globalThis.playground ??= {};

playground.planning = (() => {
  // V[h - 1] of the book stands from (h - 1) * S on, and the policy the same way.
  function plan(world, allowed) {
    const { S, A, H, r, s1 } = world;
    const V = new Float64Array((H + 1) * S);
    const policy = new Uint8Array(H * S);
    for (let h = H; h > 0; h -= 1) {
      const after = V.subarray(h * S, (h + 1) * S);
      for (let s = 0; s < S; s += 1) {
        let best = -Infinity;
        for (let a = 0; a < A; a += 1) {
          if (allowed(h, s, a)) {
            const value = r[s] + expected(world, s * A + a, after, 1, 0);
            if (value > best) {
              best = value;
              policy[(h - 1) * S + s] = a;
            }
          }
        }
        V[(h - 1) * S + s] = best;
      }
    }
    return { V, policy, value: V[s1] };
  }

  function expected({ first, successors, chances }, i, after, width, at) {
    let rest = 0;
    for (let j = first[i] + 1; j < first[i + 1]; j += 1) {
      rest += chances[j] * after[successors[j] * width + at];
    }
    return chances[first[i]] * after[successors[first[i]] * width + at] + rest;
  }

  function optimal(world) {
    return plan(world, () => true);
  }

  // In a doomed state no action keeps the agent safe, and all are allowed.
  function safeOptimal(world, until) {
    const from = playground.safety.safeFrom(world, until);
    return plan(world, (h, s, a) => until[s] >= h || from[s * world.A + a] <= h);
  }

  // What a careful agent does that does not look back from the end: it forbids an action that
  // may be in the water one step later, unless every action may.
  function oneStepAhead(world) {
    const { S, A, H, first, successors, unsafe } = world;
    const wet = Uint8Array.from({ length: S * A }, (_, i) => (
      successors.subarray(first[i], first[i + 1]).some((t) => unsafe[t])
    ));
    const lost = Uint8Array.from({ length: S }, (_, s) => (
      wet.subarray(s * A, (s + 1) * A).every((yes) => yes)
    ));
    return plan(world, (h, s, a) => h === H || lost[s] || !wet[s * A + a]);
  }

  // The expected reward, violation and steps in the water, and the chance of ever being there.
  function evaluate(world, policy) {
    const { S, A, H, r, c, tau, unsafe, s1 } = world;
    let after = new Float64Array(4 * S);
    for (let h = H; h > 0; h -= 1) {
      const before = new Float64Array(4 * S);
      for (let s = 0; s < S; s += 1) {
        const i = s * A + policy[(h - 1) * S + s];
        for (let k = 0; k < 4; k += 1) {
          before[4 * s + k] = expected(world, i, after, 4, k);
        }
        before[4 * s] += r[s];
        before[4 * s + 1] += Math.max(c[s] - tau, 0);
        before[4 * s + 2] += c[s];
        if (unsafe[s]) {
          before[4 * s + 3] = 1;
        }
      }
      after = before;
    }
    const [value, violation, cost, unsafeProbability] = after.subarray(4 * s1, 4 * s1 + 4);
    return { value, violation, cost, unsafeProbability };
  }

  return { evaluate, oneStepAhead, optimal, safeOptimal };
})();
