"use strict";

// What there is to say of a world, in sentences: is there a safe way, and what does it cost?
globalThis.playground ??= {};

playground.verdict = (() => {
  const { percent } = playground.dom;
  const { MOVES, ACTIONS } = playground.world;
  const EARNED = "(Each step spent at the goal earns 1.)";

  // All that follows from a world, computed anew at every stroke.
  function of(world) {
    const until = playground.safety.doomedUntil(world);
    const best = playground.planning.optimal(world);
    const reckless = playground.planning.evaluate(world, best.policy);
    if (until[world.s1] > 0) {
      return { until, best, reckless, safe: null, way: [], ...refused(reckless) };
    }
    const safe = playground.planning.safeOptimal(world, until);
    return {
      until, best, reckless, safe, way: way(world, safe.policy), ...granted(world, safe, reckless),
    };
  }

  function refused(reckless) {
    return {
      safely: false,
      title: "No safe way from S.",
      text: "The start itself is doomed: whatever you do, bad luck can take you into the water. "
        + `${daring(reckless)} ${EARNED}`,
    };
  }

  function granted(world, safe, reckless) {
    if (reckless.value === 0) {
      return {
        safely: true,
        title: "You can stay safe.",
        text: "There is nothing to be earned here: no goal can be reached in time.",
      };
    }
    if (reckless.unsafeProbability === 0) {
      return {
        safely: true,
        title: `There is a safe way. The best one earns ${round(safe.value)}.`,
        text: `It is the best way of all: here safety costs nothing. ${EARNED}`,
      };
    }
    if (reckless.value - safe.value < 1e-12) { // a tie, which went to the water
      return {
        safely: true,
        title: `There is a safe way. The best one earns ${round(safe.value)}.`,
        text: `No plan earns more: here safety costs nothing. ${EARNED}`,
      };
    }
    const price = `The price of safety is ${round(reckless.value - safe.value)}.`;
    return {
      safely: true,
      title: safe.value === 0
        ? "You can stay safe, but not reach the goal in time."
        : `There is a safe way. The best one earns ${round(safe.value)}.`,
      text: `${daring(reckless)} ${price} ${EARNED}`,
    };
  }

  function daring(reckless) {
    return `The best plan that does not mind the water earns ${round(reckless.value)}, and is in `
      + `it in ${percent(reckless.unsafeProbability)} of its walks.`;
  }

  // Where a policy may lead from the start: an arrow in each cell, that of the first move from it.
  function way(world, policy) {
    const arrows = new Map();
    let here = [world.s1];
    for (let h = 0; h < world.H; h += 1) {
      const next = new Set();
      for (const s of here) {
        const a = policy[h * world.S + s];
        const arrow = move(world, s, a, "way");
        if (arrow && !arrows.has(s)) {
          arrows.set(s, arrow);
        }
        for (let j = world.first[s * 4 + a]; j < world.first[s * 4 + a + 1]; j += 1) {
          next.add(world.successors[j]);
        }
      }
      here = [...next];
    }
    return [...arrows.values()];
  }

  // The arrow of an action, if it leads anywhere.
  function move(world, s, a, kind) {
    const [i, j] = world.cells[s];
    const [down, right] = MOVES[ACTIONS[a]];
    return world.meant[s * 4 + a] === s ? null : { from: [i, j], to: [i + down, j + right], kind };
  }

  const round = (x) => (x > 0 && x < 0.005 ? "less than 0.01" : x.toFixed(2));

  return { move, of, round };
})();
