"use strict";

// The tool *Share*: the world as Python and as a link.
globalThis.playground ??= {};

playground.tools ??= {};

playground.tools.share = (app) => {
  const { make, copied, name } = playground.dom;
  const code = make("pre", { class: "pg-code", tabindex: 0, "aria-label": "Python" });
  const id = name();
  const link = make("input", { id, class: "pg-link", readonly: true, onfocus: () => link.select() });

  return {
    title: "Share",
    hint: "Take this world along: as a link to this page, or as Python for the library.",
    element: make(
      "div", {},
      make("p", { class: "pg-name" }, make("label", { for: id }, "As a link")), link,
      make("div", { class: "pg-row" }, ...copied(() => link.value)),
      make("p", { class: "pg-name" }, "In Python, with the library safeteach"), code,
      make("div", { class: "pg-row" }, ...copied(() => code.textContent)),
    ),
    press() {},
    update() {
      code.textContent = playground.world.python(app.world);
      link.value = app.address();
      app.board.overlay({ arrows: app.verdict.way });
    },
  };
};
