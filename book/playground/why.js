"use strict";

// The tool *Why?*: press a cell, and see which slips doom it, or what keeps it safe.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.why = (app) => {
  const { make, button, place, player, still } = playground.dom;
  const { ACTIONS } = playground.world;
  const said = make("div", { class: "pg-said", role: "status" });
  const later = make("div"); // what is said below the first step
  const [play, next] = [
    button("Play", () => (moving.playing ? moving.stop() : start())),
    button("Next step", () => forward()),
  ];
  const controls = make("div", { class: "pg-row", hidden: true }, play, next);
  let asked; // the place, if any
  let levels = [];
  let shown = 0;
  const moving = player(() => forward(), () => 1400, (yes) => {
    play.textContent = yes ? "Pause" : "Play";
  });

  function start() {
    if (shown === levels.length - 1) {
      show(0);
    }
    moving.start();
  }

  function forward() {
    if (shown + 1 >= levels.length) {
      return false;
    }
    show(shown + 1);
    return shown + 1 < levels.length;
  }

  const cell = (s) => place(app.world.cells[s]);

  // One line for each bad end: the actions that it answers, and whether it is what they mean.
  function lines(s, ends) {
    const { world } = app;
    return [...new Set(ends)].map((end) => {
      const actions = ACTIONS.filter((_, a) => ends[a] === end);
      const slips = actions.some((name) => world.meant[s * world.A + ACTIONS.indexOf(name)] !== end);
      const what = world.unsafe[end] ? "into the water" : `to ${cell(end)}, doomed at the next step`;
      const names = actions.length === ACTIONS.length
        ? "whatever you do, you"
        : `${actions.join(" or ")}${actions.length > 1 ? ": you" : " "}`.trim();
      if (end === s) {
        return `${names} may not get away, and at the next step this cell is doomed too`;
      }
      return `${names} ${slips ? "may slip" : actions.length > 1 ? "go" : "leads"} ${what}`;
    });
  }

  function show(at) {
    shown = at;
    const { world } = app;
    const { step, answers } = levels[at];
    const arrows = [];
    levels.slice(0, at + 1).forEach((level, k) => {
      for (const [s, ends] of level.answers) {
        for (const end of new Set(ends)) {
          arrows.push({ from: world.cells[s], to: world.cells[end], kind: k < at ? "past" : "slip" });
        }
      }
    });
    app.board.overlay({ arrows });
    const dry = [...answers].filter(([, ends]) => ends.length);
    const told = dry.length && dry.length < 3
      ? dry.map(([s, ends]) => make(
        "div", {}, make("p", {}, `From ${cell(s)}, at step ${step}:`),
        make("ul", {}, ...lines(s, ends).map((words) => make("li", {}, words))),
      ))
      : [make("p", {}, dry.length
        ? `Step ${step}: from each of ${dry.length} cells every move has such an end again.`
        : `Step ${step}: nothing is left but water. Whatever is done, bad luck can bring it about.`)];
    if (at === 0) {
      said.replaceChildren(...told, later);
      later.replaceChildren();
    } else {
      later.replaceChildren(...told);
    }
    next.disabled = at + 1 >= levels.length;
  }

  function ask(s) {
    const { world, step, verdict: { until } } = app;
    moving.stop();
    levels = [];
    controls.hidden = true;
    app.board.overlay();
    if (world.unsafe[s]) {
      tell(`${cell(s)} is water: being there is what must not happen.`);
    } else if (until[s] >= step) {
      levels = playground.safety.witness(world, until, s, step);
      controls.hidden = false;
      show(0);
      if (!still()) {
        moving.start();
      }
    } else {
      const from = playground.safety.safeFrom(world, until);
      const safe = ACTIONS.filter((_, a) => from[s * world.A + a] <= step);
      app.board.overlay({
        arrows: safe.map((name) => playground.verdict.move(world, s, ACTIONS.indexOf(name), "way"))
          .filter(Boolean),
      });
      const later = until[s] ? ` (At step ${until[s]} and before it is: more steps are left then.)` : "";
      const soon = safe.some((name) => until[world.meant[s * world.A + ACTIONS.indexOf(name)]] === step)
        ? " (What is doomed now, and no longer one step later, is no danger.)"
        : "";
      tell(step === world.H
        ? `${cell(s)} is not doomed at the last step: no move counts after it.${later}`
        : `${cell(s)} is not doomed at step ${step}. Safe there, whatever the ice does: `
          + `${safe.join(", ")}.${soon}${later}`);
    }
  }

  function tell(words) {
    said.replaceChildren(make("p", {}, words[0].toUpperCase() + words.slice(1)));
  }

  return {
    title: "Why?",
    hint: "Press a cell to ask why it is doomed at this step, or how it stays safe.",
    near: make("div", {}, controls, said),
    element: make("div"),
    follows: true,
    press(i, j, how) {
      const s = app.world.states[i][j];
      if (how === "begin" && s >= 0) {
        asked = [i, j];
        ask(s);
      }
    },
    update() {
      const s = asked ? app.world.states[asked[0]]?.[asked[1]] ?? -1 : -1;
      if (s < 0) {
        asked = undefined;
        moving.stop();
        controls.hidden = true;
        app.board.overlay();
        tell("For example, one of the hatched cells.");
      } else {
        ask(s);
      }
    },
    leave: () => moving.stop(),
  };
};
