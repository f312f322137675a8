"use strict";

// SUCBVI and UCBVI, with the constants and the tie rule of safeteach/learners/sucbvi.py.
globalThis.playground ??= {};

playground.learner = (() => {
  const ROOM = 5; // a move on a grid ends in one of four neighbours, or where it began

  // A learner knows the sizes of a world, its rewards and its threshold, and nothing of its
  // moves and costs. With `flags` false it is UCBVI: it flags nothing, so that nothing is doomed.
  function make({ S, A, H, r, tau }, { episodes, bonusScale = 1, delta = 0.005, flags = true }) {
    const alpha = bonusScale * 7 * H * Math.sqrt(Math.log((5 * S * A * H * episodes) / delta));
    const rows = H * S * A;
    const learner = {
      alpha,
      reached: new Uint8Array(H * S),
      visits: new Int32Array(rows), // N_h(s, a)
      seen: new Uint8Array(rows), // how many successors of (h, s, a)
      successor: new Int32Array(rows * ROOM), // which, in the order in which they were seen
      count: new Int32Array(rows * ROOM),
      share: new Float64Array(rows * ROOM),
      inverseRoot: new Float64Array(rows),
      N: new Int32Array(S), // visits of a state, at any step
      total: new Float64Array(S),
      U: new Uint8Array(H * S), // what it believes to be doomed; the last step is what it flags
      safe: new Uint8Array(rows).fill(1),
      Q: new Float64Array(rows).fill(H),
      V: new Float64Array((H + 1) * S).fill(H, 0, H * S),
      policy: new Uint8Array(H * S),
      hasFlagged: false, // ever: a flag can go away again
      plan,
      observe,
    };
    const { reached, visits, seen, successor, count, share, inverseRoot } = learner;
    const { N, total, U, safe, Q, V, policy } = learner;
    const flagged = U.subarray((H - 1) * S);
    return learner;

    // The policy of the next episode. `ties` has a uniform number for each (h, s).
    function plan(ties) {
      if (flags) {
        flag();
        spread();
      }
      for (let h = H - 1; h >= 0; h -= 1) {
        for (let s = 0; s < S; s += 1) {
          const at = h * S + s;
          if (!reached[at]) { // nothing was tried: Q and V are H from the start
            policy[at] = Math.floor(A * ties[at]);
            continue;
          }
          let best = -1;
          for (let i = at * A; i < (at + 1) * A; i += 1) {
            Q[i] = optimistic(h, s, i);
            if (U[at] || safe[i]) {
              best = Math.max(best, Q[i]);
            }
          }
          V[at] = best;
          policy[at] = bestOf(at, best, ties[at]);
        }
      }
      return policy;
    }

    // min{H, r + P̂ V + bonus}, and H for what was never tried.
    function optimistic(h, s, i) {
      if (!seen[i]) {
        return H;
      }
      let future = 0;
      for (let j = i * ROOM; j < i * ROOM + seen[i]; j += 1) {
        future += share[j] * V[(h + 1) * S + successor[j]];
      }
      return Math.min(H, r[s] + future + alpha * inverseRoot[i]);
    }

    // Among m best actions that are allowed the one with number int(m * uniform).
    function bestOf(at, best, uniform) {
      const ties = [];
      for (let a = 0; a < A; a += 1) {
        if (Q[at * A + a] === best && (U[at] || safe[at * A + a])) {
          ties.push(a);
        }
      }
      return ties[Math.floor(ties.length * uniform)];
    }

    // The states whose cost is too high for bad luck to explain.
    function flag() {
      for (let s = 0; s < S; s += 1) {
        const n = N[s];
        const width = Math.sqrt((2 * Math.log((S * n * (n + 1)) / delta)) / n);
        flagged[s] = n > 0 && total[s] / n - width > tau ? 1 : 0;
        learner.hasFlagged ||= flagged[s] === 1;
      }
    }

    // From the flags back to the first step, along the transitions that were seen.
    function spread() {
      for (let h = H - 2; h >= 0; h -= 1) {
        for (let s = 0; s < S; s += 1) {
          let some = false;
          for (let i = (h * S + s) * A; i < (h * S + s + 1) * A; i += 1) {
            let safely = true;
            for (let j = i * ROOM; j < i * ROOM + seen[i]; j += 1) {
              safely &&= !U[(h + 1) * S + successor[j]];
            }
            safe[i] = safely ? 1 : 0;
            some ||= safely;
          }
          U[h * S + s] = flagged[s] || !some ? 1 : 0;
        }
      }
    }

    // Take in an episode: states (H + 1), actions and costs (H).
    function observe({ states, actions, costs }) {
      for (let h = 0; h < H; h += 1) {
        const s = states[h];
        const i = (h * S + s) * A + actions[h];
        let j = i * ROOM;
        const end = j + seen[i];
        while (j < end && successor[j] !== states[h + 1]) {
          j += 1;
        }
        if (j === end) {
          successor[j] = states[h + 1];
          seen[i] += 1;
        }
        reached[h * S + s] = 1;
        visits[i] += 1;
        count[j] += 1;
        inverseRoot[i] = 1 / Math.sqrt(visits[i]);
        for (let k = i * ROOM; k < i * ROOM + seen[i]; k += 1) {
          share[k] = count[k] / visits[i];
        }
        N[s] += 1;
        total[s] += costs[h];
      }
    }
  }

  return { make };
})();
