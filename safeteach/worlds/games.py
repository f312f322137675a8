r"""Safe zero-sum games: an MDP in which somebody else has a hand in where the agent goes.

In state :math:`s_h` the agent picks :math:`a` and the adversary :math:`b`, at the same time.  The
agent is paid :math:`r_h(s, a, b) \in [0, 1]`, which is what the adversary wants to keep small,
and moves by :math:`P_h(t \mid s, a, b)`.  Costs, threshold and violation are those of a safe MDP;
they are the agent's trouble alone.

Appendix C of the paper; taught in the chapter *Safe zero-sum games*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits, numbered
from safeteach.worlds.reading import read_policy
from safeteach.worlds.world import World

__all__ = ["SafeGame", "chances"]


class SafeGame(World):
    """A finite-horizon zero-sum game with a cost of each state and a safety threshold.

    Everything is checked, copied and frozen; nothing is normalised or clipped.  A world never
    changes: to change one, build another.  Two worlds with the same content are equal.

    Parameters
    ----------
    P : (S, A, B, S) or (H, S, A, B, S) array, or sparse matrix (S*A*B, S), or H sparse matrices
        Transition probabilities, the same at every step or one for each.  A sparse matrix is
        one of scipy's, of any format, with row ``(s*A + a)*B + b`` for (s, a, b); entries that
        are stored twice are added, as scipy does.  Its shape does not say what A and B are; they
        are taken from r.
    r : (S, A, B) or (H, S, A, B) array
        Rewards in [0, 1], the agent's gain and the adversary's loss.
    c : (S,) array
        Costs in [0, 1].
    tau : float
        Threshold in [0, 1]; a state with ``c > tau`` is unsafe.
    H : int
        Number of steps.
    s1 : int
        Initial state.
    state_names, action_names, reply_names : sequences of str, optional
        What figures and messages call the states, the agent's and the adversary's actions, all
        different; numbers by default.
    drop_below : float, optional
        Remove smaller probabilities, as of :class:`SafeMDP`; what that can hide, whoever plays
        how, is at most ``hidden_risk``.

    Attributes
    ----------
    S, A, B, H : int
    r : (H, S, A, B) array
    c, unsafe, violation, tau, s1, stationary, dropped, hidden_risk
        As of :class:`SafeMDP`.

    Notes
    -----
    Appendix C of the paper; taught in the chapter *Safe zero-sum games*.

    Examples
    --------
    The agent leans left or right, a wind blows left or right.  Leaning the way the wind blows
    ends in the water, state 1.

    >>> import safeteach as st
    >>> P = [[[[0, 1], [1, 0]], [[1, 0], [0, 1]]], [[[0, 1], [0, 1]], [[0, 1], [0, 1]]]]
    >>> game = st.SafeGame(P, r=[[[0, 1], [1, 0]], [[0, 0], [0, 0]]], c=[0, 1], tau=0.5, H=2)
    >>> game
    SafeGame(S=2, A=2, B=2, H=2, tau=0.5, s1=0, 1 unsafe state, stationary)
    >>> st.potentially_unsafe(game)[0]            # whatever it does, some wind is the wrong one
    array([ True,  True])

    The same, sparse:

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> game == st.SafeGame(csr_array(np.reshape(P, (8, 2))), game.r[0], game.c, tau=0.5, H=2)
    True
    """

    def __init__(
        self,
        P: Any,
        r: ArrayLike,
        c: ArrayLike,
        tau: float,
        H: int,
        s1: int = 0,
        *,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        reply_names: Sequence[str] | None = None,
        drop_below: float | None = None,
    ) -> None:
        names = {"state": state_names, "action": action_names, "reply": reply_names}
        super().__init__(P, r, c, tau, H, s1, "SAB", drop_below, names)

    @property
    def B(self) -> int:
        """Number of the adversary's actions."""
        return self._shape[2]

    def successors(self, h: int, s: int, a: int, b: int) -> NDArray[np.integer]:
        """Δ_h(s, a, b): the states that can follow (s, a, b) at step ``h`` = 1..H, increasing."""
        a = numbered(a, "a", "actions", 0, self.A - 1)
        b = numbered(b, "b", "replies", 0, self.B - 1)
        return self._row(h, self.check_state(s), a, b)

    def reply_name(self, b: int) -> str:
        """What to call the adversary's action ``b``: its given name, or its number."""
        return self._name(2, b, "b", "replies")

    def reply(self, name: str) -> int:
        """The number of the adversary's action that is called ``name``.

        Examples
        --------
        >>> import safeteach as st
        >>> st.instances.quay().reply("headwind")
        1
        """
        return self._number(2, name, "reply")

    def check_mu(self, mu: ArrayLike) -> NDArray[np.float64]:
        """The agent's strategy as (H, S, A) probabilities, from those or from (H, S) actions."""
        return chances(mu, "mu", self, self.A, "A")

    def check_nu(self, nu: ArrayLike) -> NDArray[np.float64]:
        """The adversary's strategy as (H, S, B) probabilities, or from (H, S) actions."""
        return chances(nu, "nu", self, self.B, "B")


def chances(
    strategy: ArrayLike, name: str, game: SafeGame, n: int, letter: str
) -> NDArray[np.float64]:
    """One side's strategy as (H, S, n) probabilities, from those or from (H, S) actions."""
    read = read_policy(strategy, name, game.H, game.S, n, letter)
    if read.ndim == 3:
        return read
    check_fits((game.H, game.S, n), np.float64, f"{name} as probabilities")
    return np.eye(n)[read]
