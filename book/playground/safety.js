"use strict";

// Which cells are doomed at which step, which moves are safe, and why (safeteach/safety.py).
globalThis.playground ??= {};

playground.safety = (() => {
  // The last step at which each state is doomed: H for water, 0 for a state that never is.
  // From the first step to that one it is doomed, and later it is not.
  function doomedUntil(world) {
    const { S, A, H, first, successors, unsafe } = world;
    const until = Int32Array.from(unsafe, (yes) => (yes ? H : 0));
    for (let h = H - 1; h > 0; h -= 1) {
      const found = [];
      for (let s = 0; s < S; s += 1) {
        let doomed = until[s] === 0;
        for (let a = 0; a < A && doomed; a += 1) {
          let touches = false;
          for (let j = first[s * A + a]; j < first[s * A + a + 1]; j += 1) {
            touches ||= until[successors[j]] > h;
          }
          doomed = touches;
        }
        if (doomed) {
          found.push(s);
        }
      }
      if (!found.length) {
        break; // what did not grow once will not grow again
      }
      for (const s of found) {
        until[s] = h;
      }
    }
    return until;
  }

  // For each pair (s, a) the step from which on the action is safe; at the last step all are.
  function safeFrom(world, until) {
    const { S, A, first, successors } = world;
    const from = new Int32Array(S * A);
    for (let i = 0; i < S * A; i += 1) {
      for (let j = first[i]; j < first[i + 1]; j += 1) {
        from[i] = Math.max(from[i], until[successors[j]]);
      }
    }
    return from;
  }

  // Why state s is doomed at step h: a bad answer to every action, level by level, until all is
  // water. Each level is a step with its states, and each state with the successor that answers
  // action 0, 1, 2, 3: water where there is some, and otherwise the lowest in number.
  function witness(world, until, s, h) {
    if (until[s] < h) {
      throw new RangeError(`state ${s} is not doomed at step ${h}`);
    }
    const levels = [];
    let open = [s];
    for (let step = h; open.length; step += 1) {
      const answers = new Map(open.map((t) => [t, world.unsafe[t] ? [] : answer(t, step)]));
      levels.push({ step, answers });
      open = [...new Set([...answers.values()].flat())].sort((x, y) => x - y);
    }
    return levels;

    function answer(t, step) {
      return playground.world.ACTIONS.map((_, a) => {
        const i = t * world.A + a;
        const after = [...world.successors.subarray(world.first[i], world.first[i + 1])];
        const doomed = after.filter((u) => until[u] > step);
        return doomed.find((u) => world.unsafe[u]) ?? doomed[0];
      });
    }
  }

  return { doomedUntil, safeFrom, witness };
})();
