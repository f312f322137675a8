"""Worlds to try an answer on, from the smallest to larger, and what to say about them.

The hand-made ones come first: one state, one action, one step; an unsafe initial state; nothing
or everything unsafe; a danger of probability one in a million; transitions that change from step
to step.  An answer that is wrong on a common mistake fails on one of these, and the reader sees a
world small enough to work through on paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from safeteach.instances import GridMDP, grid_from_map, random_mdp
from safeteach.worlds.mdp import SafeMDP

__all__ = ["describe_world", "plain", "small_worlds", "smaller"]

RANDOM_WORLDS = 60
MOST_LINES = 12  # of transitions in a description

Moves = Sequence[Sequence[Sequence[int]]]


def small_worlds() -> Iterator[SafeMDP]:
    """Yield 16 hand-made and 60 random worlds, the same in every run, the smallest first.

    Examples
    --------
    >>> worlds = list(small_worlds())
    >>> len(worlds), worlds[0], worlds[-1]
    (76, SafeMDP(S=1, A=1, H=1, tau=0.5, s1=0, 0 unsafe states, stationary),
     SafeMDP(S=6, A=3, H=5, tau=0.5, s1=0, 3 unsafe states, step-dependent))
    """
    alone: Moves = [[[0]]]
    onwards: Moves = [[[1]], [[1]]]
    choice: Moves = [[[0], [1]], [[1], [1]]]
    back: Moves = [[[1]], [[0]]]
    down: Moves = [[[0]], [[0]], [[1]]]
    up: Moves = [[[1]], [[2]], [[2]]]
    yield _world(alone, unsafe=[], H=1)
    yield _world(alone, unsafe=[0], H=1)
    yield _world(alone, unsafe=[], H=2)
    yield _world(onwards, unsafe=[1], H=1)  # the state after the last step carries no cost
    yield _world(onwards, unsafe=[1], H=2)
    yield _world(onwards, unsafe=[0, 1], H=2)
    yield _world(back, unsafe=[1], H=2)  # an unsafe state that leads back to safety
    yield _world(choice, unsafe=[1], H=2)
    yield _world([[[0, 1]], [[1]]], unsafe=[1], H=2, odds=1e-6)
    # An action that may go either way is no better than one that surely goes wrong.
    yield _world([[[0], [0, 1]], [[1], [1]]], unsafe=[1], H=3)
    # At step 1 state 0 escapes to 1, at step 2 it does not.
    yield _world([[[1]], [[1]], [[2]]], unsafe=[2], H=3, then=[[[2]], [[1]], [[2]]])
    # And the other way round: doomed at step 1, free at step 2.
    yield _world([[[2]], [[1]], [[2]]], unsafe=[2], H=3, then=[[[1]], [[1]], [[2]]])
    # Danger is two steps away, and the agent has two or three to go.
    yield _world(down, unsafe=[0], H=2, s1=2)
    yield _world(down, unsafe=[0], H=3, s1=2)
    yield _world(up, unsafe=[2], H=2)
    yield grid_from_map("S ~ G \n # X .", H=4)
    for k in range(RANDOM_WORLDS):
        S = 2 + k // 12
        yield random_mdp(
            S,
            A=1 + k % 3,
            H=2 + k // 15,
            seed=k,
            successors=2,
            unsafe=0.3,
            stationary=k % 2 == 0,
        )


def _world(
    moves: Moves,
    unsafe: Sequence[int],
    H: int,
    then: Moves | None = None,
    s1: int = 0,
    odds: float = 0.5,
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
    c = np.full(S, 0.5)  # at the threshold, and therefore safe
    c[list(unsafe)] = 0.9
    return SafeMDP(P[0] if then is None else P, np.zeros((S, A)), c, tau=0.5, H=H, s1=s1)


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
    """Yield worlds with one thing less: a step, a state, an action or a successor.

    Rewards are left out; a state that loses its last successor stays put.

    Examples
    --------
    >>> from safeteach.instances import random_mdp
    >>> sizes = {(w.S, w.A, w.H) for w in smaller(random_mdp(S=3, A=2, H=2, seed=0))}
    >>> sorted(sizes)
    [(2, 2, 2), (3, 1, 2), (3, 2, 1), (3, 2, 2)]
    """
    S, A, H = mdp.S, mdp.A, mdp.H
    P = mdp.P[:1] if mdp.stationary else mdp.P

    def build(P: NDArray[np.float64], c: NDArray[np.float64], H: int, s1: int) -> SafeMDP:
        P = P / P.sum(axis=3, keepdims=True)
        r = np.zeros(P.shape[1:3])
        return SafeMDP(P[0] if mdp.stationary else P, r, c, mdp.tau, H, s1)

    if H > 1:
        yield build(P if mdp.stationary else P[:-1], mdp.c, H - 1, mdp.s1)
        if not mdp.stationary:
            yield build(P[1:], mdp.c, H - 1, mdp.s1)
    for t in range(S):
        if t != mdp.s1:
            left = np.arange(S) != t
            less = P[:, left][..., left]
            stuck = less.sum(axis=3) == 0
            less = np.where(stuck[..., None], np.eye(S - 1)[:, None, :], less)
            yield build(less, mdp.c[left], H, mdp.s1 - (t < mdp.s1))
    for a in range(A if A > 1 else 0):
        yield build(P[:, :, np.arange(A) != a], mdp.c, H, mdp.s1)
    several = (P > 0).sum(axis=3) > 1
    for index in np.argwhere((P > 0) & several[..., None]):
        less = P.copy()
        less[tuple(index)] = 0
        yield build(less, mdp.c, H, mdp.s1)


def describe_world(mdp: SafeMDP) -> str:
    """Say what a world is: its sizes, its unsafe states and, if it is small, its map or moves.

    Examples
    --------
    >>> import safeteach as st
    >>> P = [[[0, 1], [0.75, 0.25]], [[0, 1], [0, 1]]]
    >>> print(describe_world(st.SafeMDP(P, [[0, 0], [0, 0]], c=[0, 1], tau=0.5, H=3)))
    2 states, 2 actions, H=3, s1=0, tau=0.5, c=(0, 1), unsafe: 1.
      from 0: action 0 to 1; action 1 to 0 (0.75) or 1 (0.25)
      from 1: action 0 to 1; action 1 to 1
    """
    unsafe = ", ".join(mdp.state_name(int(s)) for s in np.flatnonzero(mdp.unsafe)) or "none"
    costs = f"c=({', '.join(f'{c:.3g}' for c in mdp.c)}), " if mdp.S <= MOST_LINES else ""
    sizes = (
        f"{mdp.S} state{'s' * (mdp.S > 1)}, {mdp.A} action{'s' * (mdp.A > 1)}, H={mdp.H}, "
        f"s1={mdp.state_name(mdp.s1)}, tau={mdp.tau:g}, {costs}unsafe: {unsafe}."
    )
    if isinstance(mdp, GridMDP):
        return "\n".join([sizes, *(f"  {' '.join(row)}" for row in mdp.map)])
    steps = [1] if mdp.stationary else range(1, mdp.H + 1)
    lines = [
        f"  {'' if mdp.stationary else f'step {h}, '}from {mdp.state_name(s)}: "
        + "; ".join(_describe_move(mdp, h, s, a) for a in range(mdp.A))
        for h in steps
        for s in range(mdp.S)
    ]
    return "\n".join([sizes, *(lines if len(lines) <= MOST_LINES else [])])


def _describe_move(mdp: SafeMDP, h: int, s: int, a: int) -> str:
    rows, i = mdp.rows(h), s * mdp.A + a
    odds = rows.probability[rows.indptr[i] : rows.indptr[i + 1]]
    to = [
        mdp.state_name(int(t)) + ("" if len(odds) == 1 else f" ({p:.6g})")
        for t, p in zip(mdp.successors(h, s, a), odds, strict=True)
    ]
    return f"action {mdp.action_name(a)} to {' or '.join(to)}"
