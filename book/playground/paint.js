"use strict";

// The tool *Paint*: brushes, sizes, chances, undo and clear.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.paint = (app) => {
  const { make, button, slider } = playground.dom;
  const { KINDS, LIMITS, resized } = playground.world;
  const BRUSHES = { ".": "ground", "~": "ice", X: "water", "#": "wall", S: "start", G: "goal" };
  let brush = "~";

  const brushes = make(
    "div",
    { class: "pg-brushes", role: "radiogroup", "aria-label": "Brush" },
    ...Object.entries(BRUSHES).map(([kind, words]) => make(
      "label",
      { class: "pg-brush" },
      make("input", {
        type: "radio", name: app.name, value: kind, checked: kind === brush, autocomplete: "off",
        onchange: () => {
          brush = kind;
        },
      }),
      make("span", { class: "pg-cell", "data-kind": KINDS[kind], "aria-hidden": "true" },
        make("span", { class: "pg-mark", "data-mark": kind === "X" ? "unsafe" : "" },
          "SG".includes(kind) ? kind : "")),
      words,
    )),
  );

  const settle = () => app.settle();
  const sliders = {
    H: slider("steps H", { min: LIMITS.H[0], max: LIMITS.H[1], value: 1 },
      (H) => app.change({ H }), settle),
    slip: slider("chance of a slip", {
      min: LIMITS.slip[0], max: LIMITS.slip[1], step: 0.01, value: 1,
    }, (slip) => app.change({ slip }), settle),
    tau: slider("threshold τ, for the learners", {
      min: LIMITS.tau[0], max: LIMITS.tau[1], step: 0.01, value: 0,
    }, (tau) => app.change({ tau }), settle),
  };
  const sizes = Object.fromEntries([["rows", "height"], ["columns", "width"]].map(([label, side]) => [
    side,
    slider(label, { min: LIMITS.side[0], max: LIMITS.side[1], value: 1 }, (n) => {
      const { rows } = app.settled(); // so that who goes too far and back loses nothing
      const [height, width] = [rows.length, rows[0].length];
      app.change({ rows: resized(rows, ...(side === "height" ? [n, width] : [height, n])) });
    }, settle),
  ]));

  const [undo, redo, clear] = [
    button("Undo", () => app.undo()),
    button("Redo", () => app.redo()),
    button("Clear", () => {
      const { rows } = app.world;
      app.change({ rows: rows.map((row) => row.replace(/[^SG]/g, ".")) });
      app.settle();
    }),
  ];

  return {
    title: "Paint",
    hint: "Choose a brush, and paint on the map. (Keys work too: arrows, and the space bar.)",
    above: brushes,
    element: make(
      "div", {},
      make("div", { class: "pg-row" }, undo, redo, clear),
      make("details", {}, make("summary", {}, "Size and chances"),
        ...[...Object.values(sizes), ...Object.values(sliders)].map(({ element }) => element)),
    ),
    press(i, j, how) {
      if (how === "end") {
        app.settle();
      } else if (app.world.rows[i][j] === "S" && brush !== "S" && how === "begin") {
        app.say("The start has to stand somewhere: take the brush start to move it.");
      } else {
        app.change({ rows: playground.world.painted(app.world.rows, i, j, brush) });
      }
    },
    update() {
      for (const [name, control] of Object.entries(sliders)) {
        control.set(app.world[name]);
      }
      sizes.height.set(app.world.rows.length);
      sizes.width.set(app.world.rows[0].length);
      undo.setAttribute("aria-disabled", !app.canUndo); // they keep the focus
      redo.setAttribute("aria-disabled", !app.canRedo);
      app.board.overlay({ arrows: app.verdict.way });
    },
  };
};
