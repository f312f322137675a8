"use strict";

// The tool *Let it learn*: SUCBVI and UCBVI side by side, in a world that they do not know.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.learn = (app) => {
  const { make, button, count, menu, percent, slider } = playground.dom;
  const { round } = playground.verdict;
  const EPISODES = 20000;
  const SCALES = ["1", "0.3", "0.1", "0.03", "0.01", "0.003", "0"];
  const SPEEDS = [1, 3, 10, 30, 100, 300, 1000, 3000, Infinity]; // episodes a second
  const RECENT = 500; // episodes over which the words average
  const FRAME = 14; // milliseconds of each frame that may go into learning
  const NAMES = ["SUCBVI", "UCBVI"];

  let world; // in which they learn
  let runs = [];
  let scale = "0.01";
  let speed = 100;
  let [playing, due, last, next] = [false, 0, 0, 0];

  const boards = NAMES.map((name) => playground.board.create(name));
  const words = NAMES.map(() => make("p", { class: "pg-quiet" }));
  const curves = playground.curves.create(
    "Violation in all: each step in the water counts 1 − τ",
    NAMES,
    "the best policy for reward alone",
  );
  const said = make("p", { class: "pg-said", role: "status" });
  const play = button("Play", () => (playing ? stop() : start()));
  const one = button("One episode", () => {
    stop();
    advance(1);
    show();
  });
  const pace = slider("speed", {
    min: 0, max: SPEEDS.length - 1, value: SPEEDS.indexOf(speed),
    said: (i) => (
      SPEEDS[i] === Infinity ? "as fast as it goes" : `${count(SPEEDS[i], "episode")} a second`
    ),
  }, (i) => {
    speed = SPEEDS[i];
    due = 0;
  });
  const bonus = menu("bonus_scale", Object.fromEntries(SCALES.map((x) => [x, x])), scale, (x) => {
    scale = x;
    begin();
  });
  const does = make("p", { class: "pg-quiet" });

  function begin() {
    stop();
    runs = [true, false].map((flags) => playground.walking.training(
      world,
      playground.learner.make(world, { episodes: EPISODES, bonusScale: Number(scale), flags }),
      app.newLuck(), // both meet the same luck at first
    ));
    const { alpha } = runs[0].learner;
    const tries = Math.ceil((alpha / world.H) ** 2);
    does.textContent = scale === "0"
      ? "Without a bonus a learner believes its first averages, and hopes only for what it has "
        + "never tried."
      : `With this bonus a move counts as the best there could be at least until it was tried ${
        count(tries, "time")} from a cell at a step.${
        scale === "1" ? " It is the theorem's own; the smaller ones are tuned." : ""}`;
    show();
  }

  function advance(n) {
    for (let k = 0; k < n && runs[0].falls.length < EPISODES; k += 1) {
      runs.forEach((run) => run.play());
    }
  }

  function start() {
    if (runs[0].falls.length === EPISODES) {
      begin();
    }
    [playing, due, last] = [true, 0, performance.now()];
    play.textContent = "Pause";
    cancelAnimationFrame(next);
    next = requestAnimationFrame(frame);
  }

  function stop() {
    playing = false;
    play.textContent = "Play";
  }

  function frame(now) {
    if (!playing) {
      return;
    }
    const end = performance.now() + FRAME;
    const elapsed = Math.max(0, now - last) / 1000;
    due = speed === Infinity ? EPISODES : Math.min(due + speed * elapsed, EPISODES);
    last = now;
    let moved = false;
    while (due >= 1 && performance.now() < end) {
      advance(1);
      due -= 1;
      moved = true;
    }
    due = Math.min(due, speed / 10); // what this machine cannot do is not owed
    if (moved) {
      show();
    }
    if (runs[0].falls.length === EPISODES) {
      stop();
    } else {
      next = requestAnimationFrame(frame);
    }
  }

  function show() {
    const { step, verdict: { safe, best, reckless } } = app;
    const n = runs[0].falls.length;
    const steps = [...Array(world.H).keys()];
    runs.forEach(({ learner, falls, rewards }, i) => {
      const { N, U } = learner;
      const most = Math.max(1, ...N);
      const flagged = (s) => U[(world.H - 1) * world.S + s];
      const doomed = (s) => U[(step - 1) * world.S + s];
      const ever = (s) => steps.some((h) => U[h * world.S + s]);
      boards[i].show(world.rows, (row, column) => {
        const s = world.states[row][column];
        if (s < 0) {
          return { mark: "", words: "" };
        }
        return {
          mark: flagged(s) ? "unsafe" : doomed(s) ? "doomed" : ever(s) ? "elsewhere" : "",
          visits: N[s] ? Math.round(20 * Math.sqrt(N[s] / most)) / 20 : 0,
          words: "",
        };
      });
      const all = world.kinds.map((_, s) => s);
      const [flags, rings] = [all.filter(flagged).length, all.filter(doomed).length];
      boards[i].name(`${NAMES[i]} after ${count(n, "episode")}: ${count(flags, "cell")} flagged, `
        + `${rings} believed to be doomed at step ${step}.`);
      const m = Math.min(n, RECENT);
      const since = (line) => (m ? (line[n - 1] - (line[n - m - 1] ?? 0)) / m : 0);
      words[i].textContent = n
        ? `Last ${m.toLocaleString("en")} episodes: in the water in ${percent(since(falls))}, `
          + `earns ${round(since(rewards))}.`
        : "Knows nothing yet.";
    });
    const reference = safe
      ? `the best safe policy earns ${round(safe.value)}`
      : "there is no safe policy";
    references.textContent = `For comparison: ${reference}; the best of all `
      + `${round(best.value)}, in the water in ${percent(reckless.unsafeProbability)}.`;
    const words_ = n === EPISODES
      ? "All episodes are played."
      : n && !runs[0].learner.hasFlagged
        ? "SUCBVI has flagged nothing yet; until then both do the same."
        : "";
    if (said.textContent !== words_) {
      said.textContent = words_; // who hears the page hears it once
    }
    curves.show(runs.map(({ violations }) => violations), reckless.violation);
  }

  const references = make("p", { class: "pg-quiet" });
  return {
    title: "Let it learn",
    hint: "Two learners that do not know the map; each walk, an episode, tells them more. UCBVI "
      + "learns what pays. SUCBVI learns what is doomed as well, and keeps away from it.",
    element: make(
      "div", {},
      make("div", { class: "pg-row" }, play, one, button("Start again", begin), pace.element,
        bonus.element),
      does, said,
      make("div", { class: "pg-pair" }, ...NAMES.map((name, i) => (
        make("div", {}, make("p", { class: "pg-name" }, name), boards[i].element, words[i])
      ))),
      references,
      make("p", { class: "pg-legend" },
        make("span", { class: "pg-key-mark", "data-mark": "unsafe" }),
        "flagged: its cost is too high for bad luck",
        make("span", { class: "pg-key-mark", "data-mark": "doomed" }),
        "believed to be doomed at the step that the slider shows",
        make("span", { class: "pg-key-mark", "data-mark": "elsewhere" }), "at some other step",
        make("span", { class: "pg-key-mark", "data-mark": "visited" }),
        "visited, the more shade the more often"),
    ),
    under: curves.element,
    press() {},
    follows: true,
    update() {
      if (world !== app.world) {
        world = app.world;
        begin();
      } else {
        show();
      }
      app.board.overlay();
    },
    leave: stop,
  };
};
