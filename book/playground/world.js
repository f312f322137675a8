"use strict";

// A world on a grid, with the states, moves and chances that safeteach gives the same map
// (safeteach/instances/grids.py), bit for bit. This file knows nothing of drawing.
globalThis.playground ??= {};

playground.world = (() => {
  const KINDS = {
    S: "start", G: "goal", ".": "ground", "~": "ice", X: "water", "#": "wall",
  };
  const MOVES = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] };
  const ACTIONS = Object.keys(MOVES);
  const LIMITS = { side: [1, 12], H: [1, 60], slip: [0.01, 1], tau: [0, 0.99] };

  // What is wrong with a world, in a sentence; nothing if it is one.
  function fault({ rows, H, slip, tau }) {
    const [least, most] = LIMITS.side;
    if (!Array.isArray(rows) || rows.length < least || rows.length > most) {
      return `A map has ${least} to ${most} rows.`;
    }
    for (const row of rows) {
      if (typeof row !== "string" || row.length < least || row.length > most) {
        return `A row of a map has ${least} to ${most} cells.`;
      }
      if (row.length !== rows[0].length) {
        return "The rows of a map have the same length.";
      }
      if ([...row].some((kind) => !(kind in KINDS))) {
        return `A cell of a map is one of ${Object.keys(KINDS).join(" ")}`;
      }
    }
    const starts = [...rows.join("")].filter((kind) => kind === "S").length;
    if (starts !== 1) {
      return starts ? "A map has one start only." : "A map needs a start, S.";
    }
    if (!Number.isInteger(H) || !within(H, LIMITS.H)) {
      return `The number of steps, H, is a whole number from ${LIMITS.H.join(" to ")}.`;
    }
    if (!within(slip, LIMITS.slip)) {
      return `The chance of a slip is a number from ${LIMITS.slip.join(" to ")}.`;
    }
    if (!within(tau, LIMITS.tau)) {
      return `The threshold τ is a number from ${LIMITS.tau.join(" to ")}.`;
    }
    return "";
  }

  function within(x, [least, most]) {
    return typeof x === "number" && least <= x && x <= most;
  }

  // The world of a map: states are the cells that are no walls, row by row. The successors of
  // action a in state s, with their chances, stand from first[4 * s + a] to first[4 * s + a + 1].
  function make({ rows, H, slip, tau }) {
    const wrong = fault({ rows, H, slip, tau });
    if (wrong) {
      throw new RangeError(wrong);
    }
    const cells = [];
    const states = rows.map((row, i) => [...row].map((kind, j) => (
      kind === "#" ? -1 : cells.push([i, j]) - 1
    )));
    const kinds = cells.map(([i, j]) => rows[i][j]);
    const S = cells.length;
    const A = ACTIONS.length;
    const first = new Int32Array(S * A + 1);
    const successors = [];
    const chances = [];
    const meant = new Int32Array(S * A);
    for (let s = 0; s < S; s += 1) {
      const [i, j] = cells[s];
      const ends = Object.values(MOVES).map(([down, right]) => {
        const end = states[i + down]?.[j + right] ?? -1;
        return kinds[s] === "G" || end < 0 ? s : end;
      });
      for (let a = 0; a < A; a += 1) {
        const chance = new Map([[ends[a], kinds[s] === "~" ? 1 - slip : 1]]);
        if (kinds[s] === "~") {
          for (const end of ends) {
            chance.set(end, (chance.get(end) ?? 0) + slip / A);
          }
        }
        for (const end of [...chance.keys()].sort((x, y) => x - y)) {
          successors.push(end);
          chances.push(chance.get(end));
        }
        meant[s * A + a] = ends[a];
        first[s * A + a + 1] = successors.length;
      }
    }
    return {
      rows, H, slip, tau, S, A, cells, states, kinds, first, meant,
      successors: Int32Array.from(successors),
      chances: Float64Array.from(chances),
      r: Float64Array.from(kinds, (kind) => (kind === "G" ? 1 : 0)),
      c: Float64Array.from(kinds, (kind) => (kind === "X" ? 1 : 0)),
      unsafe: Uint8Array.from(kinds, (kind) => (kind === "X" ? 1 : 0)),
      s1: kinds.indexOf("S"),
    };
  }

  // The rows with one cell of another kind. There is always one start: a new one moves it, and
  // nothing else takes its place.
  function painted(rows, i, j, kind) {
    if (rows[i][j] === kind || rows[i][j] === "S") {
      return rows;
    }
    const to = (row, at, what) => row.slice(0, at) + what + row.slice(at + 1);
    return rows.map((row, at) => {
      const kept = kind === "S" ? row.replace("S", ".") : row;
      return at === i ? to(kept, j, kind) : kept;
    });
  }

  // The map with more or fewer rows and columns, at the bottom and on the right.
  function resized(rows, height, width) {
    const grown = Array.from({ length: height }, (_, i) => (
      (rows[i] ?? "").slice(0, width).padEnd(width, ".")
    ));
    return grown.join("").includes("S") ? grown : ["S" + grown[0].slice(1), ...grown.slice(1)];
  }

  // The call that makes the same world in Python.
  function python({ rows, H, slip, tau }) {
    const map = rows.map((row) => `    ${[...row].join(" ")}`).join("\n");
    return `import safeteach as st\n\nworld = st.instances.grid_from_map(\n    """\n${map}\n`
      + `    """,\n    H=${H},\n    slip=${slip},\n    tau=${tau},\n)\n`;
  }

  // The world as the part of an address after the #, and back. A wall is written W there.
  function toLink({ rows, H, slip, tau }) {
    return `map=${rows.join(",").replaceAll("#", "W")}&H=${H}&slip=${slip}&tau=${tau}`;
  }

  // Nothing of what a link says is believed: it gives a world or the sentence that says why not.
  function fromLink(link) {
    const said = new Map(plain(link).split("&").map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at), part.slice(at + 1)];
    }));
    const number = (name) => (
      /^\d{1,2}(\.\d{1,6})?$/.test(said.get(name) ?? "") ? Number(said.get(name)) : NaN
    );
    const rows = (said.get("map") ?? "").split(",");
    const found = {
      rows: rows.map((row) => row.replaceAll("W", "#")),
      H: number("H"),
      slip: number("slip"),
      tau: number("tau"),
    };
    return { wrong: fault(found), found };
  }

  // What mail and chats have escaped.
  function plain(link) {
    try {
      return decodeURIComponent(link);
    } catch {
      return link;
    }
  }

  return {
    ACTIONS, KINDS, LIMITS, MOVES,
    fault, fromLink, make, painted, python, resized, toLink,
  };
})();
