r"""Which states are doomed, which actions are safe, and why.

Write :math:`\Delta_h(s, a)` for the states that can follow (s, a) at step h and U for the
unsafe states.  Safety looks backwards from the last step:

.. math::

   U_H = U, \qquad
   U_h = U \cup \{ s : \Delta_h(s, a) \cap U_{h+1} \neq \emptyset \text{ for all } a \}.

A state of :math:`U_h` is *potentially unsafe* at step h: whatever the agent does from there, it
is unsafe now or later with positive probability.  An action is *safe* at (h, s) when none of
its successors is potentially unsafe,

.. math::

   A_h^{safe}(s) = \{ a : \Delta_h(s, a) \cap U_{h+1} = \emptyset \}, \qquad A_H^{safe}(s) = A,

and a feasible policy exists if and only if :math:`s_1 \notin U_1` (Assumption 4.1).

The paper prints the recursion with :math:`U_{h+1}` in the place of the first U.  For stationary
P the two agree.  For step-dependent P the printed one also flags states that are safe, because
it carries a danger of step h + 1 back to step h, where the way out may still be open.

In a game the adversary moves too, and "can follow" means: for some move of its own.  An action
is safe when it is safe against every reply, and a state is doomed when the adversary has an
answer to every action.  Nothing else changes (Appendix C of the paper).

If P is the same at every step, the sets only grow towards the first step, and one number a state
says all: the last step at which it is doomed, :func:`doomed_until`.

Everything here depends on P only through its support: no probability is ever added up.
Taught in the chapters *Danger ahead* and *Safe zero-sum games*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits, one_of
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.rows import ranges
from safeteach.worlds.world import check_world

__all__ = [
    "InfeasibleError",
    "Witness",
    "allowed_actions",
    "doomed_until",
    "is_feasible",
    "potentially_unsafe",
    "safe_actions",
    "witness",
]

Recursion = Literal["exact", "paper"]
SMALLER = "doomed_until says the same of a stationary world in one number a state"


def doomed_until(world: SafeMDP | SafeGame) -> NDArray[np.int64]:
    """The last step at which each state is potentially unsafe, in a stationary world.

    From the first step to that one it is, and later it is not: the sets U_1 ⊇ .. ⊇ U_H in one
    number a state.  Each transition is looked at once, whatever H is.

    Parameters
    ----------
    world : SafeMDP or SafeGame
        With one P for all steps.

    Returns
    -------
    (S,) int array
        H for an unsafe state, 0 for a state that is never doomed.

    Raises
    ------
    ValueError
        If P depends on the step: the sets are not nested then.

    Examples
    --------
    >>> import numpy as np
    >>> import safeteach as st
    >>> P = np.eye(4)[[[1], [2], [3], [3]]]       # three steps to the hole, and no way back
    >>> mdp = st.SafeMDP(P, np.zeros((4, 1)), c=[0, 0, 0, 1], tau=0.5, H=3)
    >>> st.doomed_until(mdp)                      # from state 0 it is met after the last step
    array([0, 1, 2, 3])
    """
    check_world(world, "world")
    if not world.stationary:
        raise ValueError(
            f"world is {world!r}; expected one whose P is the same at every step "
            f"(potentially_unsafe takes any)"
        )
    if world.rows(1).pay_for_numba():
        from safeteach.worlds.arrows import walk_back  # compiled: loaded when first needed

        rows, pairs = world.rows(1), world.S * world.A
        back = np.empty(len(rows.successors), np.uint32 if pairs < 2**32 else np.int64)
        return walk_back(rows.indptr, rows.successors, world.unsafe, world.H, world.A, back)
    return _level_by_level(world)


def potentially_unsafe(
    mdp: SafeMDP | SafeGame, recursion: Recursion = "exact"
) -> NDArray[np.bool_]:
    """The potentially unsafe states U_1 .. U_H.

    Parameters
    ----------
    mdp : SafeMDP or SafeGame
    recursion : "exact" or "paper"
        ``"exact"`` starts each U_h from U.  ``"paper"`` starts it from U_{h+1}, as Eq. (2) of
        the paper prints; the same for stationary P, too large for step-dependent P.

    Returns
    -------
    (H, S) bool array
        ``U[h-1]`` is U_h.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> x = 1
    >>> st.potentially_unsafe(mdp)[:, x]            # doomed at step 3, free at step 2
    array([False, False,  True, False])
    >>> st.potentially_unsafe(mdp, recursion="paper")[:, x]
    array([ True,  True,  True, False])
    """
    check_world(mdp, "mdp")
    one_of(recursion, "recursion", ("exact", "paper"))
    check_fits((mdp.H, mdp.S), bool, "potentially_unsafe", instead=SMALLER)
    if mdp.stationary:
        return np.less_equal.outer(np.arange(1, mdp.H + 1), doomed_until(mdp))
    U = np.empty((mdp.H, mdp.S), np.bool_)
    for h, doomed in _backwards(mdp, recursion):
        U[h - 1] = doomed
    return U


def safe_actions(mdp: SafeMDP | SafeGame) -> NDArray[np.bool_]:
    """The safe actions A_h^safe(s): no successor, by whatever reply, is in U_{h+1}.

    Returns
    -------
    (H, S, A) bool array
        All True at the last step, whose successors carry no cost.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> st.safe_actions(mdp)[1, 2]        # at y in step 2: stay, do not step to the doomed x
    array([ True, False])
    """
    check_world(mdp, "mdp")
    check_fits((mdp.H, mdp.S, mdp.A), bool, "safe_actions", instead=SMALLER)
    if mdp.stationary:  # the last successor that is freed decides
        freed = mdp.rows(1).largest(doomed_until(mdp)).reshape(mdp.S, mdp.A, -1).max(axis=2)
        return np.greater_equal.outer(np.arange(1, mdp.H + 1), freed)
    safe = np.ones((mdp.H, mdp.S, mdp.A), np.bool_)
    for h, doomed in _backwards(mdp):
        if h > 1:
            safe[h - 2] = ~_touches(mdp, h - 1, doomed)
    return safe


def is_feasible(mdp: SafeMDP | SafeGame) -> bool:
    """Whether some policy never meets an unsafe state: s_1 is not in U_1 (Assumption 4.1).

    >>> import safeteach as st
    >>> st.is_feasible(st.instances.grid())
    True
    """
    check_world(mdp, "mdp")
    if mdp.stationary:
        return bool(doomed_until(mdp)[mdp.s1] == 0)
    for _, U in _backwards(mdp):
        doomed = U[mdp.s1]  # in the end, at step 1
    return not doomed


def allowed_actions(
    mdp: SafeMDP | SafeGame, h: int, U: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """What a plan may do at step h, (S, A) bool: safe actions, and all in a doomed state.

    ``U`` is (H, S), the potentially unsafe states; without it everything is allowed.
    """
    if U is None or h == mdp.H:
        return np.ones((mdp.S, mdp.A), np.bool_)
    return np.asarray(U[h - 1][:, None] | ~_touches(mdp, h, U[h]))


@dataclass(frozen=True)
class Witness:
    """Why a state is doomed: an answer to every action, for ever, down to an unsafe state.

    Attributes
    ----------
    root : (h, s)
        The step 1..H and the state to explain.
    answers : dict from (h, s) to a tuple of A states
        ``answers[h, s][a]`` is a successor of (s, a) at step h that is doomed at step h + 1.
        An unsafe state needs no answer and has the empty tuple: the argument ends there.
    replies : dict from (h, s) to a tuple of A actions of the adversary
        In a game, ``replies[h, s][a]`` is the move that may lead to ``answers[h, s][a]``; in an
        MDP there is none and the dict is empty.

    A witness is a DAG, not a tree: two paths that meet at the same (h, s) go on together.

    Examples
    --------
    >>> import safeteach as st
    >>> found = st.witness(st.instances.union_counterexample(), s=1, h=3)
    >>> found.root, found.answers[3, 1]      # both actions of state 1 lead to state 4
    ((3, 1), (4, 4))
    >>> found.answers[4, 4]                  # which is unsafe
    ()
    """

    root: tuple[int, int]
    answers: dict[tuple[int, int], tuple[int, ...]]
    replies: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)


def witness(mdp: SafeMDP | SafeGame, s: int, h: int) -> Witness:
    """Explain why state ``s`` is in U_h: at each state reached, a bad answer to each action.

    Among the doomed successors of an action the witness takes an unsafe one where there is one,
    and otherwise the lowest in number; in a game, by the adversary's first move that leads there.

    Raises
    ------
    ValueError
        If s is not in U_h: there is nothing to explain.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> st.witness(mdp, s=1, h=3).answers
    {(3, 1): (4, 4), (4, 4): ()}
    """
    check_world(mdp, "mdp")
    mdp.check_state(s)
    mdp.check_step(h)
    U = potentially_unsafe(mdp)
    if not U[h - 1, s]:
        raise ValueError(
            f"s is {s}; state {mdp.state_name(s)} is not potentially unsafe at step {h}"
        )
    return _explain(mdp, U, (h, s))


class InfeasibleError(ValueError):
    """No policy is safe from s_1: Assumption 4.1 fails, and ``witness`` shows why.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.SafeMDP([[[0, 1]], [[0, 1]]], r=[[0], [0]], c=[0, 1], tau=0.5, H=2)
    >>> try:
    ...     st.safe_optimal(mdp)
    ... except st.InfeasibleError as error:
    ...     print(error.witness.answers)
    {(1, 0): (1,), (2, 1): ()}
    """

    def __init__(self, message: str, witness: Witness) -> None:
        super().__init__(message)
        self.witness = witness

    def __reduce__(self) -> tuple[Any, ...]:  # an error may come out of another process
        return type(self), (str(self), self.witness), self.__dict__

    @classmethod
    def of(cls, mdp: SafeMDP | SafeGame, U: NDArray[np.bool_]) -> InfeasibleError:
        """The error for a world whose s_1 is in U_1."""
        found, name = _explain(mdp, U, (1, mdp.s1)), mdp.state_name(mdp.s1)
        if mdp.unsafe[mdp.s1]:
            why = "it is unsafe itself"
        else:
            why = "; ".join(
                f"action {mdp.action_name(a)}{_reply(mdp, found, a)} may lead to "
                f"{mdp.state_name(t)}"
                for a, t in enumerate(found.answers[found.root])
            )
            why += ", each unsafe or doomed in turn (see the error's .witness)"
        return cls(f"no feasible policy: the initial state {name} is in U_1: {why}", found)


def _reply(mdp: SafeMDP | SafeGame, found: Witness, a: int) -> str:
    if isinstance(mdp, SafeMDP):
        return ""
    return f" against {mdp.reply_name(found.replies[found.root][a])}"


def _level_by_level(world: SafeMDP | SafeGame) -> NDArray[np.int64]:
    """The same as :func:`~safeteach.worlds.arrows.walk_back`, all states of a step at once."""
    rows, S, A = world.rows(1), world.S, world.A
    until = np.where(world.unsafe, world.H, 0)
    arrows_from = np.diff(rows.indptr).reshape(S * A, -1).sum(axis=1)  # by whatever reply
    pairs = np.repeat(np.arange(S * A), arrows_from)
    pairs_into = pairs[np.argsort(rows.successors, kind="stable")]
    arrows = np.bincount(rows.successors, minlength=S)
    first = np.cumsum(arrows) - arrows
    closed = np.zeros(S * A, np.bool_)
    still_open = np.full(S, A)
    doomed = np.flatnonzero(world.unsafe)
    for h in range(world.H - 1, 0, -1):
        if not doomed.size:
            break
        touched = np.unique(pairs_into[ranges(first[doomed], arrows[doomed])])
        touched = touched[~closed[touched]]
        closed[touched] = True
        states, lost = np.unique(touched // A, return_counts=True)
        still_open[states] -= lost
        doomed = states[(still_open[states] == 0) & (until[states] == 0)]
        until[doomed] = h
    return until


def _backwards(
    mdp: SafeMDP | SafeGame, recursion: Recursion = "exact"
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """(H, U_H), .., (1, U_1), each set from the one before it."""
    U = mdp.unsafe
    yield mdp.H, U
    for h in range(mdp.H - 1, 0, -1):
        U = (mdp.unsafe if recursion == "exact" else U) | _touches(mdp, h, U).all(axis=1)
        yield h, U


def _touches(mdp: SafeMDP | SafeGame, h: int, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(S, A) bool: whether (s, a) can lead into a set of states, in a game by some reply."""
    return np.asarray(mdp.rows(h).touches(states).reshape(mdp.S, mdp.A, -1).any(axis=2))


def _explain(mdp: SafeMDP | SafeGame, U: NDArray[np.bool_], root: tuple[int, int]) -> Witness:
    found = Witness(root, {})
    to_explain = [root]
    while to_explain:
        h, s = to_explain.pop()
        if (h, s) in found.answers:
            continue
        pairs = [] if mdp.unsafe[s] else [_doom(mdp, U, h, s, a) for a in range(mdp.A)]
        found.answers[h, s] = tuple(t for _, t in pairs)
        if isinstance(mdp, SafeGame):
            found.replies[h, s] = tuple(b for b, _ in pairs)
        to_explain.extend((h + 1, t) for _, t in pairs)
    return found


def _doom(
    mdp: SafeMDP | SafeGame, U: NDArray[np.bool_], h: int, s: int, a: int
) -> tuple[int, int]:
    """The adversary's move, 0 in an MDP, and a successor of (s, a) that is doomed at h + 1."""
    if isinstance(mdp, SafeMDP):
        reached = [(0, int(t)) for t in mdp.successors(h, s, a)]
    else:
        reached = [(b, int(t)) for b in range(mdp.B) for t in mdp.successors(h, s, a, b)]
    doomed = [(b, t) for b, t in reached if U[h, t]]
    return min(doomed, key=lambda pair: (not mdp.unsafe[pair[1]], pair[1], pair[0]))
