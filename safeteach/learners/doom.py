r"""Who is doomed in what a learner has seen, and which actions look safe.

Given the flagged states :math:`U_H^k` and the seen successors :math:`\Delta_h^k`, for h = H-1 .. 1,

.. math::

   A_h^{k,safe}(s) = \{a : \Delta_h^k(s, a) \cap U_{h+1}^k = \emptyset\}, \qquad
   U_h^k = U_H^k \cup \{s : A_h^{k,safe}(s) = \emptyset\}.

In a game an action looks safe if no reply was ever seen to lead into :math:`U_{h+1}^k`.  At the
last step every action looks safe: the state after it carries no cost.

All of it is as it was for as long as no flag has changed and no action that looks safe was seen to
lead into a doomed state; so it is computed anew only then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from safeteach.kernels import compiled
from safeteach.learners.model import SeenTransitions
from safeteach.worlds.known import Episode

__all__ = ["SeenDoom"]


class SeenDoom:
    """The doomed states and the actions that look safe.

    Parameters
    ----------
    seen : SeenTransitions
        Of the pairs (s, a), or in a game of the triples (s, a, b).
    replies : int
        B, the number of replies to an action; 1 where there is no adversary.
    union : bool
        Whether U_h^k starts from U_{h+1}^k, as the paper prints, and not from U_H^k.

    Attributes
    ----------
    U : (H, S) bool array
        ``U[h-1]`` is U_h^k.  Who flags writes into its last row.
    safe : (H, S, A) bool array
        A_h^{k,safe}(s).
    """

    def __init__(self, seen: SeenTransitions, replies: int = 1, union: bool = False) -> None:
        H, S, rows = seen.shape
        self.seen = seen
        self.replies = replies
        self.union = union
        self.U = np.zeros((H, S), np.bool_)
        self.safe = np.ones((H, S, rows // replies), np.bool_)
        self._told = np.zeros(S, np.bool_)  # the flags of the last look
        self._any = False  # whether anybody is doomed
        self._surprised = False

    def look(self) -> bool:
        """Bring U and safe up to date with the flags and with what was seen; False if they were."""
        seen = self.seen
        news = _look(
            self._told, self._surprised, seen.span, seen.successor, self.replies,
            self.union, self.U, self.safe,
        )  # fmt: skip
        self._surprised = False
        if news:
            self._any = bool(self.U.any())
        return news

    def observe(self, episode: Episode) -> None:
        """Note if an action that looked safe led into a doomed state."""
        if self._any and not self._surprised:
            self._surprised = _surprise(episode.states, episode.actions, self.U, self.safe)


@compiled
def _surprise(states: Any, actions: Any, U: Any, safe: Any) -> bool:
    """Whether an action that looks safe led into a state that is doomed at the next step."""
    for h in range(len(U) - 1):
        if U[h + 1, states[h + 1]] and safe[h, states[h], actions[h]]:
            return True
    return False


@compiled
def _look(
    told: Any, surprised: bool, span: Any, successor: Any, replies: int,
    union: bool, U: Any, safe: Any,
) -> bool:  # fmt: skip
    """Fill in U, given its last row, and the actions that look safe, unless nothing is new."""
    H, S, A = safe.shape
    news = surprised
    for s in range(S):
        news |= told[s] != U[H - 1, s]
        told[s] = U[H - 1, s]
    if not news:
        return False
    for h in range(H - 2, -1, -1):
        for s in range(S):
            any_safe = False
            i = (h * S + s) * A * replies
            for a in range(A):
                looks_safe = True
                for _ in range(replies):
                    for j in range(span[i, 0], span[i, 1]):
                        looks_safe &= not U[h + 1, successor[j]]
                    i += 1
                safe[h, s, a] = looks_safe
                any_safe |= looks_safe
            U[h, s] = (U[h + 1, s] if union else U[H - 1, s]) or not any_safe
    return True
