"use strict";

// The tool *Send agents*: three that know the world walk in it, and their falls are counted.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.agents = (app) => {
  const { make, button, percent, player, still } = playground.dom;
  const { round } = playground.verdict;
  const MANY = 1000;
  const AGENTS = [
    ["R", "Reckless", "the best plan that does not mind the water"],
    ["1", "One step ahead", "never takes a step that could end in the water, if it has another"],
    ["✓", "Safe", "the best plan that never enters a doomed cell"],
  ];
  const body = make("tbody");
  const table = make(
    "table", { class: "pg-table" },
    make("thead", {}, make("tr", {}, ...["agent", "walks", "falls", "to be expected", "earns"].map(
      (words) => make("th", { scope: "col" }, words),
    ))),
    body,
  );
  const said = make("p", { class: "pg-said", role: "status" });
  const send = button("Send one of each", () => {
    walk();
  });
  const many = button(`Send ${MANY.toLocaleString("en")} of each`, () => {
    moving.stop();
    crowd();
  });
  let world; // in which they walk
  let agents = [];
  let walks = [];
  let at = 0;
  const moving = player(step, () => 280);

  function prepare() {
    moving.stop();
    const { best, safe } = app.verdict;
    const ahead = playground.planning.oneStepAhead(world);
    agents = [best, ahead, safe].map((plan, i) => ({
      letter: AGENTS[i][0],
      plan,
      exact: plan && playground.planning.evaluate(world, plan.policy),
      walks: 0,
      falls: 0,
    }));
    walks = [];
    said.textContent = "";
    tell();
  }

  function played(agent) {
    const walk_ = playground.walking.episode(world, agent.plan.policy, app.luck, 0);
    agent.walks += 1;
    agent.falls += walk_.fell ? 1 : 0;
    return walk_;
  }

  const there = () => agents.filter(({ plan }) => plan);

  function walk() {
    walks = there().map((agent) => [agent, played(agent)]);
    at = 0;
    if (still()) {
      at = world.H - 1;
      step();
    } else {
      moving.start();
    }
  }

  function step() {
    app.look(at + 1);
    app.board.overlay({
      walkers: walks.map(([{ letter }, { states }], nth) => {
        const fell = states.slice(0, at + 1).some((s) => world.unsafe[s]);
        return {
          at: world.cells[states[at]], letter, kind: fell ? "fallen" : "", nth, of: walks.length,
        };
      }),
    });
    at += 1;
    if (at < world.H) {
      return true;
    }
    tell();
    const fallen = walks.filter(([, { fell }]) => fell).map(([{ letter }]) => nameOf(letter));
    said.textContent = fallen.length
      ? `In the water: ${fallen.join(", ")}.`
      : "All came through this time.";
    return false;
  }

  const nameOf = (letter) => AGENTS.find(([key]) => key === letter)[1].toLowerCase();

  function crowd() {
    for (const agent of there()) {
      for (let k = 0; k < MANY; k += 1) {
        played(agent);
      }
    }
    said.textContent = `${MANY.toLocaleString("en")} more of each have walked.`;
    tell();
  }

  function tell() {
    body.replaceChildren(...agents.map((agent, i) => {
      const [letter, name, does] = AGENTS[i];
      const numbers = agent.plan
        ? [
          agent.walks.toLocaleString("en"),
          agent.walks ? `${agent.falls.toLocaleString("en")} (${percent(agent.falls / agent.walks)})` : "0",
          percent(agent.exact.unsafeProbability),
          round(agent.exact.value),
        ]
        : ["–", "–", "–", "no safe way"];
      return make(
        "tr", {},
        make("th", { scope: "row" }, make("b", {}, `${name} (${letter})`), make("small", {}, ` ${does}`)),
        ...numbers.map((words) => make("td", {}, words)),
      );
    }));
  }

  return {
    title: "Send agents",
    hint: "Three agents that know the map. How often are they in the water?",
    element: make("div", {}, make("div", { class: "pg-row" }, send, many), said,
      make("div", { class: "pg-wide" }, table)),
    moves: true,
    press() {},
    update() {
      if (world !== app.world) {
        world = app.world;
        prepare();
      }
      app.board.overlay();
    },
    leave: () => moving.stop(),
  };
};
