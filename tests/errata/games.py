"""Slips in Appendix C: safe Markov games.

How to read these classes is said in ``model.py``.
"""

import math

import numpy as np
from oracles.linear_programs import lp_value

import safeteach as st


class GameQuantifiers:
    """The lost states of Algorithm 3: those where the uniform adversary endangers every action."""

    def holds(quantifier):
        P = np.zeros((3, 2, 2, 3))
        P[0, [0, 1], [0, 1], 1] = P[0, [0, 1], [1, 0], 2] = 1
        P[1:, :, :, 2] = 1
        game = st.SafeGame(P, np.zeros((3, 2, 2)), c=[0, 1, 0], tau=0.5, H=2)
        uniform = np.full((2, 3, 2), 0.5)
        danger = [
            st.evaluate(game, np.full((2, 3), a), uniform).unsafe_probability > 0 for a in (0, 1)
        ]
        meets = (game.P[0][..., game.unsafe] > 0).any(axis=3)
        return quantifier(meets, axis=2).all(axis=1)[game.s1] == all(danger)

    def printed():
        return GameQuantifiers.holds(np.all)

    def corrected():
        return GameQuantifiers.holds(np.any)


class GameUnion:
    """State 0 is in U_1 only if some adversary can make the one strategy there is unsafe."""

    def holds(recursion):
        P = np.zeros((3, 3, 1, 2, 3))
        P[:, 1, 0, :, 1] = P[:, 2, 0, :, 2] = P[0, 0, 0, :, 1] = 1
        P[1:, 0, 0, [0, 1], [1, 2]] = 1
        game = st.SafeGame(P, np.zeros((3, 1, 2)), c=[0, 0, 1], tau=0.5, H=3)
        uniform = np.full((3, 3, 2), 0.5)
        unsafe = st.evaluate(game, np.zeros((3, 3), int), uniform).unsafe_probability > 0
        return st.potentially_unsafe(game, recursion=recursion)[0, 0] == unsafe

    def printed():
        return GameUnion.holds("paper")

    def corrected():
        return GameUnion.holds("exact")


class GameBellman:
    """What the Bellman equation says for the two bridges is what a safe strategy is sure of."""

    def holds(value_of):
        game = st.instances.penny_bridge()
        rows = st.safe_actions(game) | st.potentially_unsafe(game)[:, :, None]
        V = np.zeros((game.H + 1, game.S))
        for i in reversed(range(game.H)):
            Q = game.r[i] + game.P[i] @ V[i + 1]
            V[i] = [value_of(Q[s][rows[i, s]]) for s in range(game.S)]
        sure = st.best_response(game, mu=st.safe_optimal(game).mu).value
        return np.isclose(V[0, game.s1], sure)

    def printed():
        return GameBellman.holds(lambda M: M.min(axis=1).max())

    def corrected():
        return GameBellman.holds(lp_value)


class BannedRows:
    """With a banned row the mean of Q' under an equilibrium is the value of what is allowed."""

    def printed():
        M = np.array([[1.0, 0.0], [0.0, 1.0], [-np.inf, -np.inf]])
        mu, nu = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.5])
        with np.errstate(invalid="ignore"):
            return bool(np.isclose(mu @ M @ nu, 0.5))

    def corrected():
        return np.isclose(lp_value(np.array([[1.0, 0.0], [0.0, 1.0]])), 0.5)


class AllBanned:
    """V of a state whose rows are all banned is one number; or is so with all rows given back.

    In a matrix of -∞ every pair of strategies is an equilibrium, and V is the mean of Q under it.
    """

    Q = np.array([[1.0, 0.0], [0.0, 3.0]])

    def printed():
        means = [mu @ AllBanned.Q @ nu for mu in np.eye(2) for nu in np.eye(2)]
        return len(set(means)) == 1

    def corrected():
        solved = st.game_value(AllBanned.Q)
        sure, held = (solved.row @ AllBanned.Q).min(), (AllBanned.Q @ solved.column).max()
        return np.isclose(sure, held) and np.isclose(sure, solved.value)


class Nash:
    """A pair whose value is max-min leaves neither side better off by a change of its own."""

    def holds(is_equilibrium):
        M, value = np.array([[1.0, -1.0], [-1.0, 1.0]]), 0.0
        pairs = [(np.array([p, 1 - p]), np.array([q, 1 - q]))
                 for p in (0, 0.5, 1) for q in (0, 0.5, 1)]  # fmt: skip
        return all(
            (M @ nu).max() <= value + 1e-9 and (mu @ M).min() >= value - 1e-9
            for mu, nu in pairs
            if is_equilibrium(M, mu, nu, value)
        )

    def printed():
        return Nash.holds(lambda M, mu, nu, value: mu @ M @ nu == value)

    def corrected():
        return Nash.holds(lambda M, mu, nu, value: (mu @ M).min() == value == (M @ nu).max())


class InfiniteReward:
    """The adversary's min-max is attained, with -∞ at one reply of a risky row; or without the row.

    Against the dangerous reply with probability q the careful row earns q, the risky one 1 - q.
    """

    SHARES = np.concatenate([[0.0], np.geomspace(1e-300, 1, 500)])

    def attained(best_row):
        held = np.array([best_row(q) for q in InfiniteReward.SHARES])
        return bool((held <= 0).any())  # the agent can be sure of 0, by the careful row

    def printed():
        return InfiniteReward.attained(lambda q: max(q, 1.0 if q == 0 else -np.inf))

    def corrected():
        return InfiniteReward.attained(lambda q: q)


class BestResponse:
    """Some reply makes the regret larger than a best response does; or none does."""

    def regrets():
        rng = np.random.default_rng(1)
        for seed in range(20):
            game = st.instances.random_game(4, 2, 2, 3, seed, unsafe=0)
            mu = rng.dirichlet(np.ones(2), size=(3, 4))
            nu = rng.dirichlet(np.ones(2), size=(3, 4))
            best = st.safe_optimal(game).value
            worst = best - st.best_response(game, mu=mu).value
            yield best - st.evaluate(game, mu, nu).value, worst

    def printed():
        return any(other > worst + 1e-12 for other, worst in BestResponse.regrets())

    def corrected():
        return all(other <= worst + 1e-12 for other, worst in BestResponse.regrets())


class GameChain:
    """V* ≥ V^{μ,ν} at the successors for a best response ν: to any μ; or to one that is safe.

    The agent means to wade through the ford at step 2; the guard holds it back at step 1.
    """

    def holds(strategies):
        game = st.instances.penny_bridge()
        best, out = st.safe_optimal(game), ~st.potentially_unsafe(game)
        return all(
            (st.best_response(game, mu=mu).V[:-1] <= best.V[:-1] + 1e-9)[out].all()
            for mu in strategies(game)
        )

    def through_the_ford(game):
        left, ford = 0, 2
        mu = np.full((game.H, game.S), left)
        mu[1] = ford
        yield mu

    def safe(game):
        rows = st.safe_actions(game) | st.potentially_unsafe(game)[:, :, None]
        for seed in range(50):
            weight = rows * np.random.default_rng(seed).random(rows.shape)
            yield weight / weight.sum(axis=2, keepdims=True)

    def printed():
        return GameChain.holds(GameChain.through_the_ford)

    def corrected():
        return GameChain.holds(GameChain.safe)


class GameRate:
    """The theorem's H³√(SABT) is what its proof ends with; or is H^{3/2} times as much."""

    def ratio(H):
        SABT = 1e6
        return H**3 * math.sqrt(SABT) / math.sqrt(H**3 * SABT)

    def printed():
        return all(np.isclose(GameRate.ratio(H), 1) for H in (2, 10, 50))

    def corrected():
        return all(np.isclose(GameRate.ratio(H), H**1.5) for H in (2, 10, 50))


class GameLuck:
    """What is left when the actions are drawn, 𝔻(Q) - Q(a, b): the printed α, or the printed γ."""

    def holds(name):
        rng = np.random.default_rng(0)
        Q, G = rng.random((2, 2)), rng.random(3)
        mu, nu, P = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3))
        a, b, t = 0, 1, 2
        luck = {"alpha": P @ G - G[t], "gamma": mu @ Q @ nu - Q[a, b]}
        return np.isclose(mu @ Q @ nu, Q[a, b] + luck[name])

    def printed():
        return GameLuck.holds("alpha")

    def corrected():
        return GameLuck.holds("gamma")
