"use strict";

// What the playground's modules say of worlds, for tests: a JSON list on standard input, one out.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const [, , folder] = process.argv;
for (const name of ["world", "safety", "planning", "random", "learner", "walking", "presets"]) {
  require(join(folder, `${name}.js`));
}
const { world, safety, planning, random, learner, walking, presets } = globalThis.playground;

const plain = (array) => Array.from(array);

const answers = {
  // Sets, plans, values and witnesses of a world.
  world(told) {
    const made = world.make(told);
    const until = safety.doomedUntil(made);
    const plans = {
      optimal: planning.optimal(made),
      safe: planning.safeOptimal(made, until),
      oneStepAhead: planning.oneStepAhead(made),
    };
    return {
      S: made.S,
      s1: made.s1,
      first: plain(made.first),
      successors: plain(made.successors),
      chances: plain(made.chances),
      until: plain(until),
      safeFrom: plain(safety.safeFrom(made, until)),
      plans: Object.fromEntries(Object.entries(plans).map(([name, plan]) => [name, {
        V: plain(plan.V), policy: plain(plan.policy), ...planning.evaluate(made, plan.policy),
      }])),
      witnesses: told.ask.map(([s, h]) => (
        safety.witness(made, until, s, h).flatMap(({ step, answers: bad }) => (
          [...bad].map(([t, after]) => [step, t, after])
        ))
      )),
      python: world.python(told),
      link: world.toLink(told),
      back: world.fromLink(world.toLink(told)),
    };
  },

  // What a learner believes after the same episodes with the same ties.
  learner({ told, settings, episodes }) {
    const made = world.make(told);
    const agent = learner.make(made, settings);
    const policies = episodes.map(({ ties, ...episode }) => {
      const policy = plain(agent.plan(Float64Array.from(ties)));
      agent.observe(episode);
      return policy;
    });
    return { policies, Q: plain(agent.Q), V: plain(agent.V), U: plain(agent.U) };
  },

  // Links that may be broken or hostile.
  link: (link) => world.fromLink(link),

  // Edits of a map.
  painted: ({ rows, i, j, kind }) => world.painted(rows, i, j, kind),
  resized: ({ rows, height, width }) => world.resized(rows, height, width),

  presets: () => presets,

  // Uniform and normal numbers of a seed, and how often each index is drawn.
  random({ seed, n, chances }) {
    const luck = random(seed);
    const list = (draw) => Array.from({ length: n }, draw);
    return {
      uniform: list(luck.uniform), normal: list(luck.normal),
      drawn: list(() => luck.draw(chances)),
    };
  },

  // How often walkers fall, in n episodes, with each of the plans.
  falls({ told, seed, n }) {
    const made = world.make(told);
    const luck = random(seed);
    const until = safety.doomedUntil(made);
    return [planning.optimal(made), planning.oneStepAhead(made),
      planning.safeOptimal(made, until)].map(({ policy }) => {
      let fell = 0;
      for (let k = 0; k < n; k += 1) {
        fell += walking.episode(made, policy, luck).fell ? 1 : 0;
      }
      return fell;
    });
  },

  // A learner left alone: the violations of its episodes.
  training({ told, settings, seed }) {
    const made = world.make(told);
    const run = walking.training(made, learner.make(made, settings), random(seed));
    for (let k = 0; k < settings.episodes; k += 1) {
      run.play();
    }
    return { violations: run.violations, rewards: run.rewards, U: plain(run.learner.U) };
  },
};

const questions = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(questions.map(([about, told]) => answers[about](told))));
