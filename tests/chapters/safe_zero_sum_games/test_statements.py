"""The statements of the chapter, one test each, on games that would show a false one.

Each test checks its statement directly, on random games, by means that do not assume it: all pure
strategies of both sides are tried, or strategies with dice and memory are played out history by
history.
"""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as hs
from looping import each, many
from scipy.optimize import linprog

import safeteach as st

SMALL = settings(max_examples=many(40, 120), deadline=None)


@hs.composite
def games(draw, max_steps=3, max_actions=2, max_replies=2):
    """A safe game with arbitrary supports, few enough pure strategies to try them all."""
    S, A = draw(hs.integers(2, 3)), draw(hs.integers(1, max_actions))
    B, H = draw(hs.integers(1, max_replies)), draw(hs.integers(1, max_steps))
    steps = H if draw(hs.booleans()) else 1
    rng = np.random.default_rng(draw(hs.integers(0, 10**6)))
    shape = (steps, S, A, B)
    support = rng.random((*shape, S)) < draw(hs.sampled_from([0.0, 0.3]))
    support |= np.eye(S, dtype=bool)[rng.integers(S, size=shape)]
    weight = support * rng.integers(1, 4, size=support.shape)
    P = weight / weight.sum(axis=-1, keepdims=True)
    r = rng.integers(0, 3, size=shape) / 2
    unsafe = np.array(draw(hs.lists(hs.booleans(), min_size=S, max_size=S)))
    flat = steps == 1
    return st.SafeGame(P[0] if flat else P, r[0] if flat else r,
                       c=np.where(unsafe, 0.8, 0.3), tau=0.5, H=H)  # fmt: skip


def all_pure(game, n):
    """Every pure Markov strategy of a side with n actions; the last one moves nowhere."""
    for free in itertools.product(range(n), repeat=game.S * (game.H - 1)):
        policy = np.zeros((game.H, game.S), int)
        policy[:-1] = np.reshape(free, (game.H - 1, game.S))
        yield policy


def risk(game, mu, nu):
    """(H, S) the probability of being in U at a step h..H, for Markov strategies."""
    return risks(game, mu, game.check_nu(nu)[None])[0]


def risks(game, mu, nus):
    """(n, H, S) the same for n strategies of the adversary at once, (n, H, S, B)."""
    mu = game.check_mu(mu)
    found = np.empty((len(nus), game.H, game.S))
    found[:, -1] = game.unsafe
    for i in reversed(range(game.H - 1)):
        later = np.einsum("sa,nsb,sabt,nt->ns", mu[i], nus[:, i], game.P[i], found[:, i + 1])
        found[:, i] = np.where(game.unsafe, 1.0, later)
    return found


def play_out(game, mu, nu):
    """Reward and probability of ever being in U, for strategies that may remember.

    ``mu(x)`` and ``nu(x)`` give probabilities after a history x = (s_1, a_1, b_1, ..., s_h).
    """

    def rest(x, h, wet):
        if h > game.H:
            return np.array([0.0, float(wet)])
        s, total = x[-1], np.zeros(2)
        wet = wet or game.unsafe[s]
        for (a, p), (b, q) in itertools.product(enumerate(mu(x)), enumerate(nu(x))):
            for t in game.successors(h, s, a, b) if p * q else ():
                chance = p * q * game.P[h - 1, s, a, b, t]
                now = np.array([game.r[h - 1, s, a, b], 0.0])
                total += chance * (now + rest((*x, a, b, int(t)), h + 1, wet))
        return total

    return rest((game.s1,), 1, False)


def remembering(n, seed, allowed=lambda x: True, pure=False):  # noqa: ARG005
    """A strategy that draws its mixture anew for every history, of allowed actions."""

    @functools.cache
    def choose(x):
        rng = np.random.default_rng([seed, len(x), *x])
        weights = rng.exponential(size=n) * (rng.random(n) < 0.7) + 1e-9
        weights = weights * allowed(x)
        return np.eye(n)[weights.argmax()] if pure else weights / weights.sum()

    return choose


def step_of(x):
    return len(x) // 3 + 1


def markov(strategy):
    return lambda x: strategy[step_of(x) - 1, x[-1]]


def uniform(game):
    return np.full((game.H, game.S, game.B), 1 / game.B)


# Lost states ----------------------------------------------------------------------------------


@given(games())
@SMALL
def test_safe_against_everybody(game):
    """s outside U_h iff one pure strategy is safe against all; else dice have every strategy."""
    U = st.potentially_unsafe(game)
    replies = np.array([game.check_nu(nu) for nu in all_pure(game, game.B)])
    worst, dice = [], []
    for mu in all_pure(game, game.A):
        worst.append(np.max(risks(game, mu, replies), axis=0))
        dice.append(risk(game, mu, uniform(game)))
    assert ((np.min(worst, axis=0) == 0) == ~U).all()
    p_min = game.P[game.P > 0].min()
    bound = (p_min / game.B) ** (game.H - np.arange(1, game.H + 1))
    assert (np.min(dice, axis=0)[U] >= np.broadcast_to(bound[:, None], U.shape)[U] - 1e-12).all()


@given(games(), hs.integers(0, 99))
@SMALL
def test_dice_endanger_strategies_that_remember_too(game, seed):
    assume(st.potentially_unsafe(game)[0, game.s1])
    met = play_out(game, remembering(game.A, seed), markov(uniform(game)))[1]
    assert met >= (game.P[game.P > 0].min() / game.B) ** (game.H - 1) - 1e-12


@given(games(), hs.integers(0, 99))
@SMALL
def test_no_adversary_that_remembers_gets_at_a_safe_strategy(game, seed):
    assume(st.is_feasible(game))
    safe = st.safe_actions(game)
    agent = remembering(game.A, seed, lambda x: safe[step_of(x) - 1, x[-1]])
    for pure in (False, True):
        assert play_out(game, agent, remembering(game.B, seed + 1, pure=pure))[1] == 0


def test_with_the_quantifiers_swapped_it_is_false():
    """One bad reply for every action is more than the adversary needs."""
    P = np.zeros((3, 2, 2, 3))
    P[0, [0, 1], [0, 1], 1] = P[0, [0, 1], [1, 0], 2] = 1
    P[1:, :, :, 2] = 1
    game = st.SafeGame(P, np.zeros((3, 2, 2)), c=[0, 1, 0], tau=0.5, H=2)
    swapped = (P[..., game.unsafe] > 0).any(axis=3).all(axis=1).any(axis=1)
    assert not swapped[0]
    assert not st.is_feasible(game)
    for mu in all_pure(game, 2):
        assert risk(game, mu, uniform(game))[0, 0] > 0


def test_with_the_printed_union_it_is_false():
    """The way out of state 0 is open at step 1 and shut by one reply at step 2."""
    P = np.zeros((3, 3, 1, 2, 3))
    P[:, 1, 0, :, 1] = P[:, 2, 0, :, 2] = P[0, 0, 0, :, 1] = 1
    P[1:, 0, 0, [0, 1], [1, 2]] = 1
    game = st.SafeGame(P, np.zeros((3, 1, 2)), c=[0, 0, 1], tau=0.5, H=3)
    assert risk(game, np.zeros((3, 3), int), uniform(game))[0, 0] == 0
    assert not st.potentially_unsafe(game)[0, 0]
    assert st.potentially_unsafe(game, recursion="paper")[0, 0]


@given(games())
@SMALL
def test_the_uniform_adversary_finds_every_danger(game):
    """Safe against all, safe against dice, only safe actions where it goes: all the same."""
    assume(st.is_feasible(game))
    safe = st.safe_actions(game)
    replies = list(all_pure(game, game.B))
    possible = game.P > 0
    for actions in all_pure(game, game.A):
        rng = np.random.default_rng(actions.sum())
        mu = (np.eye(game.A)[actions] + (rng.random(safe.shape) < 0.3)).astype(float)
        mu /= mu.sum(axis=2, keepdims=True)
        all_of_them = max(risk(game, mu, nu)[0, game.s1] for nu in replies) == 0
        dice = risk(game, mu, uniform(game))[0, game.s1] == 0
        here, only_safe = np.arange(game.S) == game.s1, True
        for i in range(game.H):
            only_safe &= not (mu[i][here] > 0)[~safe[i][here]].any()
            moves = (possible[i] & (mu[i] > 0)[:, :, None, None]).any(axis=(1, 2))
            here = moves[here].any(axis=0)
        assert all_of_them == dice == only_safe


@each("seed", range(60))
def test_the_sets_are_those_of_the_mdp_with_dice(seed):
    game = st.instances.random_game(8, 3, 3, 5, seed, unsafe=0.3, stationary=seed % 2 == 0)
    dice = st.SafeMDP(game.P.mean(axis=3), game.r.mean(axis=3), game.c, game.tau, game.H)
    assert (st.potentially_unsafe(game) == st.potentially_unsafe(dice)).all()
    assert (st.safe_actions(game) == st.safe_actions(dice)).all()


@each("seed", range(60))
def test_one_reply_is_an_mdp_and_one_action_is_reachability(seed):
    alone = st.instances.random_game(8, 3, 1, 5, seed, unsafe=0.3, stationary=False)
    mdp = st.SafeMDP(alone.P[:, :, :, 0], alone.r[:, :, :, 0], alone.c, alone.tau, alone.H)
    assert (st.potentially_unsafe(alone) == st.potentially_unsafe(mdp)).all()
    bound = st.instances.random_game(8, 1, 3, 5, seed, unsafe=0.3, stationary=seed % 2 == 0)
    moves = (bound.P > 0).any(axis=(2, 3))
    for h in range(1, bound.H + 1):
        for s in range(bound.S):
            here, met = np.arange(bound.S) == s, bool(bound.unsafe[s])
            for i in range(h - 1, bound.H - 1):
                here = moves[i][here].any(axis=0)
                met |= bool((here & bound.unsafe).any())
            assert st.potentially_unsafe(bound)[h - 1, s] == met


# Matrix games ---------------------------------------------------------------------------------


def sure(M):
    """max over mixtures of rows of the least column, by scipy."""
    m, n = M.shape
    lp = linprog([0] * m + [-1], np.c_[-M.T, np.ones(n)], np.zeros(n), [[1] * m + [0]], [1],
                 bounds=[(0, None)] * m + [(None, None)])  # fmt: skip
    return -lp.fun


@each("seed", range(150))
def test_von_neumann(seed):
    """Both sides of the equation, each by its own program; and what exploitability bounds."""
    rng = np.random.default_rng(seed)
    M = rng.integers(-4, 5, size=rng.integers(1, 6, size=2)) * rng.choice([1.0, 0.01, 1000.0])
    scale = np.abs(M).max() + 1
    value, held = sure(M), -sure(-M.T)
    assert abs(value - held) < 1e-9 * scale
    solved = st.game_value(M)
    assert abs(solved.value - value) < 1e-9 * scale
    gap = (M @ solved.column).max() - (solved.row @ M).min()
    assert -1e-9 * scale < gap < 1e-9 * scale
    for _ in range(20):
        mu, nu = rng.dirichlet(np.ones(len(M))), rng.dirichlet(np.ones(M.shape[1]))
        e = (M @ nu).max() - (mu @ M).min()
        assert e > -1e-9 * scale
        assert value - e - 1e-9 * scale <= (mu @ M).min() <= value + 1e-9 * scale
        assert value - 1e-9 * scale <= (M @ nu).max() <= value + e + 1e-9 * scale


@pytest.mark.parametrize("fine", [0, 0.5, 1, 7, 100, 10_000])
def test_no_fine_is_high_enough(fine):
    M = np.array([[0.0, 1.0], [1.0, -fine]])  # careful, risky
    best = 1 / (fine + 2)
    p = np.linspace(0, 1, 20_001)
    worth = np.minimum(p, 1 - p - fine * p)
    assert worth.max() <= best + 1e-12
    assert abs(np.minimum(best, 1 - best - fine * best) - best) < 1e-12
    assert (worth[np.abs(p - best) > 1e-4] < best - 1e-5).all()  # the only optimal strategy
    q = np.linspace(0, 1, 20_001)
    assert np.maximum(q, 1 - q - fine * q).min() >= best - 1e-12
    solved = st.game_value(M)
    assert solved.row[1] == pytest.approx(best)
    assert solved.column[1] == pytest.approx(best)


@each("seed", range(30))
def test_a_fine_on_the_whole_row_does_what_leaving_it_out_does(seed):
    """What no fine can do is about a fine that only some replies bring down."""
    rng = np.random.default_rng(seed)
    M = rng.integers(0, 5, size=(rng.integers(2, 5), rng.integers(1, 5))).astype(float)
    fined = M.copy()
    fined[-1] = -1.0
    solved = st.game_value(fined)
    assert solved.row[-1] == 0
    assert solved.value == pytest.approx(sure(M[:-1]), abs=1e-9)


@each("seed", range(30))
def test_with_infinite_fines_the_two_values_still_agree(seed):
    """What the agent is sure of, and what the adversary can come as close to as it likes."""
    rng = np.random.default_rng(seed)
    M = rng.integers(0, 5, size=(rng.integers(2, 5), rng.integers(2, 5))).astype(float)
    fined = rng.random(M.shape) < 0.25
    fined[0] = False  # a careful row
    M[fined] = -np.inf
    clean = M[~fined.any(axis=1)]
    value, held = st.game_value(clean).value, st.game_value(clean).column
    for little in (1e-2, 1e-4, 1e-6):
        nu = (1 - little) * held + little / len(held)  # every reply now and then
        assert value <= (M @ nu).max() + 1e-9
        assert (M @ nu).max() <= value + 4 * little + 1e-9


def test_with_infinite_fines_the_adversary_has_no_optimal_strategy():
    """It holds the agent to q for every q > 0 and to 1 for q = 0, never to 0."""

    def most(q):  # the rows against the dangerous reply with probability q
        careful, risky = q, 1.0 if q == 0 else -np.inf
        return max(careful, risky)

    q = np.concatenate([[0.0], np.geomspace(1e-300, 1, 500)])
    held = np.array([most(x) for x in q])
    assert (held > 0).all()
    assert held.min() < 1e-299
    assert st.game_value([[0, 1]]).value == 0  # the careful row alone: what the agent is sure of


# The safe minimax -----------------------------------------------------------------------------


@given(games(), hs.integers(0, 99))
@SMALL
def test_the_safe_minimax_value(game, seed):
    """mu* is sure of V*, nu* holds every safe strategy to it, with dice and memory or without."""
    assume(st.is_feasible(game))
    plan, safe = st.safe_optimal(game), st.safe_actions(game)
    best, hold = markov(plan.mu), markov(plan.nu)
    for pure in (False, True):
        earned, met = play_out(game, best, remembering(game.B, seed, pure=pure))
        assert earned >= plan.value - 1e-9
        assert met == 0
        agent = remembering(game.A, seed, lambda x: safe[step_of(x) - 1, x[-1]], pure)
        assert play_out(game, agent, hold)[0] <= plan.value + 1e-9
    assert play_out(game, best, hold)[0] == pytest.approx(plan.value, abs=1e-9)
    sure_of = st.best_response(game, mu=plan.mu).V
    held_to = st.best_response(game, nu=plan.nu).V
    assert np.abs(held_to - sure_of).max() < 1e-9


def test_an_unsafe_strategy_may_earn_more_than_the_safe_minimax_value():
    """Statement 2 is about safe strategies only: the ford pays more."""
    game = st.instances.penny_bridge()
    plan = st.safe_optimal(game)
    ford = np.full((game.H, game.S), 2)
    met = st.evaluate(game, ford, plan.nu)
    assert met.value > plan.value + 0.9
    assert met.unsafe_probability == 1


def pure_value(game):
    """(H, S) the equation as the paper prints it, with r(s, a, b)."""
    rows = st.safe_actions(game) | st.potentially_unsafe(game)[:, :, None]
    V = np.zeros((game.H + 1, game.S))
    for i in reversed(range(game.H)):
        Q = game.r[i] + game.P[i] @ V[i + 1]
        V[i] = np.where(rows[i], Q.min(axis=2), -np.inf).max(axis=1)
    return V


@each("seed", range(100))
def test_pure_rows_lose(seed):
    rng = np.random.default_rng(seed)
    M = rng.integers(-4, 5, size=rng.integers(1, 6, size=2)).astype(float)
    value = st.game_value(M).value
    assert M.min(axis=1).max() <= value + 1e-9
    assert value <= M.max(axis=0).min() + 1e-9
    game = st.instances.random_game(5, 3, 3, 4, seed, unsafe=0.1)
    if st.is_feasible(game):
        assert (pure_value(game) <= st.safe_optimal(game).V + 1e-9).all()


@pytest.mark.parametrize("H", range(2, 13))
def test_on_the_bridges_pure_rows_lose_everything(H):
    game = st.instances.penny_bridge(H)
    assert pure_value(game)[0, game.s1] == 0
    assert st.safe_optimal(game).value == pytest.approx(H - 2 + 2.0 ** (1 - H))


def test_the_printed_number_of_the_pursuit():
    game = st.instances.pursuit()
    assert pure_value(game)[0, game.s1] == pytest.approx(1.0)
    assert st.safe_optimal(game).value > 2.8
