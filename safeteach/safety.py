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
answer to every action.  Nothing else changes (Appendix D of the paper).

Everything here depends on P only through its support: no probability is ever added up.
Taught in the chapters *Danger ahead* and *Safe zero-sum games*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

__all__ = [
    "InfeasibleError",
    "Witness",
    "is_feasible",
    "potentially_unsafe",
    "safe_actions",
    "witness",
]

Recursion = Literal["exact", "paper"]


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
    if recursion not in ("exact", "paper"):
        raise ValueError(f'recursion is {recursion!r}; expected "exact" or "paper"')
    U = np.empty((mdp.H, mdp.S), np.bool_)
    U[-1] = mdp.unsafe
    for h in range(mdp.H - 1, 0, -1):
        cornered = _touches(mdp, h, U[h]).all(axis=1)
        U[h - 1] = (mdp.unsafe if recursion == "exact" else U[h]) | cornered
        if mdp.stationary and np.array_equal(U[h - 1], U[h]):
            U[: h - 1] = U[h]  # the same step repeats: every earlier set is this one too
            break
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
    U = potentially_unsafe(mdp)
    safe = np.ones((mdp.H, mdp.S, mdp.A), np.bool_)
    for h in range(1, mdp.H):
        safe[h - 1] = ~_touches(mdp, h, U[h])
    return safe


def is_feasible(mdp: SafeMDP | SafeGame) -> bool:
    """Whether some policy never meets an unsafe state: s_1 is not in U_1 (Assumption 4.1).

    >>> import safeteach as st
    >>> st.is_feasible(st.instances.grid())
    True
    """
    return not potentially_unsafe(mdp)[0, mdp.s1]


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
    mdp.check_state(s)
    mdp.check_step(h)
    U = potentially_unsafe(mdp)
    if not U[h - 1, s]:
        raise ValueError(f"state {mdp.state_name(s)} is not potentially unsafe at step {h}")
    return _explain(mdp, U, (h, s))


class InfeasibleError(ValueError):
    """No policy is safe from s_1: Assumption 4.1 fails, and ``witness`` shows why."""

    def __init__(self, mdp: SafeMDP | SafeGame, U: NDArray[np.bool_]) -> None:
        self.witness = _explain(mdp, U, (1, mdp.s1))
        name = mdp.state_name(mdp.s1)
        if mdp.unsafe[mdp.s1]:
            why = "it is unsafe itself"
        else:
            why = "; ".join(
                f"action {mdp.action_name(a)}{self._reply(mdp, a)} may lead to {mdp.state_name(t)}"
                for a, t in enumerate(self.witness.answers[1, mdp.s1])
            )
            why += ", each unsafe or doomed in turn (see the error's .witness)"
        super().__init__(f"no feasible policy: the initial state {name} is in U_1: {why}")

    def _reply(self, mdp: SafeMDP | SafeGame, a: int) -> str:
        if isinstance(mdp, SafeMDP):
            return ""
        return f" against {mdp.reply_name(self.witness.replies[1, mdp.s1][a])}"


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
