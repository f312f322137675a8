"""What ``check`` says, and to whom."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from looping import each

import safeteach as st
from safeteach.chapters import (
    danger_ahead,
    learning_to_play_safely,
    mdps_you_can_run,
    why_regret_is_small,
)
from safeteach.classroom.checking import isolation, verdicts
from safeteach.classroom.checking.kinds import Finding, Function, Slip, Value
from safeteach.classroom.checking.seeing import seen_of
from safeteach.classroom.checking.verdicts import all_exercises
from safeteach.classroom.checking.worlds import small_worlds, smaller
from safeteach.classroom.contents import contents, exercise_number, slug_of
from safeteach.figures import DescribedFigure

EXERCISES = all_exercises()
RECURSION = exercise_number("danger_ahead", "recursion")


def returns_nothing(*_arguments): ...


def is_not_written(*_arguments):
    raise NotImplementedError


@pytest.mark.slow
@pytest.mark.parametrize("slug", contents())
def test_a_stub_is_no_answer(slug, monkeypatch):
    monkeypatch.setattr(isolation, "way", lambda: "here")  # there are hundreds
    for number in [n for n in EXERCISES if slug_of(n.split(".")[0]) == slug]:
        stubs = [None, ...]
        if EXERCISES[number].asks.startswith("a function"):
            stubs += [returns_nothing]
        if isinstance(EXERCISES[number], Function):
            stubs += [lambda *_: ..., is_not_written]
        for stub in stubs:
            verdict = st.check(number, stub)
            assert verdict.status == "no answer yet", number
            assert verdict.text.startswith(f"Exercise {number}: no answer yet.")
            assert "\nAsked for: " in verdict.text
            assert "Hint" not in verdict.text


@each("number", EXERCISES)
def test_every_exercise_says_what_it_asks_and_has_a_hint(number):
    exercise = EXERCISES[number]
    assert slug_of(number.split(".")[0])
    assert len(exercise.asks) > 15
    assert not exercise.asks.endswith(".")
    assert len(exercise.hint) > 15
    assert exercise.hint[-1] in ".?)"


@pytest.mark.parametrize("number", ["99.9", "4", "4.20", 4.2, None, [4], st.check])
def test_an_unknown_exercise_is_an_error_that_lists_them(number):
    known = re.escape(", ".join(EXERCISES))
    with pytest.raises(ValueError, match=f"there is no exercise .*; the exercises are {known}$"):
        st.check(number, 3)


@pytest.mark.parametrize("name", ["recursive", "", RECURSION, None, [4]])
def test_an_unknown_name_is_an_error_that_lists_those_of_the_chapter(name):
    with pytest.raises(ValueError, match=r"there is no exercise .* they are 'by-hand', 'recurs"):
        danger_ahead.check(name, 3)


def test_a_number_is_as_good_as_a_name():
    answer = flipped_where(lambda mdp: mdp.S == 4)
    assert st.check(RECURSION, answer).text == danger_ahead.check("recursion", answer).text


def flipped_where(condition):
    def answer(mdp):
        return st.potentially_unsafe(mdp) ^ condition(mdp)

    return answer


def test_the_world_shown_is_as_small_as_it_can_be():
    verdict = danger_ahead.check("recursion", flipped_where(lambda mdp: mdp.S >= 5))
    assert type(verdict.world) is st.instances.GridMDP  # the hand-made grid, which has five cells
    verdict = danger_ahead.check("recursion", flipped_where(lambda mdp: mdp.S >= 6))
    assert (verdict.world.S, verdict.world.A, verdict.world.H) == (6, 1, 1)
    assert (verdict.world.support().sum(axis=3) == 1).all()
    verdict = danger_ahead.check("recursion", flipped_where(lambda mdp: mdp.H >= 4 and mdp.A == 3))
    assert (verdict.world.S, verdict.world.A, verdict.world.H) == (1, 3, 4)


def test_the_world_shown_is_one_on_which_the_answer_fails():
    def answer(mdp):
        return st.potentially_unsafe(mdp, recursion="paper")

    verdict = danger_ahead.check("recursion", answer)
    differ = answer(verdict.world) != st.potentially_unsafe(verdict.world)
    assert differ[verdict.h - 1].any()
    assert verdict.text.startswith(
        f"Exercise {RECURSION}: not yet.\nIt says True at step h = 1, state 0; right is False.\n"
        "The world: 3 states, 1 action, H=3, s1=0,"
    )
    assert "  step 1, from 0: action 0 to 1\n" in verdict.text
    assert 'To try it yourself: chapter.check("recursion", …).case["mdp"]\n' in verdict.text
    assert verdict.case == {"mdp": verdict.world}


def test_the_same_answer_gets_the_same_words():
    answer = flipped_where(lambda mdp: mdp.S == 4)
    first, second = danger_ahead.check("recursion", answer), danger_ahead.check("recursion", answer)
    assert first.text == second.text == repr(first)
    assert all(len(line) <= 79 for line in first.text.split("\n"))


@pytest.mark.parametrize(
    ("answer", "status", "truth"),
    [
        (st.potentially_unsafe, "right", True),
        (lambda mdp: st.potentially_unsafe(mdp, recursion="paper"), "not yet", False),
        (3, "not yet", False),
        (returns_nothing, "no answer yet", False),
        (..., "no answer yet", False),
    ],
)
def test_a_verdict_is_true_if_the_answer_is_right_and_only_then(answer, status, truth):
    verdict = danger_ahead.check("recursion", answer)
    assert verdict.status == status
    assert bool(verdict) is truth


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7", np.array([1])])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match=r"seed is .*; expected a whole number, at least 0"):
        danger_ahead.check("recursion", st.potentially_unsafe, seed=seed)


def test_a_failure_on_what_was_drawn_says_how_to_draw_it_again(monkeypatch):
    fixed = {repr(seen_of(mdp)) for mdp in small_worlds()}

    def answer(mdp):
        return st.potentially_unsafe(mdp) ^ (repr(seen_of(mdp)) not in fixed)

    monkeypatch.setattr(verdicts, "new_seed", lambda: 4711)
    for verdict in (
        danger_ahead.check("recursion", answer),
        st.check(RECURSION, answer, seed=4711),
    ):
        assert verdict.seed == 4711
        assert "This case was drawn anew; the seed draws it again.\n" in verdict.text
        assert 'chapter.check("recursion", …, seed=4711).case["mdp"]\n' in verdict.text
    other = danger_ahead.check("recursion", answer, seed=np.int64(4712))
    assert "seed=4712" in other.text
    again = [danger_ahead.check("recursion", answer, seed=seed).case for seed in (4711, 4712)]
    assert seen_of(again[0]["mdp"]) == seen_of(verdict.case["mdp"])
    assert seen_of(again[1]["mdp"]) == seen_of(other.case["mdp"])


def test_the_case_has_every_argument_and_the_answer_fails_on_it():
    def answer(mdp, G, episode):
        return float(sum(G[1:].mean(axis=1)) + len(episode.actions) * mdp.S)

    verdict = why_regret_is_small.check("luck", answer)
    assert list(verdict.case) == ["mdp", "G", "episode"]
    said = " ".join(verdict.text.split())
    assert f"It returns {answer(**verdict.case):.10g}; right is" in said
    assert "The world: 1 state, 1 action, H=1, s1=0, tau=0.7" in said
    assert "Seen with G = [[1.75], [0]], episode = Episode(states=[0, 0], actions=[0]," in said
    assert '.case["mdp"] (and "G", "episode")' in said


def test_the_case_of_a_reader_s_own_world_is_that_world():
    own = st.SafeMDP([[[1, 0]], [[0, 1]]], [[0], [0]], c=[0, 1], tau=0.5, H=2)
    policy = np.zeros((2, 2), int)
    for name, answer in (("union", own), ("one-step-of-foresight", (own, policy))):
        verdict = danger_ahead.check(name, answer)
        assert verdict.status == "not yet"
        assert verdict.world is verdict.case["mdp"]
        assert seen_of(verdict.world.P) == seen_of(own.P)
        assert "  from 0: action 0 to 0\n  from 1: action 0 to 1\n" in verdict.text
        assert "To try it yourself" not in verdict.text


def test_rewards_are_shown_where_they_decide():
    text = mdps_you_can_run.check("find-the-bug", lambda mdp: float(mdp.r.sum())).text
    assert "(earns 0.25)" in text
    assert "(earns 1)" in text


def test_a_game_is_shown_with_its_replies_and_not_drawn():
    verdict = learning_to_play_safely.check("count-the-edges", lambda game, delta: delta * game.B)
    said = " ".join(verdict.text.split())
    assert "The world: 3 states, 3 actions, 2 replies, H=5, s1=bank" in said
    assert "action left, reply guard right to far;" in said
    assert verdict.figure() is None


def test_the_failing_world_is_drawn():
    verdict = danger_ahead.check("recursion", flipped_where(lambda mdp: mdp.S == 4))
    figure = verdict.figure()
    assert isinstance(figure, DescribedFigure)
    assert figure.alt.startswith(f"Δ graph at step {verdict.h}: 4 states")
    on_a_grid = danger_ahead.check("recursion", flipped_where(lambda mdp: hasattr(mdp, "map")))
    assert on_a_grid.figure().alt.startswith("Map of a grid world")
    assert "  S ~ G\n  # X .\n" in on_a_grid.text


def test_nothing_is_drawn_without_a_failure_or_without_matplotlib(monkeypatch):
    assert danger_ahead.check("recursion", st.potentially_unsafe).figure() is None
    # Of the sizes by hand the picture would be the solution.
    assert danger_ahead.check("by-hand", (1, 1, 1, 1)).figure() is None
    verdict = danger_ahead.check("recursion", flipped_where(lambda mdp: mdp.S == 4))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert verdict.figure() is None


def test_a_notebook_shows_the_text_and_then_the_picture(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda thing, **raw: shown.append((thing, raw)))
    verdict = danger_ahead.check("recursion", flipped_where(lambda mdp: mdp.S == 4))
    verdict._ipython_display_()
    (text, raw), (figure, _) = shown
    assert text == {"text/plain": verdict.text}
    assert raw == {"raw": True}
    assert figure.alt == verdict.figure().alt


def judged(exercise, answer):
    return list(exercise.judge(answer, seed=0))[-1]


class TestValue:
    @pytest.mark.parametrize(
        ("right", "accepted", "misfits"),
        [
            (0.5, [0.5, np.float64(0.5), 0.5 + 1e-12], ["0.5", True, [0.5], np.array([0.5]), {}]),
            (3, [3, 3.0, np.int8(3)], [3j, (3,), None.__class__, len, (x for x in ())]),
            (
                (1, 2),
                [(1, 2), [1, 2], np.array([1, 2])],
                [(1,), (1, 2, 3), (1, "2"), ((1, 2),), (True, 2), 3, "12", np.array([[1, 2]])],
            ),
            (
                frozenset({1, 2}),
                [{1, 2}, [2, 1], (1, 2, 2), np.array([1, 2]), frozenset({1, 2})],
                [{1.5}, {"1"}, 3, np.array([True, False]), "12", {1: 2}],
            ),
            (frozenset(), [set(), [], np.array([], int)], [0, "", {}]),
            (
                np.array([[0.5, 1.0]]),
                [np.array([[0.5, 1.0]]), np.array([[0.5, 1.0 + 1e-12]])],
                [[[0.5, 1.0]], np.array([0.5, 1.0]), np.array([["a", "b"]])],
            ),
        ],
    )
    def test_forms(self, right, accepted, misfits):
        exercise = Value("something", "A hint.", lambda: right)
        for answer in accepted:
            assert judged(exercise, answer).status == "right"
        for answer in misfits:
            found = judged(exercise, answer)
            assert found.status == "not yet"
            assert "wrong form: expected" in found.text

    @pytest.mark.parametrize("answer", [float("nan"), float("inf"), 0.4, -0.5])
    def test_another_value(self, answer):
        found = judged(Value("half", "A hint.", lambda: 0.5), answer)
        assert found == Finding("not yet", "The value is another one.")

    def test_a_known_slip_has_its_own_words(self):
        slips = (Slip(lambda: 0.25, "Squared."), Slip(lambda: 2, "Turned over."))
        exercise = Value("half", "A hint.", lambda: 0.5, slips, tolerance=0.01)
        assert judged(exercise, 0.251).text == "Squared."
        assert judged(exercise, 2).text == "Turned over."
        assert judged(exercise, 0.501).status == "right"
        assert judged(exercise, 0.52).text == "The value is another one."


class TestFunctionOfNumbers:
    exercise = Function(
        asks="scaled(x, n), n times an array",
        hint="Multiply.",
        oracle=lambda x, n: n * x,
        instances=lambda: [(np.ones(2), 1), (np.arange(3.0), 2)],
        draw=lambda k, rng: (rng.random(k), 3),
        arguments=lambda instance: {"x": instance[0], "n": instance[1]},
        axes="K",
    )

    def test_right(self):
        assert judged(self.exercise, lambda x, n: x * n).text == "Tried on 14 cases."

    def test_wrong(self):
        found = judged(self.exercise, lambda x, n: x + n - 1)
        assert found.text == "It says 3 at index 2; right is 4."

    def test_a_change_of_an_argument_is_seen_even_if_doing_it_twice_changes_nothing(self):
        def answer(x, n):
            result = n * x
            x[:] = 7
            return result

        assert judged(self.exercise, answer).text.startswith("It changes its argument x")

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_not_a_number(self, bad):
        found = judged(self.exercise, lambda x, _n: x * bad)
        assert found.text == f"It says {bad} at index 1; right is 1."


def test_worlds_come_from_the_smallest_with_every_edge_case():
    worlds = list(small_worlds())
    sizes = [world.S * world.A * world.H for world in worlds]
    assert sizes[0] == 1
    assert np.mean(sizes[-10:]) > 5 * np.mean(sizes[:10])
    feasible = [st.is_feasible(world) for world in worlds]
    assert 0.3 < np.mean(feasible) < 0.7
    for edge in (
        lambda w: w.S == 1,
        lambda w: w.A == 1,
        lambda w: w.H == 1,
        lambda w: w.unsafe[w.s1],
        lambda w: not w.unsafe.any(),
        lambda w: w.S > 1 and w.unsafe.all(),
        lambda w: not w.stationary,
        lambda w: w.s1 > 0,
        lambda w: 0 < w.P[w.P > 0].min() < 1e-3,
        lambda w: (w.c == w.tau).any(),
        lambda w: ((w.c > w.tau) & (w.c < 0.5)).any(),  # whom a threshold of .5 would let pass
        lambda w: ((w.c <= w.tau) & (w.c > 0.5)).any(),  # and whom it would not
    ):
        assert any(map(edge, worlds))
    again = list(small_worlds())
    assert all(
        (a.P == b.P).all() and (a.c == b.c).all() for a, b in zip(worlds, again, strict=True)
    )


def test_smaller_worlds_are_smaller():
    def size(world):
        arrows, rewards = world.support().sum(), np.count_nonzero(world.r)
        return world.S + world.A + world.H + int(arrows + rewards)

    for world in small_worlds():
        for less in smaller(world):
            assert size(less) < size(world)
            assert less.stationary == (world.stationary or less.H == 1)


def test_importing_the_library_loads_no_exercises_and_checking_draws_nothing():
    code = (
        "import sys, safeteach as st\n"
        "assert 'safeteach.classroom' not in sys.modules\n"
        "assert st.check(sys.argv[1], st.potentially_unsafe).status == 'right'\n"
        "assert {'check', 'quiz'} <= set(dir(st))\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, RECURSION], check=True)


def test_what_a_chapter_needs_is_compiled_before_the_time_counts(monkeypatch):
    """Else a right answer is cut off on a machine where no learner has run yet."""
    done = []
    chapter = importlib.import_module("safeteach.chapters.danger_ahead.exercises")
    monkeypatch.setattr(chapter, "prepare", lambda: done.append("prepared"), raising=False)
    monkeypatch.setattr(verdicts.isolation, "isolated", lambda *_: done.append("judged"))
    monkeypatch.setattr(verdicts, "_verdict", lambda *_: None)
    verdicts._prepare.cache_clear()
    for _ in range(2):
        danger_ahead.check("by-hand", ...)
    verdicts._prepare.cache_clear()
    assert done == ["prepared", "judged", "judged"]


def test_chapters_whose_checkers_run_learners_prepare_for_it():
    """Whoever loads a learner, plays or solves a game says what has to be compiled."""
    for slug in contents():
        module = importlib.import_module(f"safeteach.chapters.{slug}.exercises")
        source = Path(module.__file__).read_text("utf-8")
        runs = re.search(r"safeteach\.(learners|running|planning\.matrix_games)\b", source)
        assert bool(runs) == hasattr(module, "prepare"), slug
