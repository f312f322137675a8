"use strict";

// Two curves that grow, and a dotted line to hold them against.
globalThis.playground ??= {};

playground.curves = (() => {
  const { count, make, draw } = playground.dom;
  const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [360, 190, 54, 30, 12];
  const POINTS = 240;

  // `reference` says what the dotted line is.
  function create(label, names, reference) {
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    const legend = make("p", { class: "pg-legend" }, ...[...names, reference].map((text, i) => (
      make("span", { class: `pg-key pg-curve-${i}` }, text)
    )));
    const element = make("figure", { class: "pg-curves" }, make("figcaption", {}, label), svg, legend);

    // `lines` are arrays of one length, `slope` is that of the dotted line.
    function show(lines, slope) {
      const n = lines[0].length;
      const most = Math.max(1, slope * n, ...lines.map((line) => line[n - 1] ?? 0));
      const x = (k) => LEFT + ((WIDTH - LEFT - 8) * k) / Math.max(n, 1);
      const y = (v) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * v) / most;
      const path = (value) => {
        const every = Math.max(1, Math.ceil(n / POINTS));
        const at = [];
        for (let k = 0; k < n; k += every) {
          at.push(k);
        }
        return `M${x(0)} ${y(0)}` + [...at, n - 1].filter((k) => k >= 0).map((k) => (
          `L${x(k + 1).toFixed(1)} ${y(value(k)).toFixed(1)}`
        )).join("");
      };
      const text = (words, at, anchor) => (
        draw("text", { x: at[0], y: at[1], "text-anchor": anchor }, words)
      );
      const short = (v) => (v >= 10 ? Math.round(v).toLocaleString("en") : v.toFixed(1));
      svg.replaceChildren(
        draw("path", { class: "pg-axis", d: `M${LEFT} ${TOP}V${y(0)}H${WIDTH - 8}` }),
        text("0", [LEFT - 5, y(0) + 4], "end"),
        text(short(most), [LEFT - 5, TOP + 8], "end"),
        text("0", [LEFT, HEIGHT - 12], "middle"),
        text(count(n, "episode"), [WIDTH - 8, HEIGHT - 12], "end"),
        draw("path", { class: "pg-line pg-curve-2", d: path((k) => slope * (k + 1)) }),
        ...lines.map((line, i) => (
          draw("path", { class: `pg-line pg-curve-${i}`, d: path((k) => line[k]) })
        )),
      );
      const said = lines.map((line, i) => `${names[i]} ${short(line[n - 1] ?? 0)}`).join(", ");
      svg.setAttribute("aria-label", `${label} after ${count(n, "episode")}: ${said}.`);
    }
    return { element, show };
  }

  return { create };
})();
