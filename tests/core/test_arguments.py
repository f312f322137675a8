"""Arguments: each is named where it is wrong, and right ones come back as they were."""

import inspect
import math
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

import safeteach as st
from safeteach import bounds, divergence
from safeteach.arguments import instance, number, numbers, one_of, shown, string, whole

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.25), np.int8(1), Fraction(1, 3)])
def test_a_number_comes_back_as_it_was(value):
    assert number(value, "x", 0, 1, ends="[]") is value


def test_an_array_without_axes_is_a_number():
    assert number(np.array(0.5), "x") == 0.5


@pytest.mark.parametrize("value", ["1", None, True, np.True_, 1j, [1], np.ones(1), print])
def test_what_is_no_number_is_named(value):
    with pytest.raises(TypeError, match=r"^x is .*; expected a number$"):
        number(value, "x")
    with pytest.raises(TypeError, match=r"^x is .*; expected a whole number$"):
        whole(value, "x")


@pytest.mark.parametrize(
    ("value", "ends"),
    [(0, "()"), (1, "()"), (0, "(]"), (1, "[)"), (-1, "[]"), (NAN, "[]"), (10**400, "[]")],
)
def test_a_number_lies_between_two_others(value, ends):
    with pytest.raises(ValueError, match=r"^x is .*; expected a number in .0, 1.$"):
        number(value, "x", 0, 1, ends)


def test_the_ends_belong_to_closed_intervals():
    for value, ends in ((0, "[)"), (1, "(]"), (-INF, "[]")):
        assert number(value, "x", value if value < 0 else 0, 1, ends) == value
    with pytest.raises(ValueError, match=r"^x is inf; expected a finite number$"):
        number(INF, "x")


def test_whole_numbers_have_a_least_and_a_largest():
    assert whole(np.uint8(3), "x") == 3 and type(whole(np.uint8(3), "x")) is int
    with pytest.raises(ValueError, match=r"^x is 0; it must be at least 1$"):
        whole(0, "x")
    with pytest.raises(ValueError, match=r"^x is 9223372036854775808; it must be at most 9"):
        whole(2**63, "x")
    assert whole(2**200, "seed", 0, INF) == 2**200


def test_numbers_are_named_with_their_place():
    table = np.arange(6.0).reshape(2, 3)
    assert numbers(table, "x") is table
    assert numbers([1, 2], "x").dtype == np.float64
    with pytest.raises(ValueError, match=r"^x\[1, 2\] is 5.0; expected a number in \[0, 4\]"):
        numbers(table, "x", 0, 4, "[]")
    with pytest.raises(ValueError, match=r"^x is nan; expected a finite number"):
        numbers(NAN, "x")
    with pytest.raises(ValueError, match=r"^x is not a rectangular array of numbers \("):
        numbers([[1], [1, 2]], "x")


@pytest.mark.parametrize("value", ["1", ["1", "2"], None, [True], 1j, {}, {1}, 10**400, [10**400]])
def test_what_are_no_numbers_is_named(value):
    with pytest.raises((TypeError, ValueError), match=r"^x is .*(expected|not real) numbers"):
        numbers(value, "x")


def test_words_and_kinds():
    assert one_of("a", "x", ("a", "b")) == string("a", "x") == "a"
    for wrong in ("c", None, ["a"], np.array(["a", "b"])):
        with pytest.raises(ValueError, match=r'^x is .*; expected "a" or "b"$'):
            one_of(wrong, "x", ("a", "b"))
    with pytest.raises(TypeError, match=r"^x is 3; expected a string$"):
        string(3, "x")
    assert instance(3, "x", int, "a number") == 3


def test_what_is_shown_is_one_short_line():
    assert shown(np.zeros((30, 30))).endswith("…") and len(shown("x" * 999)) == 80
    assert shown(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"


# ---- every formula, with every argument wrong in every way --------------------------------------

GOOD = {
    "n": 5, "S": 3, "A": 2, "H": 4, "K": 10, "delta": 0.1, "epsilon": 1.0, "gap": 0.1, "tau": 0.5,
    "unsafe": 1, "edges": 4, "share": 0.2, "kappa": 1.0, "leaf_steps": 3, "regret": 2.0,
    "mean_p": 0.5, "mean_q": 0.4, "sigma": 1.0, "p": 0.5, "q": 0.4, "asked": [1, 2],
    "kl": [0.1, 0.2], "divergence": 0.3, "successors": 2.5,
}  # fmt: skip
WRONG = [NAN, "1", "text", None, 1j, -3, -0.5, [], [[1], [1, 2]], {}, print, 10**400, True, object]
ANYTHING = {"mean_p": WRONG[5:7], "mean_q": WRONG[5:7]}  # which may be negative
EMPTY = {"n", "K", "share", "mean_p", "mean_q", "p", "q", "asked", "kl", "divergence"}
FORMULAS = [
    getattr(module, name) for module in (bounds, divergence) for name in module.__all__
]


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda f: f.__name__)
def test_a_formula_names_what_is_wrong(formula):
    names = list(inspect.signature(formula).parameters)
    good = {name: GOOD[name] for name in names}
    formula(**good)
    for name in names:
        for wrong in WRONG:
            if any(wrong is value for value in ANYTHING.get(name, ())):
                continue
            if wrong == [] and name in EMPTY:  # nothing is asked
                with suppress(TypeError, ValueError):  # unless something else is asked for each
                    assert np.size(formula(**good | {name: wrong})) in (0, 2)
                continue
            with pytest.raises((TypeError, ValueError), match=rf"^{name}(\[.*\])? is "):
                formula(**good | {name: wrong})


def test_formulas_take_arrays_as_before():
    n = np.array([0, 1, 10, 100])
    assert bounds.beta(n, 3, 0.1).shape == (4,) and bounds.beta(n, 3, 0.1)[0] == INF
    assert divergence.kl_bernoulli([0.1, 0.2], 0.5).shape == (2,)
    with pytest.raises(ValueError, match=r"^the shapes do not fit together: asked \(2,\), kl \(3,"):
        divergence.run_divergence([1, 2], [1, 2, 3])


def test_numbers_beyond_all_reason_are_refused_before_they_overflow():
    with pytest.raises(ValueError, match=r"^gap is 1e-40; so small that it takes more than 1e\+60"):
        bounds.visits_until_flagged(1e-40, 3, 0.1)
    with pytest.raises(ValueError, match=r"^epsilon is 1e-99; so small that K would be more than"):
        bounds.exploration_episodes(3, 2, 4, 1e-99, 0.1)
    with pytest.raises(ValueError, match=r"^delta is 1e-300; it must be at least 1e-100"):
        bounds.beta(3, 3, 1e-300)


@pytest.mark.parametrize("name", sorted({*bounds.__all__} - {"exploration_episodes"}))
def test_formulas_stay_numbers_at_the_largest_sizes(name):
    formula, most = getattr(bounds, name), bounds.LARGEST
    sizes = "S", "A", "H", "unsafe", "edges", "successors"
    extreme = dict.fromkeys(sizes, most) | {"delta": bounds.LEAST}
    K = bounds.MOST if name == "exploration_terms" else 10**59
    for n in (1.0, bounds.MOST):
        given = GOOD | extreme | {"K": K, "n": most if name.endswith("lower_bound") else n}
        names = inspect.signature(formula).parameters
        assert np.isfinite(formula(**{name: given[name] for name in names})).all()


def test_matrices_and_plans_can_be_compared():
    game = st.game_value([[1, 0], [0, 1]])
    assert game == st.game_value([[1, 0], [0, 1]]) and game != st.game_value([[2, 0], [0, 1]])


# ---- figures and controls ------------------------------------------------------------------------

MDP = st.instances.union_counterexample()
CURVES = {"a": [[0, 1, 2]]}
SLIDER = st.widgets.Slider("h", [1, 2], 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.figures.delta_graph(None), "mdp is None; expected a SafeMDP"),
        (lambda: st.figures.propagation(3), "mdp is 3; expected a SafeMDP"),
        (lambda: st.figures.propagation_frame(3, 1), "mdp is 3; expected a SafeMDP"),
        (lambda: st.figures.escape(3, 1, 1), "mdp is 3; expected a SafeMDP"),
        (lambda: st.figures.witness("x", 1, 1), "mdp is 'x'; expected a SafeMDP"),
        (lambda: st.figures.learning_curves("x", CURVES, "r"), "episodes is not a rect"),
        (lambda: st.figures.learning_curves([0, 1, 2], [1], "r"), r"curves is \[1\]; expected"),
        (lambda: st.figures.learning_curves([0, 1, 2], {1: [[0, 1, 2]]}, "r"), "a name in curves"),
        (lambda: st.figures.learning_curves([0, 1, 2], {"a": "x"}, "r"), r"curves\['a'\] is not a"),
        (lambda: st.figures.learning_curves([0, 1, 2], CURVES, 3), "label is 3; expected a string"),
        (
            lambda: st.figures.learning_curves([0, 1, 2], CURVES, "r", {"b": "x"}),
            r"references\['b'\] is 'x'; expected a number",
        ),
        (
            lambda: st.figures.learning_curves([0, 1, 2], CURVES, "r", {"b": ["x", "y", "z"]}),
            r"references\['b'\] is not a rect",
        ),
        (lambda: st.figures.learning_curves([0, 1, 2], CURVES, "r", only=3), "only is 3; expected"),
        (lambda: st.widgets.Slider(3, [0, 1], 0), "label is 3; expected a string"),
        (lambda: st.widgets.Slider("x", "01", 0), "values is not a rect.* real numbers"),
        (lambda: st.widgets.Slider("x", 3, 0), "values is 3; expected numbers in a row"),
        (lambda: st.widgets.Slider("x", [0, 1], "0"), "start is '0'; expected a number"),
        (lambda: st.widgets.Slider("x", [0, 1], 0, fine="0"), "fine is not a rect.* real numbers"),
        (lambda: st.widgets.Choice("x", ["a", "b"], "a"), "options is .*; expected a mapping"),
        (lambda: st.widgets.Choice("x", {1: "a", 2: "b"}, "a"), "what is shown of options is 1"),
        (
            lambda: st.widgets.Choice("x", {"a": 1, "b": 2}, np.ones(2)),
            "start of 'x' is array.*, none of a, b",
        ),
        (lambda: st.widgets.interactive(None, h=SLIDER), "figure is None; expected a function"),
        (lambda: st.widgets.interactive(print, h=3), "h is 3; expected a Slider or a Choice"),
        (lambda: st.widgets.interactive(lambda h: h, h=SLIDER), "what the function draws is 1; ex"),
    ],
)
def test_figures_and_controls_name_what_is_wrong(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call()


# ---- comparisons ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"learners": [st.UCBVI]}, "learners is .*; expected a dict from names to classes of le"),
        ({"learners": {"a": 3}}, r"learners\['a'\] is 3; expected a learner's class"),
        ({"learners": {3: st.UCBVI}}, "a name in learners is 3; expected a string"),
        ({"mdp": MDP.known}, "mdp is Known.*; expected a SafeMDP or a SafeGame"),
        ({"episodes": 2.5}, "episodes is 2.5; expected a whole number"),
        ({"seeds": 5}, r"seeds is 5; expected several, such as range\(10\)"),
        ({"seeds": "01"}, "seeds is '01'; expected several"),
        ({"executor": 4}, r"executor is 4; expected .*Executor, such as ThreadPoolExecutor\(4\)"),
        ({"folder": 3}, "folder is 3; expected a path or None"),
        ({"version": 2}, "version is 2; expected a string or None"),
        ({"noise": "1"}, "noise is '1'; expected a number"),
        ({"progress": 1}, "progress is 1; expected True or False"),
        ({"adversary": "wind"}, "adversary is 'wind'; expected a function or one of"),
        ({"learners": {"a": st.SRFUCRL}, "watch": [[1]]}, "watch: r has shape"),
        ({"learners": {"a": st.SRFUCRL}, "watch": "x"}, "watch is not a rect.* real numbers"),
    ],
)
def test_comparisons_name_what_is_wrong(how, message):
    right = {"learners": {"a": st.UCBVI}, "mdp": MDP, "episodes": 3, "seeds": [1]}
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        st.compare(**right | how)


def test_settings_are_those_of_a_learner():
    with pytest.raises(TypeError, match=r"^learner is 3; expected a learner, which plans"):
        st.learners.settings_of(3)
