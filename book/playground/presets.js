"use strict";

// Worlds to begin with.
globalThis.playground ??= {};

playground.presets = {
  pond: {
    name: "The pond",
    rows: [".....", ".~~~.", "S~X~G", ".~X~.", "....."],
    H: 12, slip: 0.2, tau: 0.5,
  },
  corridor: {
    name: "The corridor",
    rows: ["......", "S~~~.G", "###X##"],
    H: 10, slip: 0.2, tau: 0.5,
  },
  frozenLake: {
    name: "FrozenLake's map",
    rows: ["S~~~", "~X~X", "~~~X", "X~~G"],
    H: 30, slip: 0.6, tau: 0.5,
  },
  island: {
    name: "No safe way",
    rows: ["X~~~X", "~~~~~", "~~S~G", "~~~~~", "X~~~X"],
    H: 12, slip: 0.2, tau: 0.5,
  },
  bay: {
    name: "One step ahead is not enough",
    rows: [".......", ".~~~~~.", "S~~~~~G", "##~X~##", "##~~~##"],
    H: 16, slip: 0.2, tau: 0.5,
  },
};
