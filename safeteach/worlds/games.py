r"""Safe zero-sum games: an MDP in which somebody else has a hand in where the agent goes.

In state :math:`s_h` the agent picks :math:`a` and the adversary :math:`b`, at the same time.  The
agent is paid :math:`r_h(s, a, b) \in [0, 1]`, which is what the adversary wants to keep small,
and moves by :math:`P_h(t \mid s, a, b)`.  Costs, threshold and violation are those of a safe MDP;
they are the agent's trouble alone.

Appendix D of the paper; taught in the chapter *Safe zero-sum games*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.worlds.known import Known
from safeteach.worlds.reading import read_names, read_policy
from safeteach.worlds.world import World

__all__ = ["SafeGame"]


class SafeGame(World):
    """A finite-horizon zero-sum game with a cost of each state and a safety threshold.

    Everything is checked, copied and frozen; nothing is normalised or clipped.

    Parameters
    ----------
    P : (S, A, B, S) or (H, S, A, B, S) array
        Transition probabilities, the same at every step or one for each.
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
        What figures and messages call the states, the agent's and the adversary's actions;
        numbers by default.

    Attributes
    ----------
    S, A, B, H : int
    r : (H, S, A, B) array
    c, unsafe, violation, tau, s1, stationary
        As of :class:`SafeMDP`.

    Notes
    -----
    Appendix D of the paper; taught in the chapter *Safe zero-sum games*.

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
    """

    def __init__(
        self,
        P: ArrayLike,
        r: ArrayLike,
        c: ArrayLike,
        tau: float,
        H: int,
        s1: int = 0,
        *,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        reply_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(P, r, c, tau, H, s1, "SAB", state_names)
        self.B = self._shape[2]
        self._action_names = read_names(action_names, "action_names", self.A)
        self._reply_names = read_names(reply_names, "reply_names", self.B)

    def successors(self, h: int, s: int, a: int, b: int) -> NDArray[np.integer]:
        """Δ_h(s, a, b): the states that can follow (s, a, b) at step ``h`` = 1..H, increasing."""
        for name, value, n in (("a", a, self.A), ("b", b, self.B)):
            if not 0 <= value < n:
                raise ValueError(f"{name} is {value}; it must be one of 0..{n - 1}")
        return self._row(h, self.check_state(s), a, b)

    def action_name(self, a: int) -> str:
        """What to call the agent's action ``a``: its given name, or its number."""
        return self._action_names[a] if self._action_names else str(a)

    def reply_name(self, b: int) -> str:
        """What to call the adversary's action ``b``: its given name, or its number."""
        return self._reply_names[b] if self._reply_names else str(b)

    @property
    def known(self) -> Known:
        """What a learner may know: (S, A, H, r, tau, s1), neither P nor c."""
        return Known(self.S, self.A, self.H, self.r, self.tau, self.s1)

    def check_mu(self, mu: ArrayLike) -> NDArray[np.float64]:
        """The agent's strategy as (H, S, A) probabilities, from those or from (H, S) actions."""
        chances = read_policy(mu, "mu", self.H, self.S, self.A, "A")
        return chances if chances.ndim == 3 else np.eye(self.A)[chances]

    def check_nu(self, nu: ArrayLike) -> NDArray[np.float64]:
        """The adversary's strategy as (H, S, B) probabilities, or from (H, S) actions."""
        chances = read_policy(nu, "nu", self.H, self.S, self.B, "B")
        return chances if chances.ndim == 3 else np.eye(self.B)[chances]
