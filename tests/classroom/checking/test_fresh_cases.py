"""Neither a threshold that is written into an answer nor a table of outputs passes a check."""

import importlib
from collections import Counter

import numpy as np
import pytest

from safeteach.classroom.checking import isolation, kinds
from safeteach.classroom.checking.kinds import Function, Property
from safeteach.classroom.checking.seeing import seen_of
from safeteach.classroom.checking.verdicts import check_exercise
from safeteach.classroom.contents import contents
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(isolation, "way", lambda: "here")  # there are hundreds


@pytest.fixture(params=[(0,), pytest.param(range(1, 25), marks=pytest.mark.thorough)], ids=len)
def seeds(request):
    """What to draw from: once, or often."""
    return request.param


def exercises(slug):
    return importlib.import_module(f"safeteach.chapters.{slug}.exercises").EXERCISES


FUNCTIONS = {
    (slug, name): exercise
    for slug in contents()
    for name, exercise in exercises(slug).items()
    if isinstance(exercise, Function)
}
# Exercises that ask for a function and draw nothing anew: what is tried is in their statement.
STATED = {
    ("optimism_and_confidence", "chosen-after-the-data"): "a share of 200 samples: no luck in it",
    ("optimism_and_confidence", "cheaper-union"): "one million n, for three worlds",
    ("the_regret_lower_bound", "lock-the-root"): "two values of K",
    ("the_violation_lower_bound", "good-at-both"): "a share of 20 runs: no luck in it",
    ("what_the_constants_really_do", "find-the-bug"): "a share of 60 runs: no luck in it",
    ("what_the_constants_really_do", "whoever-knows-the-weather"): "one sequence of days",
    ("learning_to_play_safely", "write-a-rival"): "one game, one seed",
}
# Nothing in these depends on what is unsafe.
WITHOUT_COSTS = {
    ("mdps_you_can_run", "every-value-at-once"),
    ("mdps_you_can_run", "law-of-the-state"),
    ("mdps_you_can_run", "find-the-bug"),
    ("mdps_you_can_run", "take-the-dice-away"),
    ("why_regret_is_small", "luck"),
    ("why_regret_is_small", "optimum-under-a-mask"),
    ("the_regret_lower_bound", "least-gap"),
}
each_function = pytest.mark.parametrize("which", FUNCTIONS, ids="/".join)


def best_that_is_taken(mdp, policy):
    V = np.zeros(mdp.S)
    chosen = np.empty((mdp.H, mdp.S), int)
    for h in range(mdp.H - 1, -1, -1):
        Q = mdp.r[h] + mdp.P[h] @ V
        chosen[h] = np.where(policy[h] > 0, Q, -1.0).argmax(axis=1)
        V = np.take_along_axis(Q, chosen[h][:, None], axis=1)[:, 0]
    return chosen


def what_is_used(n, S, A, H, delta):
    from safeteach.bounds import beta, gamma

    return 2 * beta(n, S, delta) + H / 2 * np.sqrt(gamma(n, S, A, H, delta) / n)


def without_probabilities(mdp, policy):
    possible = np.arange(mdp.S) == mdp.s1
    for h in range(mdp.H):
        if (possible & mdp.unsafe).any():
            return False
        possible = (mdp.P[h][possible, policy[h, possible]] > 0).any(axis=0)
    return True


RIGHT = {
    ("mdps_you_can_run", "take-the-dice-away"): best_that_is_taken,
    ("costs_thresholds_violation", "find-the-bug"): without_probabilities,
    ("why_the_output_is_safe", "leaner-still"): what_is_used,
}


def right_answer(which):
    exercise = FUNCTIONS[which]
    return RIGHT[which] if isinstance(exercise, Property) else exercise.oracle


def test_every_function_is_tried_on_something_new_or_on_what_is_stated():
    asked = {
        (slug, name)
        for slug in contents()
        for name, exercise in exercises(slug).items()
        if exercise.asks.startswith("a function")
    }
    assert asked - FUNCTIONS.keys() == STATED.keys()


@each_function
def test_a_right_answer_gets_the_same_words_whatever_is_drawn(which, seeds):
    answer = right_answer(which)
    verdicts = [check_exercise(*which, lambda *a: answer(*a), seed=seed) for seed in (99, *seeds)]
    assert all(verdicts), verdicts
    assert len({verdict.text for verdict in verdicts}) == 1


@each_function
def test_what_is_drawn_depends_on_the_seed_and_on_nothing_else(which):
    def drawn(seed):
        tried = FUNCTIONS[which]._tried_on(seed)
        cases = [FUNCTIONS[which].arguments(instance) for instance, fresh in tried if fresh]
        return [[seen_of(value) for value in case.values()] for case in cases]

    assert drawn(0) == drawn(0)
    assert len(drawn(0)) == kinds.FRESH
    assert drawn(0) != drawn(1)


def default(value, table):
    """What a table answers where it has no entry, in a form that fits."""
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    return Counter(table.values()).most_common(1)[0][0]


@each_function
def test_a_table_of_all_that_is_always_tried_does_not_pass(which, seeds):
    exercise, right = FUNCTIONS[which], right_answer(which)

    def key(arguments):
        return repr([seen_of(value) for value in arguments])

    cases = [list(exercise.arguments(instance).values()) for instance in exercise.instances()]
    table = {key(case): right(*case) for case in cases}

    def answer(*arguments):
        found = table.get(key(arguments))
        return default(right(*arguments), table) if found is None else found

    for seed in seeds:
        verdict = check_exercise(*which, answer, seed=seed)
        assert verdict.status == "not yet"
        assert "This case was drawn anew; the seed draws it again." in verdict.text
        assert f"seed={seed})" in verdict.text
        assert verdict.seed == seed
        assert key(verdict.case.values()) not in table


def with_half(value):
    """The same world with a threshold of one half."""
    if isinstance(value, SafeMDP):
        return SafeMDP(value.P, value.r, value.c, 0.5, value.H, value.s1)
    if isinstance(value, SafeGame):
        return SafeGame(value.P, value.r, value.c, 0.5, value.H, value.s1)
    return value


def with_a_threshold():
    for which, exercise in FUNCTIONS.items():
        arguments = exercise.arguments(next(iter(exercise.instances())))
        worlds = [value for value in arguments.values() if isinstance(value, SafeMDP | SafeGame)]
        if worlds or "tau" in arguments:
            yield which, list(arguments)


THRESHOLDS = dict(with_a_threshold())


@pytest.mark.parametrize("which", THRESHOLDS, ids="/".join)
def test_a_threshold_of_one_half_does_not_pass(which):
    right = right_answer(which)

    def answer(*arguments):
        named = zip(THRESHOLDS[which], arguments, strict=True)
        return right(*(0.5 if name == "tau" else with_half(value) for name, value in named))

    verdict = check_exercise(*which, answer, seed=0)
    if which in WITHOUT_COSTS:
        assert verdict
    else:
        assert verdict.status == "not yet"
        assert "drawn anew" not in verdict.text  # it fails on what is always tried


def test_enough_exercises_have_a_threshold():
    assert len(THRESHOLDS.keys() - WITHOUT_COSTS) >= 12
    assert THRESHOLDS.keys() >= WITHOUT_COSTS


def test_worlds_differ_in_size_and_threshold():
    for which in THRESHOLDS.keys() - WITHOUT_COSTS:
        cases = [FUNCTIONS[which].arguments(i) for i in FUNCTIONS[which].instances()]
        if "tau" in cases[0]:
            assert len({case["tau"] for case in cases}) >= 3, which
        worlds = [v for case in cases for v in case.values() if isinstance(v, SafeMDP)]
        if worlds and which != ("the_experiments", "whose-luck"):  # one world, many policies
            assert len({world.tau for world in worlds}) >= 3, which
            assert len({(world.S, world.A, world.H) for world in worlds}) >= 8, which
