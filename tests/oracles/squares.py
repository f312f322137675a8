"""What the proofs by variances speak of, written down along runs, step by step, in plain numpy."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

import safeteach as st


def divergence(Q, P):
    """KL(Q, P) of two laws."""
    return float((xlogy(Q, Q) - xlogy(Q, P)).sum())


@dataclass
class Steps:
    """Of the steps h < f of a run, of the draws h ≤ min(f, H), and of the episodes."""

    episode: np.ndarray  # of the steps, from 0
    n: np.ndarray
    successors: np.ndarray
    kl: np.ndarray  # of the row that was seen
    reward: np.ndarray
    bonus: np.ndarray
    model: np.ndarray  # m_h
    luck: np.ndarray  # ξ_h
    variance: np.ndarray  # v_h
    square: np.ndarray  # P(V_{h+1})²
    now: np.ndarray  # Q_h at what is played: V_h(s_h) if nobody replies
    next: np.ndarray  # V_{h+1}(s_{h+1})
    drawn: np.ndarray  # episode of a draw
    value: np.ndarray  # V_h(s_h)
    entry: np.ndarray  # Q_h at what is played
    mean: np.ndarray  # DQ_h(s_h)
    mean_square: np.ndarray  # D(Q_h)²(s_h)
    draw: np.ndarray  # η_h
    true: np.ndarray  # V_h(s_h) of what is really played
    first: np.ndarray  # of the episodes, V_1(s_1)
    last: np.ndarray  # Q_f at what is played, 0 if f = H + 1
    gap: np.ndarray  # V_1(s_1) less its true value

    def total(self, of, by=None):
        """The sum of what each step, or draw, has, for each episode."""
        episodes = (self.episode if by is None else by).astype(int)
        return np.bincount(episodes, of, minlength=len(self.gap))


def true_values(P, r, mu, nu):
    """V (H + 1, S) and Q (H, S, A, B) of two strategies, in a game."""
    V, Q = np.zeros((r.shape[0] + 1, r.shape[1])), np.empty(r.shape)
    for i in reversed(range(r.shape[0])):
        Q[i] = r[i] + P[i] @ V[i + 1]
        V[i] = np.einsum("sa,sab,sb->s", mu[i], Q[i], nu[i])
    return V, Q


def notes(learner, plays, world, P, r):
    """Write down a run: ``plays`` yields episodes with both strategies, before they are observed.

    ``P`` and ``r`` have an axis for the replies, of length 1 if nobody replies.
    """
    steps, draws, ends = [], [], []
    support = P > 0
    for k, (e, replies, mu, nu) in enumerate(plays):
        shape, V = r.shape, learner.V
        N = learner.transitions.N.reshape(shape)
        P_hat = learner.transitions.P_hat.reshape(*shape, world.S)
        Q = learner.Q.reshape(shape)
        V_true, Q_true = true_values(P, r, mu, nu)
        G, over, last = V - V_true, Q - Q_true, 0.0
        for i in range(world.H):
            s, t = e.states[i], e.states[i + 1]
            x = i, s, e.actions[i], replies[i]
            both = mu[i, s][:, None] * nu[i, s]
            draws.append((
                k, V[i, s], Q[x], (both * Q[i, s]).sum(), (both * Q[i, s] ** 2).sum(),
                (both * over[i, s]).sum() - over[x], V_true[i, s],
            ))  # fmt: skip
            if not N[x]:
                last = Q[x]
                break
            row, seen, after, there = P[x], P_hat[x], V[i + 1], support[x]
            steps.append((
                k, N[x], there.sum(), divergence(seen[there], row[there]), r[x],
                learner.alpha / math.sqrt(N[x]), (seen - row) @ after, row @ G[i + 1] - G[i + 1, t],
                row @ (after - row @ after) ** 2, row @ after**2, Q[x], after[t],
            ))  # fmt: skip
        ends.append((V[0, world.s1], last, G[0, world.s1]))
    return Steps(*np.array(steps).T, *np.array(draws).T, *np.array(ends).T)


def walk(mdp, episodes, scale, seed, delta=0.5):
    """Let SUCBVI play."""
    learner = st.SUCBVI(mdp.known, episodes=episodes, delta=delta, bonus_scale=scale)
    nobody, idle = np.zeros(mdp.H, int), np.ones((mdp.H, mdp.S, 1))
    plays = (
        (e, nobody, np.eye(mdp.A)[learner.policy], idle)
        for _, e in st.play(learner, mdp, seed=seed)
    )
    return notes(learner, plays, mdp, mdp.P[:, :, :, None], mdp.r[..., None])


def walk_game(game, rival, episodes, scale, seed):
    """Let SafeNashVI play against an adversary."""
    learner = st.SafeNashVI(game.known, episodes=episodes, delta=0.5, bonus_scale=scale)
    answer = {}

    def watched(*told):
        answer["nu"] = rival(*told)
        return answer["nu"]

    plays = (
        (e, e.replies, learner.mu, answer["nu"])
        for _, e in st.play(learner, game, seed, adversary=watched)
    )
    return notes(learner, plays, game, game.P, game.r)


def fickle():
    """An adversary that plays another random strategy in every episode."""
    rng = np.random.default_rng(5)

    def rival(game, _mu, _nu):
        return rng.dirichlet(np.full(game.B, 0.5), size=(game.H, game.S))

    return rival
