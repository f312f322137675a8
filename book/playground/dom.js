"use strict";

// Making elements, and the few words that several parts share.
globalThis.playground ??= {};

playground.dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  let made = 0;

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) {
        element.addEventListener(name.slice(2), value);
      } else if (value !== false) {
        element.setAttribute(name, value === true ? "" : value);
      }
    }
    element.append(...children);
    return element;
  }

  const make = (tag, attributes = {}, ...children) => (
    fill(document.createElement(tag), attributes, children)
  );
  const draw = (tag, attributes = {}, ...children) => (
    fill(document.createElementNS(SVG, tag), attributes, children)
  );
  const button = (text, onclick, attributes = {}) => (
    make("button", { type: "button", class: "pg-button", onclick, ...attributes }, text)
  );
  const name = () => `pg-${made += 1}`; // an id that nothing else on the page has

  // A slider with its label and what it stands at. `said` puts a value into words.
  function slider(label, { min, max, step = 1, value, said = String }, changed, settled) {
    const output = make("output", { "aria-live": "off" });
    const input = make("input", {
      type: "range", min, max, step, value, autocomplete: "off",
      oninput: () => {
        tell();
        changed(Number(input.value));
      },
      onchange: () => settled?.(),
    });
    // A world from a link may lie between the stops.
    function tell(x = Number(input.value)) {
      output.textContent = said(x);
      input.setAttribute("aria-valuetext", output.textContent);
    }
    tell();
    return {
      element: make("div", { class: "pg-slider" }, make("label", {}, `${label} `, input), output),
      set(to, bounds = {}) {
        Object.assign(input, bounds);
        input.value = to;
        tell(to);
      },
    };
  }

  // A menu of named options.
  function menu(label, options, chosen, changed) {
    const select = make(
      "select",
      { autocomplete: "off", onchange: () => changed(select.value) },
      ...Object.entries(options).map(([value, text]) => (
        make("option", { value, selected: value === chosen, disabled: value === "" }, text)
      )),
    );
    return {
      element: make("div", { class: "pg-menu" }, make("label", {}, `${label} `, select)),
      select,
    };
  }

  // Call `frame` again and again until it says false or somebody stops it; `moving` says so.
  function player(frame, pause, moving = () => {}) {
    let timer = 0;
    function stop() {
      clearTimeout(timer);
      if (timer) {
        timer = 0;
        moving(false);
      }
    }
    function go() {
      if (frame() === false) {
        stop();
      } else {
        timer = setTimeout(go, pause());
      }
    }
    return {
      start() {
        stop();
        moving(true);
        timer = setTimeout(go, 0);
      },
      stop,
      get playing() {
        return timer !== 0;
      },
    };
  }

  // A text that can be taken along with one press.
  function copied(text) {
    const said = make("span", { role: "status", class: "pg-quiet" });
    return [button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(text());
        said.textContent = "Copied.";
      } catch {
        said.textContent = "This browser does not let the page copy: mark the text and copy it.";
      }
    }), said];
  }

  const modified = (event) => event.altKey || event.ctrlKey || event.metaKey;
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const place = ([i, j]) => `row ${i + 1}, column ${j + 1}`;
  const percent = (x) => {
    if (x === 0 || x === 1) {
      return `${100 * x}%`;
    }
    return x < 0.0005 ? "less than 0.1%" : `${(100 * x).toFixed(1)}%`;
  };
  const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

  return {
    button, copied, count, draw, make, menu, modified, name, percent, place, player, slider, still,
  };
})();
