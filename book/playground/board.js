"use strict";

// A map as a grid of cells with marks, and arrows and walkers above it.
globalThis.playground ??= {};

playground.board = (() => {
  const { make, draw } = playground.dom;

  // `label` is its name. A board whose cells can be used calls `pressed(i, j, how)`, where how is
  // "begin", "go on" or "end" of a stroke; one without is a picture.
  function create(label, pressed) {
    const over = draw("svg", { class: "pg-over", "aria-hidden": "true" });
    const cells = make("div", { class: "pg-cells" });
    const element = make("div", { class: "pg-board" }, cells, over);
    let size = "";
    let grid = []; // of {cell, mark, said}
    let at = [0, 0]; // where the keyboard is

    cells.setAttribute("role", pressed ? "grid" : "img");
    cells.setAttribute("aria-label", label);

    function build(rows) {
      size = `${rows.length} ${rows[0].length}`;
      element.style.setProperty("--rows", rows.length);
      element.style.setProperty("--columns", rows[0].length);
      over.setAttribute("viewBox", `0 0 ${rows[0].length} ${rows.length}`);
      grid = rows.map((row, i) => [...row].map((_, j) => {
        const mark = make("span", { class: "pg-mark" });
        const cell = pressed
          ? make("div", { role: "gridcell", tabindex: -1 }, mark)
          : make("span", {}, mark);
        cell.classList.add("pg-cell");
        cell.dataset.at = `${i} ${j}`;
        return { cell, mark, said: "" };
      }));
      cells.replaceChildren(...grid.map((row) => (
        make("div", pressed ? { role: "row" } : {}, ...row.map(({ cell }) => cell))
      )));
      if (pressed) {
        reach(Math.min(at[0], rows.length - 1), Math.min(at[1], rows[0].length - 1));
      }
    }

    function reach(i, j) {
      grid[at[0]]?.[at[1]]?.cell.setAttribute("tabindex", -1);
      at = [i, j];
      grid[i][j].cell.setAttribute("tabindex", 0);
    }

    // Show a map. `look(i, j)` says what stands in a cell: its mark ("", "doomed", "unsafe"), how
    // often it was visited (0 to 1), and its words.
    function show(rows, look) {
      if (size !== `${rows.length} ${rows[0].length}`) {
        build(rows);
      }
      rows.forEach((row, i) => [...row].forEach((kind, j) => {
        const shown = grid[i][j];
        const { mark, visits = 0, words } = look(i, j);
        const now = `${kind} ${mark} ${visits} ${words}`;
        if (now === shown.said) {
          return;
        }
        shown.said = now;
        shown.cell.dataset.kind = playground.world.KINDS[kind];
        shown.mark.dataset.mark = mark;
        shown.mark.textContent = "SG".includes(kind) ? kind : "";
        shown.cell.style.setProperty("--visits", visits);
        if (pressed) {
          shown.cell.setAttribute("aria-label", words);
        }
      }));
    }

    // Arrows from cell to cell, each {from, to, kind}, and walkers, each {at, kind, letter}.
    function overlay({ arrows = [], walkers = [] } = {}) {
      over.replaceChildren(...arrows.map(arrow), ...walkers.map(walker));
    }

    if (pressed) {
      let stroke = false;
      let waiting; // where a finger has come down: it may be about to scroll
      const found = (event) => {
        const below = document.elementFromPoint(event.clientX, event.clientY);
        const cell = below?.closest(".pg-cell");
        return cell && cells.contains(cell) ? cell.dataset.at.split(" ").map(Number) : null;
      };
      const begin = (place) => {
        stroke = true;
        reach(...place);
        pressed(...place, "begin");
      };
      const end = () => {
        if (stroke) {
          stroke = false;
          pressed(...at, "end");
        }
        waiting = null;
      };
      cells.addEventListener("pointerdown", (event) => {
        const place = found(event);
        if (!place || event.button || !event.isPrimary) {
          return;
        }
        event.target.releasePointerCapture?.(event.pointerId);
        if (event.pointerType === "touch") {
          waiting = place;
        } else {
          begin(place);
        }
      });
      cells.addEventListener("pointermove", (event) => {
        if (stroke && event.pointerType === "mouse" && !event.buttons) {
          end(); // it was let go elsewhere
        }
        const place = found(event);
        if (!place) {
          return;
        }
        if (waiting && place.join() !== waiting.join()) {
          begin(waiting);
          waiting = null;
        }
        if (stroke) {
          for (const next of between(at, place)) {
            reach(...next);
            pressed(...next, "go on");
          }
        }
      });
      cells.addEventListener("pointerup", () => {
        if (waiting) {
          begin(waiting);
        }
        end();
      });
      addEventListener("pointerup", end);
      addEventListener("pointercancel", end);
      cells.addEventListener("keydown", (event) => {
        const move = {
          ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
        }[event.key];
        if (event.defaultPrevented || playground.dom.modified(event)) {
          return;
        }
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          begin(at);
          end();
        }
        if (move) {
          event.preventDefault();
          const [i, j] = [at[0] + move[0], at[1] + move[1]];
          if (grid[i]?.[j]) {
            reach(i, j);
            grid[i][j].cell.focus();
          }
        }
      });
      // A screen reader presses without a pointer.
      cells.addEventListener("click", (event) => {
        const cell = event.target.closest(".pg-cell");
        if (cell && event.detail === 0) {
          begin(cell.dataset.at.split(" ").map(Number));
          end();
        }
      });
    }
    return {
      element, overlay, show,
      focus: () => grid[at[0]][at[1]].cell.focus(),
      name: (words) => cells.setAttribute("aria-label", words),
    };
  }

  // The cells on the way from one to another: a fast pointer leaves some out.
  function between([i, j], [k, l]) {
    const n = Math.max(Math.abs(k - i), Math.abs(l - j));
    return Array.from({ length: n }, (_, m) => [
      Math.round(i + ((k - i) * (m + 1)) / n), Math.round(j + ((l - j) * (m + 1)) / n),
    ]);
  }

  function arrow({ from: [i, j], to: [k, l], kind = "" }) {
    const [x, y, dx, dy] = [j + 0.5, i + 0.5, l - j, k - i];
    if (!dx && !dy) { // it stays where it is
      return draw("path", {
        class: `pg-arrow ${kind}`, d: `M${x - 0.12} ${y - 0.3} a.17 .17 0 1 1 .24 0`,
      });
    }
    const [ex, ey] = [x + 0.72 * dx, y + 0.72 * dy];
    const head = `M${ex - 0.16 * dx - 0.13 * dy} ${ey - 0.16 * dy - 0.13 * dx} L${ex} ${ey} `
      + `L${ex - 0.16 * dx + 0.13 * dy} ${ey - 0.16 * dy + 0.13 * dx}`;
    return draw("path", {
      class: `pg-arrow ${kind}`, d: `M${x + 0.28 * dx} ${y + 0.28 * dy} L${ex} ${ey} ${head}`,
    });
  }

  function walker({ at: [i, j], kind = "you", letter = "", nth = 0, of = 1 }) {
    const x = j + 0.5 + (of > 1 ? 0.26 * (nth - (of - 1) / 2) : 0);
    return draw(
      "g",
      { class: `pg-walker ${kind}`, style: `transform: translate(${x}px, ${i + 0.5}px)` },
      draw("circle", { r: of > 1 ? 0.15 : 0.24 }),
      draw("text", { "text-anchor": "middle", dy: "0.08", "font-size": 0.22 }, letter),
    );
  }

  return { create };
})();
