"use strict";

// One world, one board, and the tools that work on it. Every element of the class `playground`
// becomes one: `data-tools` names the tools, `data-worlds` holds worlds to begin with (JSON), and
// `data-linked` says that the page's address keeps the world.
globalThis.playground ??= {};

playground.start = (root) => {
  const { make, button, count, menu, name, place, player, slider } = playground.dom;
  const world_ = playground.world;
  const own = JSON.parse(root.dataset.worlds ?? "null");
  const worlds = own ?? playground.presets;
  const tools = root.dataset.tools.split(" ");
  const linked = "linked" in root.dataset;
  const [seed] = crypto.getRandomValues(new Uint32Array(1));

  const app = {
    name: name(),
    luck: playground.random(seed),
    newLuck: () => playground.random(seed),
    change, settle, look, say, undo, redo, address,
    settled: () => world_.fromLink(kept).found, // the world before this stroke
  };
  let past = [];
  let future = [];
  let kept; // the world as it was when it was last settled
  let tool;
  let before; // the step that was shown when this tool was chosen

  const title = make("p", { class: "pg-title" });
  const large = make("a", {}, "Take this world to the whole playground");
  const text = make("p", { class: "pg-text" });
  const notice = make("p", { class: "pg-notice", role: "status" });
  const above = make("div", { class: "pg-above" });
  const near = make("div", { class: "pg-near" });
  const under = make("div", { class: "pg-under" });
  const panel = make("div", { class: "pg-panel" });
  const spoken = make("p", { class: "pg-spoken", role: "status" }); // after a stroke, not within
  const steps = make("p", { class: "pg-quiet" });
  const growing = player(() => {
    look(app.step - 1);
    return app.step > 1;
  }, () => Math.min(500, 6000 / app.world.H), (moving) => {
    grow.textContent = moving ? "Pause" : "Watch doom spread";
  });
  const grow = button("Watch doom spread", () => {
    if (growing.playing) {
      growing.stop();
    } else {
      if (app.step === 1) {
        look(app.world.H);
      }
      growing.start();
    }
  });
  const stepper = slider("back to step", {
    min: 0, max: 1, value: 0, said: (x) => (app.world ? `${app.world.H - x} of ${app.world.H}` : ""),
  }, (x) => {
    growing.stop();
    look(app.world.H - x);
  });
  const begin = menu("Begin with", {
    "": "a world of yours",
    ...Object.fromEntries(Object.entries(worlds).map(([key, world]) => [key, world.name])),
  }, "", (key) => {
    if (key) {
      change(worlds[key]);
      settle();
      look(start());
    }
  });
  app.board = playground.board.create("Map", (i, j, how) => tool.press(i, j, how));

  // A world that differs in what is named; nothing happens if there is no such world.
  function change(named) {
    const { rows, H, slip, tau } = { ...app.world, ...named };
    const told = { rows, H, slip, tau };
    if (world_.fault(told) || (app.world && world_.toLink(told) === world_.toLink(app.world))) {
      return;
    }
    const atTheEnd = app.world?.H > 1 && app.step === app.world.H;
    app.world = world_.make(told);
    app.verdict = playground.verdict.of(app.world);
    app.step = atTheEnd ? H : Math.min(app.step ?? 1, H);
    say("");
    show();
  }

  // The end of a stroke: what undo goes back to.
  function settle() {
    const now = world_.toLink(app.world);
    if (now !== kept) {
      if (kept !== undefined) {
        past.push(kept);
      }
      future = [];
      keep(now);
    }
  }

  function keep(now) {
    kept = now;
    [app.canUndo, app.canRedo] = [past.length > 0, future.length > 0];
    if (linked) {
      try {
        history.replaceState(null, "", `#${now}`);
      } catch {
        // A page inside another one may have no address of its own.
      }
    }
    spoken.textContent = `${app.verdict.title} ${app.verdict.text}`;
    large.href = address();
    tool?.update();
  }

  function undo() {
    travel(past, future);
  }

  function redo() {
    travel(future, past);
  }

  function travel(from, to) {
    if (from.length) {
      to.push(kept);
      const then = from.pop();
      change(world_.fromLink(then).found);
      keep(then);
    }
  }

  function look(h) {
    app.step = Math.max(1, Math.min(h, app.world.H));
    marks();
    if (tool?.follows) {
      tool.update();
    }
  }

  function say(words) {
    notice.textContent = words;
  }

  // Where this world can be found again: on the page of the whole playground, if there is one.
  function address() {
    const hash = `#${world_.toLink(app.world)}`;
    try {
      return new URL((linked ? "" : root.dataset.page ?? "") + hash, location.href).href;
    } catch {
      return hash; // see above
    }
  }

  function show() {
    const { safely, title: headline, text: more } = app.verdict;
    title.textContent = headline;
    title.dataset.safely = safely;
    text.textContent = more;
    const now = world_.toLink(app.world);
    begin.select.value = Object.keys(worlds).find((key) => world_.toLink(worlds[key]) === now) ?? "";
    marks();
    tool?.update();
  }

  // The step that is shown at first.
  function start() {
    return Number(root.dataset.step ?? 1);
  }

  // What is doomed at the step that is looked at.
  function marks() {
    const { world, step, verdict: { until } } = app;
    app.board.show(world.rows, (i, j) => {
      const s = world.states[i][j];
      const kind = world_.KINDS[world.rows[i][j]];
      const doomed = s >= 0 && until[s] >= step && !world.unsafe[s];
      return {
        mark: s >= 0 && world.unsafe[s] ? "unsafe" : doomed ? "doomed" : "",
        words: `${place([i, j])}: ${kind}${doomed ? ", doomed" : ""}`,
      };
    });
    stepper.set(world.H - step, { max: world.H - 1 });
    const doomed = until.filter((last) => last >= step).length;
    const wet = world.unsafe.filter(Boolean).length;
    steps.textContent = `With ${count(world.H - step, "more step")} to go ${
      doomed > wet
        ? `${count(doomed, "cell is", "cells are")} doomed${wet ? `, ${wet} of them water.` : "."}`
        : `nothing is doomed${wet ? " but water." : "."}`}`;
  }

  function choose(key) {
    growing.stop();
    tool?.leave?.();
    if (tool?.moves) {
      app.step = Math.min(before, app.world.H); // where the reader was, before somebody walked
    }
    before = app.step;
    tool = made[key];
    root.dataset.tool = key;
    for (const [other, tab] of Object.entries(tabs)) {
      tab.setAttribute("aria-selected", other === key);
      tab.tabIndex = other === key ? 0 : -1;
    }
    whole.setAttribute("aria-label", tool.title);
    const [first, beside, last] = [tool.above, tool.near, tool.under].map((part) => (
      part ? [part] : []
    ));
    above.replaceChildren(make("p", { class: "pg-hint" }, tool.hint), ...first);
    near.replaceChildren(...beside);
    under.replaceChildren(...last);
    panel.replaceChildren(tool.element);
    say("");
    marks();
    tool.update();
  }

  const made = {};
  const tabs = {};
  for (const key of tools) {
    made[key] = playground.tools[key](app);
    tabs[key] = button(made[key].title, (event) => {
      choose(key);
      if (tool.key && event.detail) { // with the mouse: the keys are for the map now
        app.board.focus();
      }
    }, { role: "tab", class: "pg-tab" });
  }
  const bar = make("div", { class: "pg-tabs", role: "tablist", "aria-label": "Tools",
    onkeydown: (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (way && !playground.dom.modified(event)) {
        event.preventDefault();
        const to = tools[(tools.indexOf(root.dataset.tool) + way + tools.length) % tools.length];
        choose(to);
        tabs[to].focus();
      }
    } }, ...Object.values(tabs));
  const whole = make("div", { role: tools.length > 1 ? "tabpanel" : "group" });
  // Who walks does so with the arrow keys, wherever these do nothing else; otherwise they move from
  // cell to cell.
  root.addEventListener("keydown", (event) => {
    if (!event.target.closest("input, select, pre, [role=tab]") && !playground.dom.modified(event)) {
      tool.key?.(event);
    }
  }, { capture: true });

  // What stood here before a script ran is what paper shows.
  root.replaceChildren(
    make("div", { class: "pg-paper" }, ...root.childNodes),
    ...(tools.length > 1 ? [bar] : []),
    ...(Object.keys(worlds).length > 1 ? [make("div", { class: "pg-begin" }, begin.element)] : []),
    whole,
  );
  whole.append(
    above,
    make(
      "div", { class: "pg-sides" },
      make(
        "div", { class: "pg-map" },
        make("p", { class: "pg-legend" },
          make("span", { class: "pg-key-mark", "data-mark": "doomed" }),
          make("b", {}, "doomed"), ": whatever you do from here, bad luck can still take you into "
          + "the water"),
        notice, app.board.element,
      ),
      near,
      make("div", { class: "pg-steps" },
        make("div", { class: "pg-row" }, stepper.element, grow), steps),
      make("div", { class: "pg-verdict" }, title, text),
      panel, under,
    ),
    spoken,
    ...(linked || !root.dataset.page ? [] : [make("p", { class: "pg-more" }, large)]),
  );

  const [first] = Object.keys(worlds);
  const asked = linked ? location.hash.slice(1) : "";
  const { wrong, found } = asked.startsWith("map=")
    ? world_.fromLink(asked)
    : { wrong: "", found: worlds[first] };
  change(wrong ? worlds[first] : found);
  look(start());
  choose(tools[0]);
  kept = world_.toLink(app.world);
  large.href = address();
  if (wrong) {
    const instead = worlds[first].name.toLowerCase();
    say(`The link holds no world that can be shown, so this is ${instead}. ${wrong}`);
  }
  if (linked) {
    addEventListener("hashchange", () => {
      const link = location.hash.slice(1);
      if (!link) {
        change(worlds[first]);
        settle();
      } else if (link.startsWith("map=") && link !== kept) {
        const { wrong: why, found: other } = world_.fromLink(link);
        if (why) {
          say(`The link holds no world that can be shown. ${why}`);
        } else {
          change(other);
          settle();
        }
      }
    });
  }
  return app;
};

document.addEventListener("DOMContentLoaded", () => {
  for (const root of document.querySelectorAll(".playground")) {
    playground.start(root);
  }
});
