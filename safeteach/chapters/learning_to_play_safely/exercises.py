r"""*Learning to play safely*: planning against every reply, and rivals of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import visits_until_flagged
from safeteach.classroom.checking import compiling
from safeteach.classroom.checking.forms import form_of
from safeteach.classroom.checking.kinds import (
    RETURNS_NOTHING,
    Counterexample,
    Exercise,
    Finding,
    Function,
    Slip,
    Value,
    not_yet,
)
from safeteach.instances import penny_bridge, pursuit, random_game
from safeteach.planning.equilibria import best_response
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import safe_optimal
from safeteach.safety import is_feasible, potentially_unsafe
from safeteach.worlds.games import SafeGame

__all__ = ["EXERCISES"]

Strategy = NDArray[np.float64]

MOST_STATES, MOST_ACTIONS, MOST_REPLIES, MOST_STEPS = 5, 3, 3, 5
EPISODES, LATE, ENOUGH = 600, 150, 20.0


# 18.1 -----------------------------------------------------------------------------------------


def _planned() -> tuple[float, float, float]:
    """The value of the rows a_1 and a_3, with H = 4 for what was never tried: both sides mix."""
    (a, b), (c, d) = (4, 1), (2, 3)
    total = a + d - b - c
    return (a * d - b * c) / total, (d - c) / total, (d - b) / total


# 18.2 -----------------------------------------------------------------------------------------


def _tables() -> Iterator[dict[str, Any]]:
    """Yield plans with strategies: one state, pure strategies, then mixed ones."""
    pennies = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    half, first = np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])
    yield {"Q": pennies, "mu": first, "nu": first}
    yield {"Q": pennies, "mu": half, "nu": first}
    for k in range(20):
        yield _table(k, np.random.default_rng(k))


def _table(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, A, B = 1 + k % 4, 2 + k % 3, 2 + k % 2
    return {
        "Q": np.round(4 * rng.random((S, A, B)), 2),
        "mu": rng.dirichlet(np.ones(A), size=S),
        "nu": rng.dirichlet(np.ones(B), size=S),
    }


def _gift(
    Q: NDArray[np.float64], mu: NDArray[np.float64], nu: NDArray[np.float64]
) -> NDArray[np.float64]:
    replies = (mu[:, :, None] * Q).sum(axis=1)
    promised = np.einsum("sb,sb->s", replies, nu)
    return np.asarray(promised - replies.min(axis=1))


# 18.3 -----------------------------------------------------------------------------------------


def _seen() -> Iterator[dict[str, Any]]:
    """Yield what may have been seen at one step, from nothing to much."""
    for k in range(40):
        yield _look(k, np.random.default_rng(k))


def _look(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, A, B = 2 + k % 3, 1 + k % 3, 1 + k % 2
    share = (0.0, 0.2, 0.4, 0.7)[k % 4]
    return {
        "seen": rng.random((S, A, B, S)) < share,
        "U_next": rng.random(S) < 0.5,
        "flagged": rng.random(S) < 0.15,
    }


def _doomed_before(
    seen: NDArray[np.bool_], U_next: NDArray[np.bool_], flagged: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    meets = (seen & U_next).any(axis=3)
    return np.asarray(flagged | np.all(np.any(meets, axis=2), axis=1))


# 18.4 -----------------------------------------------------------------------------------------


def _leaning(left: float) -> NDArray[np.float64]:
    """Left with this probability, right otherwise."""
    game = penny_bridge()
    mu = np.zeros((game.H, game.S, game.A))
    mu[:, :, :2] = left, 1 - left
    return mu


def _two_regrets() -> tuple[float, float]:
    # Two coins are an equilibrium; to solve for it would need the compiler.
    game, mu, coin = penny_bridge(), _leaning(0.75), _leaning(0.5)
    guard = coin[:, :, : game.B]
    best = evaluate(game, coin, guard).value
    return best - best_response(game, mu=mu).value, best - evaluate(game, mu, guard).value


# 18.5 -----------------------------------------------------------------------------------------


def _broken_chain(answer: object) -> Finding | None:
    """Say what a game and a strategy lack to break V* >= V at a successor."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return not_yet(f"Expected a pair (game, mu), got {form_of(answer)}.")
    game, strategy = answer
    if not isinstance(game, SafeGame):
        return not_yet(f"Expected a SafeGame first, got {form_of(game)}.")
    sizes = game.S, game.A, game.B, game.H
    most = MOST_STATES, MOST_ACTIONS, MOST_REPLIES, MOST_STEPS
    if any(n > m for n, m in zip(sizes, most, strict=True)):
        return not_yet(
            f"It has {game.S} states, {game.A} actions, {game.B} replies and {game.H} steps; "
            f"{MOST_STATES}, {MOST_ACTIONS}, {MOST_REPLIES} and {MOST_STEPS} are enough."
        )
    if game.H < 2:
        return not_yet("An episode of one step has no successor that counts.")
    if not is_feasible(game):
        return not_yet("No strategy is safe against every adversary in this game.")
    try:
        mu = game.check_mu(strategy)
    except (TypeError, ValueError) as error:
        return not_yet(f"The strategy cannot be played: {error}.")
    best, reply = safe_optimal(game), best_response(game, mu=mu)
    if reply.value > best.value + 1e-9:
        return not_yet(
            f"At s_1 the agent earns {reply.value:.4g} against a best response, more than "
            f"V* = {best.value:.4g}; there the inequality has to hold."
        )
    law = np.zeros(game.S)
    b = reply.policy[0, game.s1]
    for a in range(game.A):
        for s in game.successors(1, game.s1, a, int(b)):
            law[s] += mu[0, game.s1, a] * game.P[0, game.s1, a, b, s]
    above = reply.V[1] - best.V[1]
    chance = law[above >= 0.5 - 1e-9].sum()
    if chance >= 0.5 - 1e-9:
        return None
    met = law > 0
    most_above = above[met].max()
    if most_above < 0.5 - 1e-9:
        return not_yet(
            f"In the states that are met at step 2 the agent earns at most {most_above:.4g} more "
            f"than V*_2."
        )
    return not_yet(f"The states that break it are met with probability {chance:.4g} only.")


# 18.6 -----------------------------------------------------------------------------------------


def _late_rival(answer: object) -> Finding | None:
    """Say what a rival lacks to make SafeNashVI fall late."""
    # Loaded here: the other exercises need no compiler.
    from safeteach.learners import SafeNashVI
    from safeteach.running.playing import run

    if not callable(answer):
        return not_yet(f"Expected a function, got {form_of(answer)}.")
    made = _tried(answer)
    if isinstance(made, Finding):
        return made
    if made is None or made is ...:
        return RETURNS_NOTHING
    if not callable(made):
        return not_yet(f"make_rival() must return a function; it returned {form_of(made)}.")
    game = pursuit()
    learner = SafeNashVI(game.known, episodes=EPISODES, bonus_scale=0.003)

    def rival(game: SafeGame, mu: Strategy, nu: Strategy) -> Strategy:
        # Copies: the rival shall not write into what the agent plays.
        return game.check_nu(made(game, mu.copy(), nu.copy()))

    history = _tried(lambda: run(learner, game, seed=0, adversary=rival))
    if isinstance(history, Finding):
        return history
    late = history.violation[-LATE:].sum()
    if late >= ENOUGH:
        return None
    early = history.violation[:-LATE].sum()
    return not_yet(
        f"The violation is {late:.4g} in the last {LATE} episodes, after {early:.4g} in the "
        f"{EPISODES - LATE} before."
    )


def _tried(work: Callable[[], Any]) -> Any:
    """What the reader's code returns, or a finding that says what it raises."""
    try:
        return work()
    except Exception as error:
        return not_yet(f"It raises {type(error).__name__}: {error}.")


# 18.7 -----------------------------------------------------------------------------------------


def _games() -> Iterator[dict[str, Any]]:
    """Yield small games, stationary and not, with a level each."""
    yield {"game": penny_bridge(), "delta": 0.005}
    for k in range(16):
        yield _game(k, np.random.default_rng(k))


def _game(k: int, rng: np.random.Generator) -> dict[str, Any]:
    game = random_game(
        S=2 + k % 4, A=1 + k % 3, B=1 + k % 2, H=1 + k % 4, seed=rng, unsafe=0.4,
        stationary=k % 2 == 0,
    )  # fmt: skip
    # Gaps as they come can be tiny, and the visits until flagged then take long to find.
    c = np.where(game.unsafe, 0.5 + (1 + k % 5) / 10, 0.2)
    P = game.P[0] if game.stationary else game.P
    r = np.zeros((game.S, game.A, game.B))
    return {
        "game": SafeGame(P, r, c, (0.5, 0.3)[k % 2], game.H),
        "delta": (0.005, 0.1)[k % 2] * float(rng.uniform(0.5, 1.5)),
    }


def _violation_for_ever(game: SafeGame, delta: float) -> float:
    U = potentially_unsafe(game)
    into_doom = sum(int(U[h, game.rows(h).successors].sum()) for h in range(1, game.H))
    gaps = game.violation[game.unsafe]
    looks = sum(g * (visits_until_flagged(g, game.S, delta) - 1 + game.H) for g in gaps.tolist())
    return looks + into_doom * game.H * (1 - game.tau)


prepare = compiling.games

EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the triple (V, probability of a_1, probability of b_1)",
        hint="Which entry does a pair get that was never tried? Which row may lead into doom by "
        "some reply? What is left is a game with two rows, and neither side has a pure best move.",
        expected=_planned,
        slips=(
            Slip(lambda: (2.0, 0.0, 0.0), "These are the best moves for those who may not mix."),
            Slip(
                lambda: (2.0, 0.0, 1.0),
                "These are the best moves for those who may not mix. They also come out if an "
                "untried pair is worth nothing: the learner takes it for the best there is.",
            ),
            Slip(
                lambda: (3.0, 0.0, 0.0),
                "That is what the agent gets if the adversary has to show its reply first. Both "
                "mix.",
            ),
            Slip(
                lambda: (25 / 7, 1 / 7, 6 / 7),
                "The second action is banned: one of its replies was seen to lead to u.",
            ),
            Slip(lambda: (2.5, 0.5, 0.25), "You have the two sides the wrong way round."),
            Slip(lambda: (2.5, 0.75, 0.5), "That is the probability of the other row."),
        ),
        tolerance=1e-6,
    ),
    "gift": Function(
        asks="a function gift(Q, mu, nu) that returns an (S,) array",
        hint="First average over the agent's actions: what is left is one number for each reply.",
        oracle=_gift,
        instances=_tables,
        draw=_table,
        axes="S",
    ),
    "find-the-bug": Function(
        asks="a function doomed_before(seen, U_next, flagged) that returns an (S,) array of bool",
        hint="A state is doomed if to every action there is a reply that was seen to lead into "
        "doom. Which of the two axes has the for-all, and which the there-is?",
        oracle=_doomed_before,
        instances=_seen,
        draw=_look,
        axes="S",
    ),
    "sentence-with-the-sign": Value(
        asks="the pair (regret against a best response, regret against a fair coin)",
        hint="The agent crosses at each step with the same probability p, which depends on the "
        "guard, and who crosses at step h earns 5 - h. Regret is V* minus what is earned.",
        expected=_two_regrets,
        slips=(
            Slip(
                lambda: tuple(3.0625 - x for x in _two_regrets()),
                "These are the values. Regret is what is missing to V*.",
            ),
            Slip(lambda: _two_regrets()[::-1], "The best response comes first."),
            Slip(lambda: tuple(-x for x in _two_regrets()), "Regret is V* minus what is earned."),
            Slip(
                lambda: (3.0625 - 3.66796875, 0.0),
                "A best response stands at the bridge that the agent likes better.",
            ),
        ),
        tolerance=1e-6,
    ),
    "chain-with-a-best-response": Counterexample(
        asks=f"a pair (game, mu) with at most {MOST_STATES} states, {MOST_ACTIONS} actions, "
        f"{MOST_REPLIES} replies and {MOST_STEPS} steps, in which the agent is at step 2 with "
        f"probability ½ or more in a state where it earns at least ½ more than V*_2, though at s_1 "
        f"it earns at most V*_1",
        hint="Against a best response only an unsafe agent earns more than V*. Let it lose before "
        "it becomes unsafe.",
        missing=_broken_chain,
    ),
    "write-a-rival": Counterexample(
        asks="a function make_rival() that returns a rival, a function rival(game, mu, nu)",
        hint="A learner avoids what it has seen. What must the rival not show before the end? It "
        "is called once an episode, so it can count.",
        missing=_late_rival,
    ),
    "count-the-edges": Function(
        asks="a function violation_for_ever(game, delta) that returns a number",
        hint="Count (h, s, a, b, t) with h < H and t in U_{h+1}; each costs (1 - τ)H. Add, for "
        "each unsafe state, its gap times n(gap) - 1 + H.",
        oracle=_violation_for_ever,
        instances=_games,
        draw=_game,
    ),
}
