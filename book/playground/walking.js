"use strict";

// Walking through a world, one step or one episode at a time.
globalThis.playground ??= {};

playground.walking = (() => {
  // Where action a in state s leads this time.
  function step(world, s, a, random) {
    const i = s * world.A + a;
    const [from, to] = [world.first[i], world.first[i + 1]];
    return world.successors[from + random.draw(world.chances.subarray(from, to))];
  }

  // An episode of a policy. The costs that a learner sees are noisy; what happened is not.
  function episode(world, policy, random, noise = 1) {
    const { S, H, r, c, tau, unsafe, s1 } = world;
    const states = new Int32Array(H + 1);
    const actions = new Uint8Array(H);
    const costs = new Float64Array(H);
    let [reward, violation, fell] = [0, 0, false];
    states[0] = s1;
    for (let h = 0; h < H; h += 1) {
      const s = states[h];
      actions[h] = policy[h * S + s];
      reward += r[s];
      violation += Math.max(c[s] - tau, 0);
      fell ||= unsafe[s] === 1;
      costs[h] = c[s] + (noise && noise * random.normal());
      states[h + 1] = step(world, s, actions[h], random);
    }
    return { states, actions, costs, reward, violation, fell };
  }

  // A learner in a world: plan, play, observe, and what each episode cost.
  function training(world, learner, random) {
    const ties = new Float64Array(world.H * world.S);
    const [violations, falls, rewards] = [[], [], []];
    let [violation, fall, reward] = [0, 0, 0];
    function play() {
      const policy = learner.plan(ties.map(random.uniform));
      const played = episode(world, policy, random);
      learner.observe(played);
      violations.push(violation += played.violation);
      falls.push(fall += played.fell ? 1 : 0);
      rewards.push(reward += played.reward);
      return played;
    }
    return { learner, play, violations, falls, rewards };
  }

  return { episode, step, training };
})();
