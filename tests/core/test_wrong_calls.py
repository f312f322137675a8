"""Wrong calls of the whole public interface: each is refused by us, in a sentence.

For every public function there is one right call.  Each of its arguments in turn is replaced by
things that do not belong there.  The call must end in an error that the library raised itself,
which names the argument or the function that was handed over; or, for what a documentation
allows, in an answer.  An error from inside numpy, numba or scipy, or one that leaves the reader to
guess, fails the test.
"""

import inspect
import re
import traceback
import types
from pathlib import Path

import numpy as np
import pytest
from core.running.walks import Walk
from looping import each

import safeteach as st
from safeteach.widgets import Slider

HOME = Path(st.__file__).parent
DRAWS = 60  # of several wrong arguments, and more in make thorough

MDP = st.instances.union_counterexample()
CORRIDOR = st.instances.ice_corridor()
GAME = st.instances.penny_bridge()
POLICY = st.safe_optimal(MDP).policy
MU = np.full((GAME.H, GAME.S, GAME.A), 1 / GAME.A)
NU = np.full((GAME.H, GAME.S, GAME.B), 1 / GAME.B)
SETTINGS = {"episodes": 3, "delta": 0.1, "bonus_scale": 0.01}
SIZES = {"S": 4, "A": 2, "H": 3}
SIZED = SIZES | {"K": 100, "delta": 0.1}
TABLE = [{"state": "here", "action": "stay", "next": "here", "probability": 1, "reward": 2,
          "cost": 0}]  # fmt: skip
PRISM = Path(__file__).parent / "exchange" / "walk.nm"
NAMES = {"state_names": ["on", "off"], "action_names": ["a", "b"]}


def picture(x):
    return st.figures.delta_graph(MDP, x)


def worlds(letters):
    """The arguments of a world of two states."""
    inner = (2,) * (len(letters) - 1)
    P = np.zeros((2, *inner, 2))
    P[..., 0] = 1
    return {"P": P, "r": np.zeros((2, *inner)), "c": [0, 1], "tau": 0.5, "H": 3, "s1": 0,
            "drop_below": 1e-9, **NAMES}  # fmt: skip


# One right call of each public function, by the name under which it is found in ``st``.
RIGHT = {
    "SafeMDP": worlds("SA"),
    "SafeGame": worlds("SAB") | {"reply_names": ["x", "y"]},
    "Known": SIZES | {"r": np.zeros((3, 4, 2)), "tau": 0.5, "s1": 0},
    "SUCBVI": {"known": MDP.known, **SETTINGS, "recursion": "exact"},
    "UCBVI": {"known": MDP.known, **SETTINGS},
    "OptCMDP": {"known": MDP.known, **SETTINGS, "budget": 0.5, "clip": False},
    "OptPess": {"known": MDP.known, **SETTINGS, "safe_policy": POLICY, "safe_cost": 0.1,
                "budget": 0.5},
    "TripleQ": {"known": MDP.known, **SETTINGS, "budget": 0.5, "epsilon": 0.1},
    "RFUCRL": {"known": MDP.known, "epsilon": 0.5, "delta": 0.1, "bonus_scale": 0.01},
    "SRFUCRL": {"known": MDP.known, "epsilon": 0.5, "delta": 0.1, "bonus_scale": 0.01},
    "NashVI": {"known": GAME.known, **SETTINGS},
    "SafeNashVI": {"known": GAME.known, **SETTINGS},
    "learners.Cautious": {"known": MDP.known, **SETTINGS, "caution": 0.5, "trusted": [0]},
    "learners.ExploreThenCommit": {"known": MDP.known, "episodes": 3, "share": 0.5},
    "learners.FixedPolicy": {"known": MDP.known, "episodes": 3, "policy": POLICY},
    "learners.Informed": {"known": st.instances.violation_tree(2, 2, 0.1).known, "episodes": 3,
                          "leaves": st.instances.violation_tree(2, 2, 0.1).leaves, "gap": 0.1,
                          "caution": 0.5},
    "learners.UniformPolicy": {"known": MDP.known, "episodes": 3},
    "learners.settings_of": {"learner": st.SUCBVI(MDP.known, episodes=3)},
    "from_gymnasium": {"env": st.to_gymnasium(st.instances.grid()), "unsafe": [3], "H": 3,
                       "tau": 0.5},
    "from_prism": {"model": PRISM, "unsafe": "stairs", "H": 3, "tau": 0.5, "reward": "pace",
                   "constants": {"N": 3}},
    "from_table": {"table": TABLE, "H": 3, "tau": 0.5, "start": "here"},
    "to_gymnasium": {"world": MDP, "noise": 1.0},
    "to_table": {"world": st.instances.grid(), "path": "world.csv"},
    "report": {"world": MDP, "path": "page.html", "title": "A walk"},
    "audit": lambda: {"learner": st.SUCBVI(MDP.known, episodes=3), "mdp": MDP, "seed": 0,
                      "noise": 1.0},
    "run": lambda: {"learner": st.SUCBVI(MDP.known, episodes=3), "world": MDP, "seed": 0,
                    "noise": 1.0, "adversary": None, "progress": False},
    "run, an environment": lambda: {"learner": st.SUCBVI(MDP.known, episodes=3),
                                    "world": Walk(MDP), "seed": 0, "noise": 1.0,
                                    "adversary": None, "progress": False},
    "play": lambda: {"learner": st.SUCBVI(MDP.known, episodes=3), "world": MDP, "seed": 0,
                     "noise": 1.0, "adversary": None},
    "explore": lambda: {"learner": st.SRFUCRL(MDP.known), "mdp": MDP, "episodes": 3, "seed": 0,
                        "noise": 1.0, "watch": MDP.r, "progress": False},
    "compare": lambda: {"learners": {"mine": st.UCBVI}, "mdp": MDP, "episodes": 3, "seeds": [0],
                        "noise": 1.0, "progress": False, "adversary": None, "watch": None,
                        "folder": None, "version": None, "executor": None},
    "check_learner": {"make": st.UCBVI, "world": MDP},
    "best_response": {"game": GAME, "mu": MU},
    "best_response, to nu": {"game": GAME, "nu": NU},
    "constrained_optimal": {"mdp": MDP, "budget": 1.0, "risk": None},
    "constrained_optimal, by risk": {"mdp": MDP, "budget": None, "risk": 0.5},
    "evaluate": {"mdp": MDP, "policy": POLICY},
    "evaluate, a game": {"mdp": GAME, "policy": MU, "nu": NU},
    "is_feasible": {"mdp": MDP},
    "least_risk": {"mdp": MDP},
    "optimal": {"mdp": MDP},
    "potentially_unsafe": {"mdp": MDP, "recursion": "exact"},
    "doomed_until": {"world": CORRIDOR},
    "rollout": {"mdp": MDP, "policy": POLICY, "seed": 0, "noise": 1.0},
    "safe_actions": {"mdp": MDP},
    "safe_optimal": {"mdp": MDP},
    "witness": {"mdp": MDP, "s": 1, "h": 3},
    "game_value": {"matrix": [[1, 0], [0, 1]]},
    "check": {"exercise": "4.2", "answer": None, "seed": 0},
    "quiz": {"chapter": "4"},
    "bounds.alpha": {"n": 3, **SIZED},
    "bounds.beta": {"n": 3, "S": 4, "delta": 0.1},
    "bounds.beta_printed": {"n": 3, "S": 4, "K": 100, "delta": 0.1},
    "bounds.exploration_bonus": {"n": 3, **SIZES, "delta": 0.1},
    "bounds.exploration_episodes": {**SIZES, "epsilon": 0.5, "delta": 0.1},
    "bounds.exploration_terms": {**SIZED},
    "bounds.gamma": {"n": 3, **SIZES, "delta": 0.1},
    "bounds.l1_width": {"n": 3, **SIZED},
    "bounds.most_dangerous_pairs": SIZED,
    "bounds.regret_bound": SIZED,
    "bounds.regret_bound_masks": SIZED,
    "bounds.regret_bound_variances": {**SIZED, "successors": 2.5},
    "bounds.regret_lower_bound": {"n": 4, "leaf_steps": 3, "K": 100, "gap": 0.1},
    "bounds.tradeoff": {"share": 0.5, "kappa": 1.0},
    "bounds.value_width": {"n": 3, **SIZED},
    "bounds.violation_bound": {"S": 4, "H": 3, "K": 100, "tau": 0.5, "unsafe": 1, "edges": 3,
                               "delta": 0.1},
    "bounds.violation_bound_gap": {"S": 4, "H": 3, "K": 100, "tau": 0.5, "unsafe": 1, "edges": 3,
                                   "gap": 0.1, "delta": 0.1},
    "bounds.violation_lower_bound": {"n": 4, "leaf_steps": 3, "K": 100, "gap": 0.1,
                                     "regret": 5.0},
    "bounds.visits_until_flagged": {"gap": 0.1, "S": 4, "delta": 0.1},
    "divergence.bretagnolle_huber": {"divergence": 0.5},
    "divergence.kl_bernoulli": {"p": 0.5, "q": 0.4},
    "divergence.kl_gaussian": {"mean_p": 0.5, "mean_q": 0.4, "sigma": 1.0},
    "divergence.run_divergence": {"asked": [3, 4], "kl": [0.1, 0.2]},
    "figures.DescribedFigure": {"width": 3.0, "height": 2.0, "alt": "A line."},
    "figures.card": {"world": MDP},
    "figures.delta_graph": {"mdp": MDP, "h": 1},
    "figures.escape": {"mdp": CORRIDOR, "s": CORRIDOR.s1, "h": 1},
    "figures.grid": {"mdp": CORRIDOR, "policy": st.safe_optimal(CORRIDOR).policy, "h": 1},
    "figures.learning_curves": {"episodes": [1, 2], "curves": {"a": [[1, 2]]}, "label": "reward",
                                "references": {"best": 1.0}, "log": False, "each": False,
                                "only": "a"},
    "figures.propagation": {"mdp": MDP},
    "figures.propagation_frame": {"mdp": MDP, "h": 1},
    "figures.risk_curve": {"mdp": MDP},
    "figures.witness": {"mdp": MDP, "s": 1, "h": 3},
    "instances.grid_from_map": {"text": "S.X\n..G", "H": 3, "slip": 0.2, "tau": 0.5},
    "instances.laboratory": {"H": 10},
    "instances.obstacle_field": {"side": 4, "H": 8, "seed": 0, "obstacles": 0.3},
    "instances.penny_bridge": {"H": 5},
    "instances.pursuit": {"text": ".$A.\nXXR$", "H": 3},
    "instances.quay": {"seaward": False, "H": 6},
    "instances.random_game": {"S": 4, "A": 2, "B": 2, "H": 3, "seed": 0, "successors": 2,
                              "unsafe": 0.2, "stationary": True},
    "instances.random_mdp": {"S": 4, "A": 2, "H": 3, "seed": 0, "successors": 2, "unsafe": 0.2,
                             "stationary": True},
    "instances.regret_tree": {"A": 3, "depth": 2, "gap": 0.1, "unsafe_gap": 0.2, "j": 2,
                              "printed": False},
    "instances.violation_tree": {"A": 2, "depth": 2, "gap": 0.1, "j": 2},
    "widgets.Choice": {"label": "way", "options": {"a": 1, "b": 2}, "start": 1},
    "widgets.Slider": {"label": "h", "values": [1, 2], "start": 1, "fine": []},
    "widgets.interactive": {"figure": picture, "x": Slider("x", [1, 2], 1)},
}  # fmt: skip

# The same of the methods of worlds and of what can be stored.
METHODS = {
    "imported.outside": (st.from_table(TABLE, H=3, tau=0.5).outside, {"x": 1.0, "steps": 2}),
    "MDP.rows": (MDP.rows, {"h": 1}),
    "MDP.successors": (MDP.successors, {"h": 1, "s": 0, "a": 0}),
    "MDP.state_name": (MDP.state_name, {"s": 0}),
    "MDP.action_name": (MDP.action_name, {"a": 0}),
    "MDP.state": (MDP.state, {"name": "start"}),
    "MDP.action": (CORRIDOR.action, {"name": "left"}),
    "MDP.check_policy": (MDP.check_policy, {"policy": POLICY}),
    "MDP.check_state": (MDP.check_state, {"s": 0}),
    "MDP.check_step": (MDP.check_step, {"h": 1}),
    "game.successors": (GAME.successors, {"h": 1, "s": 0, "a": 0, "b": 0}),
    "game.reply_name": (GAME.reply_name, {"b": 0}),
    "game.reply": (st.instances.quay().reply, {"name": "headwind"}),
    "game.check_mu": (GAME.check_mu, {"mu": MU}),
    "game.check_nu": (GAME.check_nu, {"nu": NU}),
    "RiskPlan.with_memory": (st.constrained_optimal(MDP, risk=0.5).with_memory, {"mdp": MDP}),
}

# What only the library makes; its fields are what the functions above say.
RESULTS = {
    "Audit", "BudgetError", "ConstrainedPlan", "Episode", "Evaluation", "Exploration", "GamePlan",
    "History", "ImportedMDP", "InfeasibleError", "LeastRisk", "MatrixGame", "Plan", "Response",
    "RiskPlan", "Witness", "learners.Learner", "instances.GridMDP", "instances.PursuitGame",
    "instances.TreeMDP", "widgets.Interactive", "widgets.Picture",
}  # fmt: skip

WRONG = {
    "nothing": None,
    "a word": "word",
    "a number as text": "0.5",
    "bytes": b"1",
    "nan": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "-1": -1,
    "-0.5": -0.5,
    "1.5": 1.5,
    "0": 0,
    "True": True,
    "huge": 10**30,
    "complex": 1j,
    "an empty list": [],
    "a ragged list": [[1], [1, 2]],
    "a dict": {},
    "a dict of text": {"a": "b"},
    "an object": object(),
    "a function": len,
    "a class": int,
    "a module": types,
    "a set": {1},
    "an array of nan": np.full(3, np.nan),
    "an array of text": np.array(["a", "b"]),
    "an array of complex numbers": np.ones((4, 2), complex),
    "an array of objects": np.array([None, object()], object),
    "an array with seven axes": np.zeros((1,) * 7),
    "an empty array": np.zeros((0, 3)),
    "a masked array": np.ma.masked_array([1.0, 2.0], [True, False]),
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
}

# What is no mistake after all, with the words above: by argument, or by call and argument.
POSITIVE = {"1.5", "huge"}
FROM_0 = POSITIVE | {"0"}
REAL = FROM_0 | {"-1", "-0.5"}
NO_LIMIT = FROM_0 | {"inf"}  # a budget, or what may be infinite
TEXT = {"a word", "a number as text"}
SHAPES = {"an empty list", "an array with seven axes", "an empty array"}  # a formula takes any
COUNTS = {"1.5", "0"} | SHAPES
FINE = {
    "a": {"0"}, "b": {"0"}, "s": {"0"}, "s1": {"0"},
    "seed": {"0", "huge"}, "obstacles": {"0"},
    "tau": {"0"}, "unsafe": {"0"}, "edges": {"0"},
    "noise": FROM_0, "bonus_scale": FROM_0, "epsilon": FROM_0,
    "budget": NO_LIMIT, "risk": {"0"},
    "clip": {"True"}, "log": {"True"}, "each": {"True"}, "seaward": {"True"},
    "stationary": {"True"}, "printed": {"True"}, "progress": {"True"},
    "state_names": {"an array of text"}, "action_names": {"an array of text"},
    "reply_names": {"an array of text"},
    "label": TEXT, "title": TEXT, "alt": TEXT, "folder": TEXT, "version": TEXT,
    "seeds": {"a set"},
    "references": {"a dict"},
    "OptPess.safe_cost": {"0"}, "unsafe_gap": {"0"},
    "from_gymnasium.unsafe": {"an empty list", "an empty array", "a set"},
    "imported.outside.x": {"1.5", "0", "-1", "-0.5"} | SHAPES, "imported.outside.steps": COUNTS,
    "path": TEXT,
    "learners.Cautious.caution": REAL,
    "learners.Cautious.trusted": {"an empty list", "an empty array", "a set"},
    "learners.Informed.caution": REAL | {"inf", "-inf"},
    "check.answer": set(WRONG),  # an answer may be anything: that is for the verdict to say
    "bounds.exploration_terms.K": COUNTS,
    "bounds.tradeoff.share": COUNTS, "bounds.tradeoff.kappa": FROM_0,
    "bounds.regret_lower_bound.leaf_steps": POSITIVE,
    "bounds.violation_lower_bound.leaf_steps": POSITIVE,
    "bounds.violation_lower_bound.regret": NO_LIMIT,
    "divergence.bretagnolle_huber.divergence": COUNTS | {"inf"},
    "divergence.kl_bernoulli.p": {"0"} | SHAPES, "divergence.kl_bernoulli.q": {"0"} | SHAPES,
    "divergence.kl_gaussian.mean_p": (REAL - {"huge"}) | SHAPES,
    "divergence.kl_gaussian.mean_q": (REAL - {"huge"}) | SHAPES,
    "divergence.kl_gaussian.sigma": POSITIVE,
    "divergence.run_divergence.asked": {"1.5", "0", "an array with seven axes"},
    "divergence.run_divergence.kl": {"1.5", "0", "inf", "an array with seven axes"},
    "figures.DescribedFigure.width": {"1.5"}, "figures.DescribedFigure.height": {"1.5"},
    "widgets.Choice.start": {"True"},  # it is 1
    "widgets.Slider.fine": {"an empty list"},
    "bounds.regret_bound_variances.successors": {"1.5"},  # they are an average
} | {
    f"bounds.{name}.n": COUNTS
    for name in ("alpha", "beta", "beta_printed", "exploration_bonus", "gamma", "l1_width",
                 "value_width")
} | {
    f"bounds.{name}.K": POSITIVE
    for name in ("alpha", "beta_printed", "l1_width", "most_dangerous_pairs", "regret_bound",
                 "regret_bound_masks", "regret_bound_variances", "regret_lower_bound",
                 "value_width", "violation_bound", "violation_bound_gap",
                 "violation_lower_bound")
}  # fmt: skip


def fine(name, function, argument):
    """The words of what a call takes as this argument, though most take something else."""
    parameters = inspect.signature(function).parameters
    optional = argument in parameters and parameters[argument].default is None
    nothing = {"nothing"} if optional else set()
    return nothing | FINE.get(f"{name}.{argument}", FINE.get(argument, set()))


def public():
    """Every public name with what it is."""
    for name in dir(st):
        thing = getattr(st, name)
        if not inspect.ismodule(thing):
            yield name, thing
        elif name != "learners":
            yield from ((f"{name}.{part}", getattr(thing, part)) for part in thing.__all__)
        else:  # those of the paper stand in st too
            for part in thing.__all__:
                if part not in dir(st):
                    yield f"{name}.{part}", getattr(thing, part)


def found(name):
    thing = st
    for part in name.partition(",")[0].split("."):
        thing = getattr(thing, part)
    return thing


def calls():
    for name, right in RIGHT.items():
        yield name, found(name), right if callable(right) else right.copy
    for name, (method, right) in METHODS.items():
        yield name, method, right.copy


CALLS = {name: (function, right) for name, function, right in calls()}


def test_every_public_name_is_called():
    named = {name.partition(",")[0] for name in RIGHT}
    for name, thing in public():
        takes = callable(thing) and name not in RESULTS
        if takes and not (inspect.isfunction(thing) and not inspect.signature(thing).parameters):
            assert name in named, f"add a right call of st.{name} to RIGHT in this file"


def answer(function, arguments):
    result = function(**arguments)
    return list(result) if inspect.isgenerator(result) else result


@pytest.mark.parametrize("name", CALLS)
def test_the_right_call_is_right(name):
    function, right = CALLS[name]
    answer(function, right())
    wanted = set(inspect.signature(function).parameters) - {"controls", "nu", "mu"}
    assert wanted <= set(right()), "every argument stands in the right call"


def complaint(function, arguments, changed):
    """What is wrong with how a wrong call ended; None if it was refused as it should be."""
    try:
        answer(function, arguments)
    except (ValueError, TypeError) as error:
        place = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
        if HOME not in place.parents:
            return f"{type(error).__name__} from {place.name}: {error}"
        names = [*changed, *(getattr(arguments[name], "__name__", name) for name in changed)]
        if not any(re.search(rf"\b{name}\b", str(error)) for name in names):
            return f"names none of what was wrong: {error}"
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """A word is a folder, for who keeps runs."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_by_its_name(name):
    function, right = CALLS[name]
    wrong = []
    for argument in right():
        for label, value in WRONG.items():
            found = complaint(function, right() | {argument: value}, [argument])
            if label in fine(name, function, argument):
                found = found if found != "accepted" else None
            if found:
                wrong.append(f"{argument} = {label}: {found}")
    assert not wrong, f"{len(wrong)} of {name}:\n" + "\n".join(wrong)


def test_what_is_taken_after_all_is_taken_by_somebody(tmp_path_factory, monkeypatch):
    taken = {key: set() for key in FINE}
    for name, (function, right) in CALLS.items():
        monkeypatch.chdir(tmp_path_factory.mktemp("call"))  # a file to one is a folder to another
        for argument in right():
            key = f"{name}.{argument}"
            key = key if key in FINE else argument
            for label in FINE.get(key, ()):
                arguments = right() | {argument: WRONG[label]}
                if complaint(function, arguments, [argument]) == "accepted":
                    taken[key].add(label)
    assert taken == FINE


def several_wrong(seed):
    """Call something with two wrong arguments or more, four times."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice([name for name, (_, right) in CALLS.items() if len(right()) > 1]))
    function, right = CALLS[name]
    for _ in range(4):
        count = rng.integers(2, len(right()) + 1)
        changed = {
            str(argument): str(rng.choice(list(WRONG)))
            for argument in rng.choice(list(right()), size=count, replace=False)
        }
        arguments = right() | {argument: WRONG[label] for argument, label in changed.items()}
        found = complaint(function, arguments, changed)
        if all(label in fine(name, function, a) for a, label in changed.items()):
            assert found in (None, "accepted"), (name, changed, found)
        elif name != "divergence.run_divergence":  # nothing asked costs nothing, whatever kl is
            assert found is None, (name, changed, found)


@each("seed", range(DRAWS))
def test_several_wrong_arguments_are_refused_too(seed):
    several_wrong(seed)


@pytest.mark.thorough
@each("seed", range(DRAWS, 100 * DRAWS))
def test_many_more_wrong_calls_are_refused(seed):
    several_wrong(seed)
