"use strict";

// The tool *Why?*: press a cell, and see which slips doom it, or what keeps it safe.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.why = (app) => {
  const { make, button, count, place, player, still } = playground.dom;
  const { ACTIONS } = playground.world;
  const said = make("div", { class: "pg-said", role: "status" });
  const later = make("div"); // what is said below the first step
  const [play, next] = [
    button("Play", () => (moving.playing ? moving.stop() : start())),
    button("Next step", () => forward()),
  ];
  const controls = make("div", { class: "pg-row", hidden: true }, play, next);
  let asked; // the state, if any
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

  // One line for each action: where it means to go, and what may come of it.
  function line(s, a, end) {
    const { world } = app;
    const meant = world.meant[s * world.A + a];
    const what = world.unsafe[end] ? "the water" : `${cell(end)}, which is doomed too`;
    const stays = end === s ? "leave you where you are, which is doomed at the next step too" : "";
    if (meant === end) {
      return stays ? `${ACTIONS[a]} will ${stays}` : `${ACTIONS[a]} leads into ${what}`;
    }
    return stays ? `${ACTIONS[a]} may ${stays}` : `${ACTIONS[a]} may slip into ${what}`;
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
    const lines = dry.length && dry.length < 3
      ? dry.map(([s, ends]) => make(
        "div", {}, make("p", {}, `From ${cell(s)}, at step ${step}:`),
        make("ul", {}, ...ends.map((end, a) => make("li", {}, line(s, a, end)))),
      ))
      : [make("p", {}, dry.length
        ? `Step ${step}: from each of ${count(dry.length, "cell")} every move has such an end again.`
        : `Step ${step}: nothing is left but water. Whatever is done, bad luck can bring it about.`)];
    if (at === 0) {
      said.replaceChildren(...lines, later);
      later.replaceChildren();
    } else {
      later.replaceChildren(...lines);
    }
    next.disabled = at + 1 >= levels.length;
  }

  function ask(s) {
    const { world, step, verdict: { until } } = app;
    moving.stop();
    asked = s;
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
        arrows: safe.map((_, k) => playground.verdict.move(world, s, ACTIONS.indexOf(safe[k]), "way"))
          .filter(Boolean),
      });
      const later = until[s] ? ` (At step ${until[s]} and before it is: more steps are left then.)` : "";
      tell(step === world.H
        ? `${cell(s)} is not doomed at the last step: no move counts after it.${later}`
        : `${cell(s)} is not doomed at step ${step}. Safe there, whatever the ice does: `
          + `${safe.join(", ")}.${later}`);
    }
  }

  function tell(words) {
    said.replaceChildren(make("p", {}, words[0].toUpperCase() + words.slice(1)));
  }

  return {
    title: "Why?",
    hint: "Press a cell to ask why it is doomed at this step, or how it stays safe.",
    element: make("div", {}, said, controls),
    follows: true,
    press(i, j, how) {
      const s = app.world.states[i][j];
      if (how === "begin" && s >= 0) {
        ask(s);
      }
    },
    update() {
      if (asked === undefined || asked >= app.world.S) {
        asked = undefined;
        tell("Press one of the hatched cells.");
      } else {
        ask(asked);
      }
    },
    leave: () => moving.stop(),
  };
};
