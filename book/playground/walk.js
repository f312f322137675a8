"use strict";

// The tool *Walk*: you are on the ice, and it really slips.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.walk = (app) => {
  const { make, button, count } = playground.dom;
  const { ACTIONS } = playground.world;
  const KEYS = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
  const SIGNS = { up: "↑", down: "↓", left: "←", right: "→" };
  const said = make("p", { class: "pg-said", role: "status" });
  const counted = make("p", { class: "pg-quiet" });
  const pad = make("div", { class: "pg-pad" }, ...ACTIONS.map((name) => (
    button(SIGNS[name], () => go(name), { "aria-label": name, class: `pg-button pg-${name}` })
  )));
  const again = button("Start again", () => begin());
  const total = { walks: 0, falls: 0, reward: 0 };
  let world; // in which this walk is
  let [s, h, over, fell, earned] = [0, 1, false, false, 0];

  function begin(words = "You stand at the start.") {
    [s, h, over, fell, earned] = [world.s1, 1, false, false, 0];
    show(words);
  }

  function go(name) {
    if (over) {
      begin();
      return;
    }
    const a = ACTIONS.indexOf(name);
    earned += world.r[s];
    const end = playground.walking.step(world, s, a, app.luck);
    const slipped = end !== world.meant[s * world.A + a];
    s = end;
    h += 1;
    // After the last step nothing counts any more, not even water.
    fell = h <= world.H && world.unsafe[s] === 1;
    over = fell || h > world.H;
    if (over) {
      total.walks += 1;
      total.falls += fell ? 1 : 0;
      total.reward += earned;
    }
    show(slipped ? `You meant to go ${name}, and slipped.` : `You went ${name}.`);
  }

  function show(words) {
    const { until } = app.verdict;
    app.look(Math.min(h, world.H));
    stand();
    const doomed = !over && until[s] >= h;
    said.textContent = `${words} ${
      fell ? "You are in the water." : ""
    }${
      over && !fell ? `The ${count(world.H, "step")} are over, and you are dry. You earned ${earned}.` : ""
    }${
      doomed ? "You stand on a doomed cell: no plan is safe any more, only luck is left." : ""
    }${
      over || doomed ? "" : `Step ${h} of ${world.H}.`
    }${over ? " Any move starts a new walk." : ""}`;
    counted.textContent = total.walks
      ? `${count(total.walks, "walk")}, ${count(total.falls, "fall")}; `
        + `${(total.reward / total.walks).toFixed(2)} earned a walk.`
      : "";
  }

  function stand() {
    app.board.overlay({ walkers: [{ at: world.cells[s], kind: fell ? "fallen" : "you" }] });
  }

  return {
    title: "Walk",
    hint: "Go with the arrow keys or the buttons. On ice a step may slide in any direction.",
    element: make("div", {}, said, make("div", { class: "pg-row" }, pad, again), counted),
    press() {},
    key(event) {
      if (event.key in KEYS) {
        event.preventDefault();
        go(KEYS[event.key]);
      }
    },
    update() {
      if (world === app.world) {
        stand();
      } else {
        world = app.world;
        Object.assign(total, { walks: 0, falls: 0, reward: 0 });
        begin();
      }
    },
  };
};
