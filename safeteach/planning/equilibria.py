r"""Minimax values of games, and the best response to a strategy.

With :math:`V_{H+1} = 0`, for h = H .. 1,

.. math::

   Q_h(s, a, b) = r_h(s, a, b) + \sum_t P_h(t \mid s, a, b) V_{h+1}(t),
   \qquad V_h(s) = \mathrm{val}\, Q_h(s, a, b)_{a \in A_h(s),\, b},

the value of a matrix game whose rows are the allowed actions: banned rows are left out, and both
sides may mix.  Against a strategy that is known the other side needs no mixing, and a best
response is found by plain backward induction.

Taught in the chapter *Safe zero-sum games*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits, frozen, instance
from safeteach.planning.action_values import action_values
from safeteach.records import Record, deferring
from safeteach.safety import InfeasibleError, allowed_actions, potentially_unsafe
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

__all__ = ["GamePlan", "Response", "best_response", "danger", "minimax"]


@deferring("Q")
@dataclass(frozen=True, eq=False, repr=False)
class GamePlan(Record):
    """An equilibrium and its values; two are equal if the strategies and V are.

    Attributes
    ----------
    V : (H + 1, S) array
        ``V[h-1]`` is V_h; the last row is zero.  Nobody can write to it: Q is made of it.
    Q : (H, S, A, B) array
        Computed when it is first asked for.
    mu : (H, S, A) array
        The agent's strategy, probabilities of its actions.
    nu : (H, S, B) array
        The adversary's strategy.
    value : float
        V_1(s_1).

    Examples
    --------
    >>> import safeteach as st
    >>> plan = st.safe_optimal(st.instances.penny_bridge())
    >>> plan.value, plan.mu.shape, plan.nu.shape
    (3.0625, (5, 3, 3), (5, 3, 2))
    """

    V: NDArray[np.float64]
    Q: NDArray[np.float64]
    mu: NDArray[np.float64]
    nu: NDArray[np.float64]
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class Response(Record):
    """A best response, in pure actions.

    Attributes
    ----------
    V : (H + 1, S) array
        What the agent earns from step h on; the last row is zero.
    policy : (H, S) int array
        The actions of the side that responds.
    value : float
        V_1(s_1).

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.instances.penny_bridge()
    >>> response = st.best_response(game, mu=st.safe_optimal(game).mu)
    >>> response.value, response.policy.shape        # in equilibrium, no better than its value
    (3.0625, (5, 3))
    """

    V: NDArray[np.float64]
    policy: NDArray[np.int64]
    value: float


def danger(world: SafeMDP | SafeGame) -> NDArray[np.bool_]:
    """The potentially unsafe states, (H, S) bool, of a world in which a plan can be safe.

    Raises
    ------
    InfeasibleError
        If none is, in a game against every adversary, with the witness.
    """
    U = potentially_unsafe(world)
    if U[0, world.s1]:
        raise InfeasibleError.of(world, U)
    return U


def minimax(game: SafeGame, U: NDArray[np.bool_] | None) -> GamePlan:
    """The equilibrium when the agent keeps out of U (H, S) where it can; without U, of all."""
    from safeteach.planning.matrix_games import solve_games  # compiled: loaded when first needed

    H, S, A, B = game.H, game.S, game.A, game.B
    check_fits((H, S, 1 + A + B), float, "the plan of this game")
    V = np.zeros((H + 1, S))
    mu, nu = np.empty((H, S, A)), np.empty((H, S, B))
    todo, ties = np.ones(S, np.bool_), np.tile(np.arange(A + B, dtype=np.float64), (S, 1))
    for i in reversed(range(H)):
        Q = game.r[i] + game.rows(i + 1).expect(V[i + 1]).reshape(S, A, B)
        solve_games(Q, todo, allowed_actions(game, i + 1, U), ties, V[i], mu[i], nu[i])
    return GamePlan(frozen(V), action_values(game, V), mu, nu, float(V[0, game.s1]))


def best_response(
    game: SafeGame, *, mu: ArrayLike | None = None, nu: ArrayLike | None = None
) -> Response:
    """What one side does best when the strategy of the other is known.

    Parameters
    ----------
    game : SafeGame
    mu : (H, S, A) probabilities or (H, S) actions
        The agent's strategy; the adversary responds and makes the reward as small as it can.
    nu : (H, S, B) probabilities or (H, S) actions
        The adversary's strategy; the agent responds with the actions that are safe against *every*
        adversary (all of them in a doomed state).  Give one of the two.

    Examples
    --------
    >>> import safeteach as st
    >>> P = [[[[1]]*2]*2]                                # one state, matching pennies each step
    >>> game = st.SafeGame(P, r=[[[1, 0], [0, 1]]], c=[0], tau=0.5, H=4)
    >>> always_first = [[0]] * 4
    >>> st.best_response(game, mu=always_first).value, st.safe_optimal(game).value
    (0.0, 2.0)
    """
    instance(game, "game", SafeGame, "a SafeGame")
    if (mu is None) == (nu is None):
        raise ValueError("give either mu, the agent's strategy, or nu, the adversary's")
    H, S, A, B = game.H, game.S, game.A, game.B
    check_fits((2, H, S), float, "the best response")
    V = np.zeros((H + 1, S))
    policy = np.empty((H, S), np.int64)
    if mu is not None:
        known = game.check_mu(mu)
    else:
        assert nu is not None
        known, U = game.check_nu(nu), danger(game)
    for i in reversed(range(H)):
        Q = game.r[i] + game.rows(i + 1).expect(V[i + 1]).reshape(S, A, B)
        if mu is not None:
            choice = np.einsum("sa,sab->sb", known[i], Q)
            policy[i] = choice.argmin(axis=1)
        else:
            allowed = allowed_actions(game, i + 1, U)
            choice = np.where(allowed, np.einsum("sb,sab->sa", known[i], Q), -np.inf)
            policy[i] = choice.argmax(axis=1)
        V[i] = np.take_along_axis(choice, policy[i][:, None], axis=1)[:, 0]
    return Response(V, policy, float(V[0, game.s1]))
