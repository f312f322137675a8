"""Worlds to try an answer on, from the smallest to larger, and what to say about them.

They differ in size, in threshold and in where they begin.  The hand-made ones come first: one
state, one action, one step; an unsafe initial state; nothing or everything unsafe; a danger of
probability one in a million; transitions that change from step to step.  An answer that is wrong on
a common mistake fails on one of these, and the reader sees a world small enough to work through on
paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from safeteach.instances import GridMDP, grid_from_map, random_mdp
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

__all__ = ["describe_world", "other_costs", "plain", "random_world", "small_worlds", "smaller"]

MOST_LINES = 12  # of transitions in a description
THRESHOLDS = (0.2, 0.35, 0.5, 0.65, 0.8)

Moves = Sequence[Sequence[Sequence[int]]]


def small_worlds() -> Iterator[SafeMDP]:
    """Yield 16 hand-made and 48 random worlds, the same in every run, the smallest first.

    Examples
    --------
    >>> worlds = list(small_worlds())
    >>> len(worlds), worlds[0], worlds[-1]
    (64, SafeMDP(S=1, A=1, H=1, tau=0.7, s1=0, 0 unsafe states, stationary),
     SafeMDP(S=6, A=3, H=5, tau=0.65, s1=5, 3 unsafe states, step-dependent))
    """
    alone: Moves = [[[0]]]
    onwards: Moves = [[[1]], [[1]]]
    choice: Moves = [[[0], [1]], [[1], [1]]]
    back: Moves = [[[1]], [[0]]]
    down: Moves = [[[0]], [[0]], [[1]]]
    up: Moves = [[[1]], [[2]], [[2]]]
    yield _world(alone, unsafe=[], H=1, tau=0.7)
    yield _world(alone, unsafe=[0], H=1, tau=0.3)
    yield _world(alone, unsafe=[], H=2)
    yield _world(onwards, unsafe=[1], H=1)  # the state after the last step carries no cost
    yield _world(onwards, unsafe=[1], H=2)
    yield _world(onwards, unsafe=[0, 1], H=2, tau=0.7)
    yield _world(back, unsafe=[1], H=2)  # an unsafe state that leads back to safety
    yield _world(choice, unsafe=[1], H=2, tau=0.3)
    yield _world([[[0, 1]], [[1]]], unsafe=[1], H=2, odds=1e-6)
    # An action that may go either way is no better than one that surely goes wrong.
    yield _world([[[0], [0, 1]], [[1], [1]]], unsafe=[1], H=3, tau=0.7)
    # At step 1 state 0 escapes to 1, at step 2 it does not.
    yield _world([[[1]], [[1]], [[2]]], unsafe=[2], H=3, then=[[[2]], [[1]], [[2]]])
    # And the other way round: doomed at step 1, free at step 2.
    yield _world([[[2]], [[1]], [[2]]], unsafe=[2], H=3, then=[[[1]], [[1]], [[2]]], tau=0.3)
    # Danger is two steps away, and the agent has two or three to go.
    yield _world(down, unsafe=[0], H=2, s1=2)
    yield _world(down, unsafe=[0], H=3, s1=2, tau=0.7)
    yield _world(up, unsafe=[2], H=2)
    yield grid_from_map("S ~ G \n # X .", H=4, tau=0.3)
    for k in range(60):
        if k % 5:
            yield random_world(k, np.random.default_rng(k))


def random_world(k: int, rng: np.random.Generator) -> SafeMDP:
    """A random world, the larger the larger k = 0 .. 59 is; every other one is stationary.

    Its numbers are short, so that they can be shown as they are.

    Examples
    --------
    >>> random_world(30, np.random.default_rng(0))
    SafeMDP(S=4, A=1, H=4, tau=0.65, s1=1, 3 unsafe states, stationary)
    """
    S, A, H = 2 + k // 12, 1 + k % 3, 2 + k // 15
    world = random_mdp(S, A, H, rng, successors=2, unsafe=0.3, stationary=k % 2 == 0)
    P, r = _tables(world)
    c, tau = other_costs(world.unsafe, rng)
    return SafeMDP(P, rng.integers(5, size=r.shape) / 4, c, tau, H, s1=int(rng.integers(S)))


def other_costs(
    unsafe: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.float64], float]:
    """Random costs (S,) for states of which it is said which are unsafe, and a threshold."""
    tau = float(rng.choice(THRESHOLDS))
    level = rng.random(len(unsafe))
    above = tau + 0.01 + (0.99 - tau) * level
    c: NDArray[np.float64] = np.where(unsafe, above, tau * level)
    return c.round(2), tau


def _world(
    moves: Moves,
    unsafe: Sequence[int],
    H: int,
    then: Moves | None = None,
    s1: int = 0,
    odds: float = 0.5,
    tau: float = 0.5,
) -> SafeMDP:
    """Build a world from its moves: ``moves[s][a]`` lists one or two successors.

    The second successor has probability ``odds``.  From step 2 on the moves are ``then``'s, if
    there is a ``then``.
    """
    S, A = len(moves), len(moves[0])
    steps = [moves] if then is None else [moves, *[then] * (H - 1)]
    P = np.zeros((len(steps), S, A, S))
    for step, table in zip(P, steps, strict=True):
        for s in range(S):
            for a in range(A):
                first, *second = table[s][a]
                step[s, a, first] = 1 - odds * len(second)
                step[s, a, second] = odds
    c = np.full(S, tau)  # at the threshold, and therefore safe
    c[list(unsafe)] = 0.4 if tau < 0.4 else 0.9
    return SafeMDP(P[0] if then is None else P, np.zeros((S, A)), c, tau, H, s1)


def plain(mdp: SafeMDP) -> SafeMDP:
    """Build the same world anew from its arrays, so that it is what its arrays say.

    Examples
    --------
    >>> import safeteach as st
    >>> plain(st.instances.ice_corridor())
    SafeMDP(S=13, A=4, H=10, tau=0.5, s1=6, 1 unsafe state, stationary)
    """
    return SafeMDP(
        *_tables(mdp),
        c=mdp.c,
        tau=mdp.tau,
        H=mdp.H,
        s1=mdp.s1,
        state_names=[mdp.state_name(s) for s in range(mdp.S)],
        action_names=[mdp.action_name(a) for a in range(mdp.A)],
    )


def _tables(mdp: SafeMDP) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P and r, without an axis of steps if P has none."""
    r = mdp.r
    if mdp.stationary:
        return mdp.P[0], r[0] if (r == r[0]).all() else r
    return mdp.P, r


def smaller(mdp: SafeMDP) -> Iterator[SafeMDP]:
    """Yield worlds with one thing less: the rewards, a step, a state, an action or a successor.

    A state that loses its last successor stays put.

    Examples
    --------
    >>> from safeteach.instances import random_mdp
    >>> sizes = {(w.S, w.A, w.H) for w in smaller(random_mdp(S=3, A=2, H=2, seed=0))}
    >>> sorted(sizes)
    [(2, 2, 2), (3, 1, 2), (3, 2, 1), (3, 2, 2)]
    """
    S, A, H = mdp.S, mdp.A, mdp.H
    P, r = mdp.P[:1] if mdp.stationary else mdp.P, mdp.r

    def build(
        P: NDArray[np.float64], r: NDArray[np.float64], c: NDArray[np.float64], s1: int
    ) -> SafeMDP:
        P = P / P.sum(axis=3, keepdims=True)
        return SafeMDP(P[0] if mdp.stationary else P, r, c, mdp.tau, len(r), s1)

    if r.any():
        yield build(P, np.zeros_like(r), mdp.c, mdp.s1)
    if H > 1:
        yield build(P if mdp.stationary else P[:-1], r[:-1], mdp.c, mdp.s1)
        if not mdp.stationary or (r != r[0]).any():
            yield build(P if mdp.stationary else P[1:], r[1:], mdp.c, mdp.s1)
    for t in range(S):
        if t != mdp.s1:
            left = np.arange(S) != t
            less = P[:, left][..., left]
            stuck = less.sum(axis=3) == 0
            less = np.where(stuck[..., None], np.eye(S - 1)[:, None, :], less)
            yield build(less, r[:, left], mdp.c[left], mdp.s1 - (t < mdp.s1))
    for a in range(A if A > 1 else 0):
        left = np.arange(A) != a
        yield build(P[:, :, left], r[:, :, left], mdp.c, mdp.s1)
    several = (P > 0).sum(axis=3) > 1
    for index in np.argwhere((P > 0) & several[..., None]):
        less = P.copy()
        less[tuple(index)] = 0
        yield build(less, r, mdp.c, mdp.s1)


def describe_world(world: SafeMDP | SafeGame) -> str:
    """Say what a world is: its sizes, its unsafe states and, if it is small, its map or moves.

    Examples
    --------
    >>> import safeteach as st
    >>> P = [[[0, 1], [0.75, 0.25]], [[0, 1], [0, 1]]]
    >>> print(describe_world(st.SafeMDP(P, [[0, 0.5], [0, 0]], c=[0, 1], tau=0.5, H=3)))
    2 states, 2 actions, H=3, s1=0, tau=0.5, c=(0, 1), unsafe: 1.
      from 0: action 0 to 1; action 1 (earns 0.5) to 0 (0.75) or 1 (0.25)
      from 1: action 0 to 1; action 1 to 1
    """
    unsafe = ", ".join(world.state_name(int(s)) for s in np.flatnonzero(world.unsafe)) or "none"
    costs = f"c=({', '.join(f'{c:.3g}' for c in world.c)}), " if world.S <= MOST_LINES else ""
    numbers = {"state": world.S, "action": world.A}
    if isinstance(world, SafeGame):
        numbers["reply"] = world.B
    counted = ", ".join(f"{n} {_plural(name, n)}" for name, n in numbers.items())
    sizes = (
        f"{counted}, H={world.H}, s1={world.state_name(world.s1)}, tau={world.tau:g}, {costs}"
        f"unsafe: {unsafe}."
    )
    if isinstance(world, GridMDP):
        return "\n".join([sizes, *(f"  {' '.join(row)}" for row in world.map)])
    same = world.stationary and bool((world.r == world.r[0]).all())
    lines = [
        f"  {'' if same else f'step {h}, '}from {world.state_name(s)}: "
        + "; ".join(_describe_move(world, h, s, *move) for move in np.ndindex(world.r.shape[2:]))
        for h in range(1, 2 if same else world.H + 1)
        for s in range(world.S)
    ]
    return "\n".join([sizes, *(lines if len(lines) <= MOST_LINES else [])])


def _plural(name: str, n: int) -> str:
    return name if n == 1 else name.replace("reply", "replie") + "s"


def _describe_move(world: SafeMDP | SafeGame, h: int, s: int, *move: int) -> str:
    rows, i = world.rows(h), int(np.ravel_multi_index((s, *move), world.r.shape[1:]))
    row = slice(rows.indptr[i], rows.indptr[i + 1])
    odds = rows.probability[row]
    to = [
        world.state_name(int(t)) + ("" if len(odds) == 1 else f" ({p:.6g})")
        for t, p in zip(rows.successors[row], odds, strict=True)
    ]
    earned = world.r[(h - 1, s, *move)]
    words = [f"action {world.action_name(move[0])}"]
    words += [f"reply {world.reply_name(b)}" for b in move[1:] if isinstance(world, SafeGame)]
    earns = f" (earns {earned:.6g})" if earned else ""
    return f"{', '.join(words)}{earns} to {' or '.join(to)}"
