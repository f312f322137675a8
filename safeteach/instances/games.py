r"""Games to play: a rival who pushes, two bridges and a guard, a quay in the wind, random ones.

**Pursuit.**  Agent and rival stand on a deck, drawn as text:

=======  ===========================================================
``.``    deck
``$``    treasure: pays 1 for every step that begins with the agent on it
``X``    water: unsafe
``#``    a post: nobody stands there
``A R``  where agent and rival start, deck
=======  ===========================================================

Each chooses to stay or to go up, down, left or right, at the same time.  The agent moves first; a
move off the map, into a post or into the rival stays put.  Then the rival moves.  It stays out of
the water, and where it steps onto the agent it pushes the agent one cell further, into the water
if that is what is there; against a post or the rail around the map it cannot push.  Whoever is in
the water is hauled out: at the next step both stand where they started.

Taught in the chapters *Safe zero-sum games* and *Learning to play safely*.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits, flag, read_seed, whole_array
from safeteach.instances.maps import check_text, read_rows
from safeteach.instances.random import TAU, check_sizes, random_costs, random_rows
from safeteach.worlds.games import SafeGame

__all__ = ["PursuitGame", "penny_bridge", "pursuit", "quay", "random_game"]

MOVES = {"stay": (0, 0), "up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
Cell = tuple[int, int]


class PursuitGame(SafeGame):
    """A pursuit that remembers its map, so that it can be drawn.

    Attributes
    ----------
    map : tuple of str
        The rows of the map.
    positions : (S - 1, 2, 2) int array
        Row and column of the agent and of the rival in each state but the last, the water.

    Notes
    -----
    :func:`pursuit` makes one.  The constructor takes what
    :class:`~safeteach.SafeGame` takes, and both attributes by name.

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.instances.pursuit()
    >>> game.map, game.positions[game.s1]                    # the agent above its rival
    (('.$A.', 'XXR$'), array([[0, 2],
           [1, 2]]))
    """

    map: tuple[str, ...]
    positions: NDArray[np.int64]

    def __init__(self, *args: Any, map: Sequence[str], positions: ArrayLike, **named: Any) -> None:
        self.map = read_rows(map)
        decks = permutations(_deck(_cells(self.map)), 2)
        pairs = np.array(list(decks), np.int64).reshape(-1, 2, 2)
        self.positions = whole_array(positions, "positions", *pairs.shape)
        if (self.positions != pairs).any():
            raise ValueError("positions differ from those on the deck of map; expected all pairs")
        super().__init__(*args, **named)
        if len(pairs) + 1 != self.S:
            raise ValueError(f"map has {len(pairs)} pairs of cells and the water; S is {self.S}")


def pursuit(text: str = ".$A.\nXXR$", H: int = 8) -> PursuitGame:
    """A rival hunts the agent over a deck and pushes it.

    Parameters
    ----------
    text : str
        Rows of equal length in the characters of this module's table, one ``A`` and one ``R``.
    H : int
        Number of steps.

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.instances.pursuit()
    >>> game
    PursuitGame(S=31, A=5, B=5, H=8, tau=0.5, s1=13, 1 unsafe state, stationary)
    >>> round(st.safe_optimal(game).value, 3), round(st.optimal(game).value, 3)
    (2.814, 3.77)
    """
    rows = tuple(check_text(text).split("\n"))
    if len({len(row) for row in rows}) != 1:
        raise ValueError("text has rows of different lengths; expected a map")
    cells = _cells(rows)
    for x in cells.values():
        if x not in ".$X#AR":
            raise ValueError(f"text has {x!r}; expected the characters . $ X # A R of a map")
    for who in "AR":
        if text.count(who) != 1:
            raise ValueError(f"text has {text.count(who)} {who}; expected a map with exactly one")
    n = len(_deck(cells))
    S, water = n * (n - 1) + 1, n * (n - 1)
    check_fits((S, 5, 5, S), np.float64, f"P of a map (text) with {n} cells of deck")
    states: list[tuple[Cell, Cell]] = list(permutations(_deck(cells), 2))
    number = {pair: s for s, pair in enumerate(states)}
    home = {x: cell for cell, x in cells.items()}
    s1 = number[home["A"], home["R"]]
    P, r = np.zeros((S, 5, 5, S)), np.zeros((S, 5, 5))
    for s, (agent, rival) in enumerate(states):
        r[s] = cells[agent] == "$"
        for a, step in enumerate(MOVES.values()):
            for b, push in enumerate(MOVES.values()):
                after = _meet(cells, agent, rival, step, push)
                P[s, a, b, water if after is None else number[after]] = 1.0
    P[water, :, :, s1] = 1.0
    c = np.zeros(S)
    c[water] = 1.0
    names = [f"{_cell(agent)} {_cell(rival)}" for agent, rival in states] + ["water"]
    moves = list(MOVES)
    return PursuitGame(
        P, r, c, 0.5, H, s1, state_names=names, action_names=moves, reply_names=moves,
        map=rows, positions=states,
    )  # fmt: skip


def penny_bridge(H: int = 5) -> SafeGame:
    """Two bridges, a guard who can be at one of them, and a ford.

    ::

        bank ── left, right ──▶ far, unless the guard is at that bridge: then stay on the bank
        bank ── ford ─────────▶ water ──▶ far, whatever the guard does

    The far side pays 1 a step, and so does the water, which is unsafe.  Whoever tells the guard
    its bridge never gets across.

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.instances.penny_bridge()
    >>> st.safe_optimal(game).value, st.optimal(game).value
    (3.0625, 4.0)
    """
    bank, far, water = range(3)
    P = np.zeros((3, 3, 2, 3))
    for a in range(2):
        P[bank, a, a, bank] = 1.0
        P[bank, a, 1 - a, far] = 1.0
    P[bank, 2, :, water] = 1.0
    P[[far, water], :, :, far] = 1.0
    r = np.zeros((3, 3, 2))
    r[[far, water]] = 1.0
    return SafeGame(
        P, r, [0.0, 0.0, 1.0], 0.5, H,
        state_names=["bank", "far", "water"],
        action_names=["left", "right", "ford"],
        reply_names=["guard left", "guard right"],
    )  # fmt: skip


def quay(seaward: bool = False, H: int = 6) -> SafeGame:
    """A walk along a quay in the wind, safe because the wind never blows towards the sea.

    ::

        hut ── 1 ── 2 ── lighthouse        walk: one cell on, wait: stay
        in the wind's hand: calm, headwind (every other walk stays put, at random),
                            and with ``seaward`` a gust that throws a walker into the sea

    The lighthouse pays 1 a step.  Whoever waits holds on to something.  From the sea one is
    hauled out to the hut.

    Parameters
    ----------
    seaward : bool
        Whether the adversary can blow seaward.  If it can, no walk is safe.
    H : int
        Number of steps.

    Examples
    --------
    >>> import safeteach as st
    >>> for game in (st.instances.quay(), st.instances.quay(seaward=True)):
    ...     print(st.safe_actions(game)[0, 0], st.safe_optimal(game).value)
    [ True  True] 0.9375
    [False  True] 0.0
    """
    hut, lighthouse, sea = 0, 3, 4
    B = 3 if flag(seaward, "seaward") else 2
    P = np.zeros((5, 2, B, 5))
    for s in (0, 1, 2, 3):
        P[s, 0, 0, min(s + 1, lighthouse)] = 1.0
        P[s, 0, 1, s] += 0.5
        P[s, 0, 1, min(s + 1, lighthouse)] += 0.5
        P[s, 0, 2:, sea] = 1.0
        P[s, 1, :, s] = 1.0
    P[sea, :, :, hut] = 1.0
    r = np.zeros((5, 2, B))
    r[lighthouse] = 1.0
    return SafeGame(
        P, r, [0.0, 0.0, 0.0, 0.0, 1.0], 0.5, H,
        state_names=["hut", "1", "2", "lighthouse", "sea"],
        action_names=["walk", "wait"],
        reply_names=["calm", "headwind", "seaward"][:B],
    )  # fmt: skip


def random_game(
    S: int,
    A: int,
    B: int,
    H: int,
    seed: int | np.random.Generator,
    successors: int = 2,
    unsafe: float = 0.2,
    stationary: bool = True,
) -> SafeGame:
    """A random safe game, made as :func:`random_mdp` makes an MDP.

    Parameters
    ----------
    S, A, B, H : int
        Numbers of states, of the agent's and the adversary's actions, and of steps.
    seed, successors, unsafe, stationary
        As of :func:`random_mdp`, with triples (s, a, b) in the place of pairs.

    Examples
    --------
    >>> import safeteach as st
    >>> st.instances.random_game(S=6, A=3, B=2, H=4, seed=3)
    SafeGame(S=6, A=3, B=2, H=4, tau=0.5, s1=0, 2 unsafe states, stationary)
    """
    S, A, B, H, successors = check_sizes(
        {"S": S, "A": A, "B": B, "H": H}, successors, unsafe, stationary
    )
    rng = read_seed(seed)
    c = random_costs(rng, S, unsafe)
    steps = 1 if stationary else H
    P = random_rows(rng, steps * S * A * B, S, successors).reshape(steps, S, A, B, S)
    r = rng.random((steps, S, A, B))
    return SafeGame(P[0] if stationary else P, r[0] if stationary else r, c, TAU, H)


def _meet(
    cells: dict[Cell, str], agent: Cell, rival: Cell, step: Cell, push: Cell
) -> tuple[Cell, Cell] | None:
    """Where both are after their moves; None if the agent is in the water."""
    there = _add(agent, step)
    if cells.get(there, "#") == "#" or there == rival:
        there = agent
    if cells[there] == "X":
        return None
    onto = _add(rival, push)
    if cells.get(onto, "#") in "#X":
        onto = rival
    if onto != there:
        return there, onto
    pushed = _add(there, push)
    if cells.get(pushed, "#") == "#":
        return there, rival
    return None if cells[pushed] == "X" else (pushed, onto)


def _cells(rows: Sequence[str]) -> dict[Cell, str]:
    return {(i, j): x for i, row in enumerate(rows) for j, x in enumerate(row)}


def _deck(cells: dict[Cell, str]) -> list[Cell]:
    """Where somebody can stand, row by row."""
    return [cell for cell, x in cells.items() if x not in "X#"]


def _add(cell: Cell, step: Cell) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]


def _cell(cell: Cell) -> str:
    """A cell as on a chessboard: columns are letters, rows are counted from the top."""
    return f"{chr(ord('a') + cell[1])}{cell[0] + 1}"
