"""The statements of the chapter, one test each, on runs that would show a false one.

The statements about safety hold for any choice among the rows that look safe and for any
adversary.  They are tested on a learner written here, in plain Python, that chooses at random, and
on an adversary that sees the agent's action and looks for the reply that is nearest to doom.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from oracles.ledger import Step, width

import safeteach as st
from safeteach.running.adversaries import ADVERSARIES

DELTA, EPISODES = 0.5, 300


# ---------------------------------------------------------------------------------- safety


def looks_safe(seen, game, U_next, h, s, quantifier=all):
    return [
        a
        for a in range(game.A)
        if quantifier(not seen.get((h, s, a, b), set()) & U_next for b in range(game.B))
    ]


def doomed_in(seen, flagged, game, quantifier=all, union=False):
    """U_1 .. U_H of the seen successors; ``all`` replies must be harmless for an action to be."""
    U = [set(flagged)]
    for h in range(game.H - 1, 0, -1):
        cornered = {s for s in range(game.S) if not looks_safe(seen, game, U[0], h, s, quantifier)}
        U.insert(0, (U[0] if union else set(flagged)) | cornered)
    return U


def live(game, seed, quantifier=all, episodes=EPISODES):
    """Run the learner; whether both events held, the steps, and some of its plans."""
    rng = np.random.default_rng(seed)
    S, H, P = game.S, game.H, game.P
    truth = st.potentially_unsafe(game)
    seen, N, total = {}, [0] * S, [0.0] * S
    held, steps, plans = True, [], []
    for k in range(episodes):
        flagged = set()
        for s in range(S):
            if N[s]:
                mean, w = total[s] / N[s], width(N[s], S, DELTA)
                held &= abs(mean - game.c[s]) <= w
                if mean - w > game.tau:
                    flagged.add(s)
        U = doomed_in(seen, flagged, game, quantifier)
        if k % 20 == 0:
            plans.append(({key: set(found) for key, found in seen.items()}, flagged, U))
        before, s, episode = list(N), game.s1, []
        for h in range(1, H + 1):
            rows = range(game.A)
            if h < H and s not in U[h - 1]:
                rows = looks_safe(seen, game, U[h], h, s, quantifier) or rows
            a = int(rng.choice(list(rows)))
            # Sees a, knows the game, and half of the time goes for doom.
            danger = [truth[min(h, H - 1)] @ P[h - 1, s, a, b] for b in range(game.B)]
            b = int(np.argmax(danger)) if rng.random() < 0.5 else int(rng.integers(game.B))
            t = int(rng.choice(S, p=P[h - 1, s, a, b]))
            new = h < H and t not in seen.get((h, s, a, b), set())
            edge = (h, s, a, b, t)
            episode.append(Step(k, h, s, edge, before[s], s in flagged, s in U[h - 1], new))
            N[s] += 1
            total[s] += game.c[s] + rng.choice([-1, 1])
            s = t
        for step in episode:
            seen.setdefault(step.edge[:4], set()).add(step.edge[4])
        steps += episode
    return held, steps, plans


def some_games():
    """Yield random games, and three made by hand, in which danger shows late."""
    for seed in range(30):
        game = st.instances.random_game(
            S=3 + seed % 3, A=2, B=2, H=2 + seed % 3, seed=seed, unsafe=0.4,
            stationary=seed % 2 == 0,
        )  # fmt: skip
        P = game.P**8 / (game.P**8).sum(axis=-1, keepdims=True)  # rare edges, late surprises
        c = np.where(game.unsafe, 1.0, 0.0)
        yield st.SafeGame(P, game.r, c, tau=0.1, H=game.H)
    for seed in range(20):
        P = np.zeros((4, 3, 2, 4))  # a bridge that the rival breaks now and then
        P[0, 0, :, 3] = P[0, 2, :, 2] = 1
        P[0, 1, 0, 1] = 1
        P[0, 1, 1, [1, 3]] = 0.98, 0.02
        P[1, :, :, 1] = P[2, :, :, 2] = P[3, :, :, 3] = 1
        yield st.SafeGame(P, np.zeros((4, 3, 2)), c=[0, 0, 0, 1], tau=0.1, H=2 + seed % 3)
    for _ in range(8):
        yield slope()
        yield crossing()


def slope():
    """On the slope the rival may push, whatever you do; a detour leads there rarely."""
    start, road, side, water = range(4)
    P = np.zeros((4, 3, 2, 4))
    P[start, 0, :, side] = P[start, 2, :, road] = 1
    P[start, 1, :, road], P[start, 1, :, side] = 0.98, 0.02
    P[side, :, 0, road] = P[side, :, 1, water] = 1
    P[road, :, :, road] = P[water, :, :, road] = 1
    return st.SafeGame(P, np.zeros((4, 3, 2)), c=[0, 0, 0, 1], tau=0.1, H=4)


def crossing():
    """The world in which a state is doomed at step 3 and free at step 2, with an idle rival."""
    world = st.instances.union_counterexample()
    P = np.repeat(world.P[:, :, :, None], 2, axis=3)
    return st.SafeGame(P, np.zeros((*world.r.shape, 2)), world.c, world.tau, world.H)


@functools.cache
def runs():
    """Runs in feasible games on which both events hold."""
    kept = []
    for seed, game in enumerate(some_games()):
        if st.is_feasible(game) and game.unsafe.any():
            held, steps, plans = live(game, seed)
            if held:
                kept.append((game, steps, plans))
    return kept


def by_episode(steps):
    return [list(group) for _, group in itertools.groupby(steps, key=lambda step: step.k)]


def test_the_runs_are_worth_testing():
    kept = runs()
    assert len(kept) >= 15
    assert sum(step.flagged for _, steps, _ in kept for step in steps) >= 20
    assert any(not game.stationary for game, _, _ in kept)
    assert any(step.doomed and not step.flagged for _, steps, _ in kept for step in steps)


def contained(game, seen, U):
    """Whether U^k is in U, and the safe actions in those that look safe."""
    truth, safe = st.potentially_unsafe(game), st.safe_actions(game)
    inside = all(truth[h, s] for h in range(game.H) for s in U[h])
    rows = all(
        set(np.flatnonzero(safe[h - 1, s])) <= set(looks_safe(seen, game, U[h], h, s))
        for h in range(1, game.H)
        for s in range(game.S)
    )
    return inside, rows


def test_contained_in_a_game():
    for game, _, plans in runs():
        for seen, _, U in plans:
            assert contained(game, seen, U) == (True, True)


def test_with_the_printed_union_it_is_not_contained():
    broken = [
        contained(game, seen, doomed_in(seen, flagged, game, union=True)) != (True, True)
        for game, _, plans in runs()
        for seen, flagged, _ in plans
        if not game.stationary
    ]
    assert any(broken)


def quiet_fails(game, steps):
    """Steps in U_h^k though no surprise before ended in U_{h'+1}."""
    truth, found = st.potentially_unsafe(game), 0
    for episode in by_episode(steps):
        harmed = False
        for step in episode:
            found += step.doomed and not harmed
            harmed |= step.surprise and bool(truth[step.h, step.edge[4]])
    return found


def test_quiet_so_far_whatever_the_adversary_does():
    assert all(quiet_fails(game, steps) == 0 for game, steps, _ in runs())


def test_an_agent_that_trusts_in_some_reply_is_not_quiet():
    """With "for some b" in the place of "for every b" the lemma is false."""
    found = 0
    for seed, game in enumerate(some_games()):
        if st.is_feasible(game) and game.unsafe.any():
            held, steps, _ = live(game, seed, quantifier=any)
            # Judged by what it should have known: a flagged state without a surprise before.
            for episode in by_episode(steps) if held else []:
                surprised = False
                for step in episode:
                    found += step.flagged and not surprised
                    surprised |= step.surprise
    assert found > 0


def into_doom(game):
    U = st.potentially_unsafe(game)
    return {
        (h, s, a, b, int(t))
        for h in range(1, game.H)
        for s, a, b in itertools.product(range(game.S), range(game.A), range(game.B))
        for t in game.successors(h, s, a, b)
        if U[h, t]
    }


def test_violation_against_every_adversary():
    for game, steps, _ in runs():
        E = into_doom(game)
        T = game.H * EPISODES
        Lambda = math.log(game.S * T * (T + 1) / DELTA)
        paid = sum(game.violation[step.s] for step in steps)
        flagged = [e for e in by_episode(steps) if any(step.flagged for step in e)]
        assert len(flagged) <= len(E) <= game.S**2 * game.A * game.B * (game.H - 1)
        assert sum(game.violation[x.s] for x in steps if x.flagged) <= (
            (1 - game.tau) * game.H * len(flagged)
        )
        U, unsafe = int(game.unsafe.sum()), game.violation[game.unsafe]
        edges = (1 - game.tau) * game.H * len(E)
        ignorance = paid - sum(game.violation[x.s] for x in steps if x.flagged)
        assert ignorance <= 2 * game.H * U + 8 * math.sqrt(Lambda * U * T)
        looks = [st.bounds.visits_until_flagged(g, game.S, DELTA) - 1 + game.H for g in unsafe]
        assert ignorance <= unsafe @ looks
        assert paid <= edges + unsafe @ looks
        sizes = {"S": game.S, "H": game.H, "K": EPISODES, "tau": game.tau, "delta": DELTA}
        bound = st.bounds.violation_bound(unsafe=U, edges=len(E), **sizes)
        assert bound == pytest.approx(edges + 2 * game.H * U + 8 * math.sqrt(Lambda * U * T))


# ---------------------------------------------------------------------------------- reward


def stochastic_games():
    for seed in (1, 2, 4, 10, 18, 28):
        yield st.instances.random_game(S=6, A=3, B=2, H=4, seed=seed)
    yield st.instances.quay()
    yield st.instances.penny_bridge()


def values(game, mu, nu):
    """V and Q of a pair of strategies, by the definition."""
    V, Q = np.zeros((game.H + 1, game.S)), np.zeros(game.r.shape)
    P = game.P
    for h, s in itertools.product(range(game.H, 0, -1), range(game.S)):
        for a, b in itertools.product(range(game.A), range(game.B)):
            Q[h - 1, s, a, b] = game.r[h - 1, s, a, b] + P[h - 1, s, a, b] @ V[h]
            V[h - 1, s] += mu[h - 1, s, a] * nu[h - 1, s, b] * Q[h - 1, s, a, b]
    return V, Q


def optimistic(game, scale, everywhere=False):
    """The share of episodes in which Q^k >= Q* and V^k >= V* where the theorem says so."""
    best = st.safe_optimal(game)
    out = ~st.potentially_unsafe(game)
    rows = st.safe_actions(game) & out[:, :, None]
    if everywhere:
        out, rows = np.ones_like(out), np.ones_like(rows)
    learner = st.SafeNashVI(game.known, episodes=300, bonus_scale=scale)
    held = [
        (learner.Q >= best.Q - 1e-9)[rows].all()
        and (learner.V[:-1] >= best.V[:-1] - 1e-9)[out].all()
        for _ in st.play(learner, game, seed=0, adversary="best responder")
    ]
    return np.mean(held)


def test_optimism_on_safe_rows_against_every_reply():
    games = list(stochastic_games())
    assert all(optimistic(game, 0.101) == 1 for game in games)
    assert any(optimistic(game, 0.0) < 0.5 for game in games)


def test_optimism_is_false_in_doomed_states():
    """Where all is lost V* lifts the mask, and the agent does not know it yet."""
    start, x, water, home = range(4)
    P = np.zeros((4, 2, 1, 4))
    P[start, 0, 0, x] = P[start, 1, 0, home] = P[x, 0, 0, water] = 1
    P[x, 1, 0, [home, water]] = 1 - 1e-5, 1e-5
    P[water, :, :, water] = P[home, :, :, home] = 1
    r = np.zeros((3, 4, 2, 1))
    r[1, x, :, 0] = 0.5, 0.9
    r[2, water] = 1
    pier = st.SafeGame(P, r, c=np.eye(4)[water], tau=0.5, H=3)
    best = st.safe_optimal(pier)
    learner = st.SafeNashVI(pier.known, episodes=6_000, bonus_scale=0.1)
    st.run(learner, pier, seed=0, adversary="uniform")
    assert learner.V[1, x] < best.V[1, x] - 0.1
    assert learner.V[0, start] >= best.V[0, start]


def played(game, adversary, episodes=150, scale=0.01, seed=0):
    """Yield the learner, ν and the episode, before it is observed."""
    answer = {}

    def watched(*told):
        answer["nu"] = adversary(*told)
        return answer["nu"]

    learner = st.SafeNashVI(game.known, episodes=episodes, bonus_scale=scale)
    for _, episode in st.play(learner, game, seed, adversary=watched):
        yield learner, answer["nu"], episode


def fickle():
    """An adversary that plays another random strategy in every episode."""
    rng = np.random.default_rng(5)

    def rival(game, _mu, _nu):
        return rng.dirichlet(np.full(game.B, 0.5), size=(game.H, game.S))

    return rival


def terms(learner, game, nu, e):
    """Every term of the decomposition by its name, one list each."""
    shape = game.r.shape
    N = learner.transitions.N.reshape(shape)
    P, P_hat = game.P, learner.transitions.P_hat.reshape(*shape, game.S)
    V, Q = values(game, learner.mu, nu)
    G, over = learner.V - V, learner.Q - Q
    found = {x: [] for x in ("bonus", "model", "l1", "luck", "cap", "draw", "gift", "new")}
    for i in range(game.H):
        s, a, b, t = e.states[i], e.actions[i], e.replies[i], e.states[i + 1]
        mean = sum(
            learner.mu[i, s, x] * nu[i, s, y] * over[i, s, x, y]
            for x, y in itertools.product(range(game.A), range(game.B))
        )
        hoped = learner.mu[i, s] @ learner.Q[i, s] @ nu[i, s]
        found["gift"].append(hoped - learner.V[i, s])
        found["draw"].append(mean - over[i, s, a, b])
        n = N[i, s, a, b]
        if n == 0:
            found["new"].append(over[i, s, a, b])
            break
        alpha = learner.alpha / math.sqrt(n)
        away = P_hat[i, s, a, b] - P[i, s, a, b]
        full = game.r[i, s, a, b] + P_hat[i, s, a, b] @ learner.V[i + 1] + alpha
        found["bonus"].append(alpha)
        found["model"].append(away @ learner.V[i + 1])
        found["l1"].append(game.H / 2 * np.abs(away).sum())
        found["luck"].append(P[i, s, a, b] @ G[i + 1] - G[i + 1, t])
        found["cap"].append(full - learner.Q[i, s, a, b])
    return G[0, game.s1], found


RIVALS = [*ADVERSARIES.values(), fickle()]


def test_the_exact_decomposition_with_any_adversary():
    plain_gifts = []
    for game, rival in itertools.product(stochastic_games(), RIVALS):
        closed = 0
        for learner, nu, e in played(game, rival, episodes=60):
            gap, part = terms(learner, game, nu, e)
            sums = {x: sum(part[x]) for x in part}
            made = sums["bonus"] + sums["model"] + sums["luck"] + sums["draw"] + sums["new"]
            assert gap == pytest.approx(made - sums["cap"] - sums["gift"], abs=1e-9)
            assert min(part["gift"]) >= -1e-9
            assert min(part["cap"], default=0) >= -1e-9
            assert all(0 <= z <= game.H for z in part["new"])
            closed += len(part["new"])
            plain_gifts.append(sums["gift"])
        assert closed <= game.S * game.A * game.B * game.H
    assert max(plain_gifts) > 0.1  # so that leaving the gift out would show


def looking_back(x, B):
    """Probabilities of replies after x = (s_1, a_1, b_1, ..., s_h), in which all of x counts."""
    return np.random.default_rng([7, *x]).dirichlet(np.full(B, 0.5))


def test_the_exact_decomposition_with_an_adversary_that_looks_back():
    """The same bookkeeping, with V and Q of the pair given what has happened in the episode."""
    game = st.instances.random_game(S=4, A=2, B=2, H=3, seed=3)
    learner = st.SafeNashVI(game.known, episodes=60, bonus_scale=0.01)
    dice, P, matters = np.random.default_rng(0), game.P, 0.0

    def value(x):
        h = (len(x) + 2) // 3
        if h > game.H:
            return 0.0
        return learner.mu[h - 1, x[-1]] @ table(x) @ looking_back(x, game.B)

    def table(x):
        h, s = (len(x) + 2) // 3, x[-1]
        Q = game.r[h - 1, s].copy()
        for a, b in itertools.product(range(game.A), range(game.B)):
            for t in game.successors(h, s, a, b):
                Q[a, b] += P[h - 1, s, a, b, t] * value((*x, a, b, int(t)))
        return Q

    for _ in range(60):
        learner.plan(dice)
        N = learner.transitions.N.reshape(game.r.shape)
        P_hat = learner.transitions.P_hat.reshape(*game.r.shape, game.S)
        x, made, open_books = (game.s1,), 0.0, True
        gap = learner.V[0, game.s1] - value(x)
        for i in range(game.H):
            s, nu = x[-1], looking_back(x, game.B)
            a, b = int(dice.choice(game.A, p=learner.mu[i, s])), int(dice.choice(game.B, p=nu))
            t = int(dice.choice(game.S, p=P[i, s, a, b]))
            if open_books:
                over = learner.Q[i, s] - table(x)
                gift = learner.mu[i, s] @ learner.Q[i, s] @ nu - learner.V[i, s]
                assert gift >= -1e-9
                made += learner.mu[i, s] @ over @ nu - over[a, b] - gift  # draw, gift
                open_books = N[i, s, a, b] > 0
                if open_books:
                    ahead = np.zeros(game.S)
                    for y in game.successors(i + 1, s, a, b):
                        ahead[y] = learner.V[i + 1, y] - value((*x, a, b, int(y)))
                    alpha = learner.alpha / math.sqrt(N[i, s, a, b])
                    full = game.r[i, s, a, b] + P_hat[i, s, a, b] @ learner.V[i + 1] + alpha
                    made += alpha + (P_hat - P)[i, s, a, b] @ learner.V[i + 1]  # bonus, model
                    made += P[i, s, a, b] @ ahead - ahead[t]  # luck
                    made -= full - learner.Q[i, s, a, b]  # cap
                else:
                    made += over[a, b]  # new
            x = (*x, a, b, t)
        assert gap == pytest.approx(made, abs=1e-9)
        matters = max(matters, abs(looking_back(x[:4], game.B) - looking_back(x[3:4], game.B))[0])
        states, actions, replies = np.array(x[::3]), np.array(x[1::3]), np.array(x[2::3])
        rewards = game.r[np.arange(game.H), states[:-1], actions, replies]
        costs = game.c[states[:-1]] + dice.standard_normal(game.H)
        learner.observe(st.Episode(states, actions, rewards, costs, replies))
    assert matters > 0.1  # so that the state alone would not have done


def test_a_reply_that_sees_the_action_may_take_more_than_the_plan_expects():
    """Then the gift is negative: the bound on regret needs dice that nobody sees."""
    Q = np.array([[1.0, 0.0], [0.0, 1.0]])
    plan = st.game_value(Q)
    assert plan.row @ Q.min(axis=1) - plan.value == pytest.approx(-0.5)


def test_draws_up_to_the_first_new_triple_are_fair_and_those_before_it_are_not():
    """η_h counted for h <= f has mean 0 given the past; counted for h < f it has not."""
    game = st.instances.random_game(S=6, A=3, B=2, H=4, seed=28)
    unfair = 0.0
    for learner, nu, _ in played(game, fickle(), episodes=40):
        _, Q = values(game, learner.mu, nu)
        over, N = learner.Q - Q, learner.transitions.N.reshape(game.r.shape)
        both = learner.mu[0, game.s1][:, None] * nu[0, game.s1]
        draw = (both * over[0, game.s1]).sum() - over[0, game.s1]
        assert abs((both * draw).sum()) < 1e-9
        unfair = max(unfair, abs((both * draw * (N[0, game.s1] > 0)).sum()))
    assert unfair > 0.02


def test_regret_line_by_line():
    """The proof evaluated on runs: gap, what bounds it, and the sums of the counting lemma."""
    tightest = 0.0
    for game, rival in itertools.product(stochastic_games(), RIVALS):
        K = 80
        gaps = ceiling = looks = 0.0
        for learner, nu, e in played(game, rival, episodes=K, scale=0.02):
            gap, part = terms(learner, game, nu, e)
            assert all(m <= x + 1e-9 for m, x in zip(part["model"], part["l1"], strict=True))
            assert all(abs(x) <= 2 * game.H for x in (*part["draw"], *part["luck"]))
            gaps += gap
            ceiling += sum(map(sum, (part["bonus"], part["l1"], part["draw"], part["luck"])))
            looks += sum(part["bonus"]) / learner.alpha
        SABH, T = game.S * game.A * game.B * game.H, game.H * K
        assert gaps <= ceiling + SABH * game.H
        assert looks <= 2 * math.sqrt(SABH * T)
        tightest = max(tightest, looks / math.sqrt(SABH * T))
    assert tightest > 0.5  # so that the sum could not be much less


def bound(S, A, B, H, K, delta, successors=None):
    """The theorem, written out."""
    T, SAB = H * K, S * A * B
    L = math.log(5 * SAB * H * K / delta)
    many = (S if successors is None else successors) * math.log(2)
    return (
        SAB * H**2
        + 2 * H * math.sqrt(T * math.log(1 / delta))
        + 14 * math.sqrt(H**3 * SAB * T * L)
        + math.sqrt(2 * H**3 * SAB * T * (many + math.log(SAB * H * K / delta)))
    )


def test_the_regret_bound_is_that_of_chapter_7_with_two_draws_a_step():
    for S, A, B, H, K in [(31, 5, 5, 8, 4_000), (3, 3, 2, 5, 10**6), (100, 2, 2, 3, 50)]:
        one = st.bounds.regret_bound(S, A * B, H, K, 0.005)
        more = (2 - math.sqrt(2)) * H * math.sqrt(H * K * math.log(200))
        assert bound(S, A, B, H, K, 0.005) == pytest.approx(one + more)


def test_few_successors_in_a_game():
    for S, H, K in itertools.product((10, 10**4, 10**7), (3, 10), (10**2, 10**6)):
        A = B = 3
        L = math.log(5 * S * A * B * H * K / 0.005)
        few = math.floor(139 * L)
        short = (
            S * A * B * H**2
            + 2 * H * math.sqrt(H * K * math.log(200))
            + 28 * math.sqrt(H**3 * S * A * B * H * K * L)
        )
        assert bound(S, A, B, H, K, 0.005, successors=few) <= short
        assert bound(S, A, B, H, K, 0.005, successors=2 * few) > short


def random_strategy(rng, H, S, n):
    return rng.dirichlet(np.full(n, 0.5), size=(H, S))


def test_a_best_response_makes_the_regret_largest():
    """The paper: "Otherwise our regret can be larger"."""
    rng = np.random.default_rng(1)
    for game in stochastic_games():
        best = st.safe_optimal(game).value
        for _ in range(10):
            mu = random_strategy(rng, game.H, game.S, game.A)
            nu = random_strategy(rng, game.H, game.S, game.B)
            other = best - values(game, mu, nu)[0][0, game.s1]
            assert best - st.best_response(game, mu=mu).value >= other - 1e-12


def test_the_chain_fails_for_a_kind_adversary_and_a_safe_agent():
    quay = st.instances.quay()
    walk, calm = np.zeros((2, quay.H, quay.S), int)
    best = st.safe_optimal(quay)
    assert (st.safe_actions(quay)[:, :4, 0]).all()
    assert st.best_response(quay, mu=walk).value == pytest.approx(best.value)
    V, _ = values(quay, quay.check_mu(walk), quay.check_nu(calm))
    assert V[1, 1] == 3 > best.V[1, 1]


def test_the_chain_fails_for_a_best_response_and_an_unsafe_agent():
    game = st.instances.penny_bridge()
    left, ford, bank = 0, 2, 0
    mu = np.full((game.H, game.S), left)
    mu[1] = ford
    reply, best = st.best_response(game, mu=mu), st.safe_optimal(game)
    assert reply.policy[0, bank] == left
    assert game.successors(1, bank, left, left).tolist() == [bank]
    assert reply.V[1, bank] == 3
    assert best.V[1, bank] == pytest.approx(0.5 * 3 + 0.25 * 2 + 0.125)
    assert reply.value <= best.value


def test_the_planned_adversary_may_never_find_its_best_reply():
    """Two doors, as in the chapter: optimism of one side is pessimism of the other."""
    P = np.zeros((3, 1, 2, 3))
    P[0, 0, [0, 1], [1, 2]] = 1
    P[[1, 2], :, :, [1, 2]] = 1
    r = np.zeros((3, 1, 2))
    r[1] = 1
    doors = st.SafeGame(P, r, c=[0, 0, 0], tau=0.5, H=2)
    kinds = set()
    for seed in range(12):
        learner = st.SafeNashVI(doors.known, episodes=200, bonus_scale=0.003)
        history = st.run(learner, doors, seed, adversary="equilibrium")
        tried = learner.transitions.N[0, 0] > 0
        kinds.add((bool(tried[1]), float(history.reward[-50:].mean())))
    assert (False, 1.0) in kinds
    assert st.safe_optimal(doors).value == 0
