"use strict";

// The tool *Walk*: you are on the ice, and it really slips.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.walk = (app) => {
  const { make, button, count } = playground.dom;
  const { ACTIONS, MOVES } = playground.world;
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

  function begin() {
    [s, h, over, fell, earned] = [world.s1, 1, false, false, 0];
    show("You stand at the start.");
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
    over = h > world.H;
    fell ||= !over && world.unsafe[s] === 1;
    if (over) {
      total.walks += 1;
      total.falls += fell ? 1 : 0;
      total.reward += earned;
    }
    show(slipped ? `You meant to go ${name}, and slipped.` : `You went ${name}.`);
  }

  function show(words) {
    app.look(Math.min(h, world.H));
    stand();
    said.textContent = `${words} ${over ? ending() : `Step ${h} of ${world.H}. ${here()}`}`;
    counted.textContent = total.walks
      ? `${count(total.walks, "walk")}, ${count(total.falls, "fall")}; `
        + `${(total.reward / total.walks).toFixed(2)} earned a walk.`
      : "";
  }

  function here() {
    if (world.unsafe[s]) {
      return "You are in the water. You can get out, but this walk is not safe any more.";
    }
    if (!fell && app.verdict.until[s] >= h) {
      return "You stand on a doomed cell: no plan is safe any more, only luck is left.";
    }
    return world.kinds[s] === "G" ? "You are at the goal: each step here earns 1." : "";
  }

  function ending() {
    const dry = fell ? "you have been in the water" : "you are dry";
    return `The ${count(world.H, "step")} are over: ${dry}, and earned ${earned}. `
      + "Any move starts a new walk.";
  }

  function stand() {
    app.board.overlay({ walkers: [{ at: world.cells[s], kind: fell ? "fallen" : "you" }] });
  }

  return {
    title: "Walk",
    hint: "Go with the arrow keys, the buttons, or a press on the next cell. On ice a step may "
      + "slide in any direction.",
    moves: true,
    near: make("div", {}, make("div", { class: "pg-row" }, pad, again), said, counted),
    element: make("div"),
    // A press on the cell beside you is a move, too.
    press(i, j, how) {
      const [row, column] = world.cells[s];
      const name = ACTIONS.find((action) => {
        const [down, right] = MOVES[action];
        return i - row === down && j - column === right;
      });
      if (how === "begin" && name) {
        go(name);
      }
    },
    key(event) {
      if (event.key in KEYS) {
        event.preventDefault();
        go(KEYS[event.key]);
      }
    },
    update() {
      if (world === app.world) {
        app.look(Math.min(h, world.H));
        stand();
      } else {
        world = app.world;
        Object.assign(total, { walks: 0, falls: 0, reward: 0 });
        begin();
      }
    },
  };
};
