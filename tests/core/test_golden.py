"""Golden files: the same seeds give the bits that they gave before, compiled and plain.

`golden.json`, beside this file, holds a digest of what each case computes, and a number or two
to read when it changes.  Only public names are used, so that files may move.  Where a change of
results is meant, `python tests/core/test_golden.py` writes the file anew; read the diff.
"""

import hashlib
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import safeteach as st

FILE = Path(__file__).with_name("golden.json")
NOISE = 0.3
LOUD = {"delta": 0.5, "bonus_scale": 0.003}  # few visits flag, and values come off their cap
ADVERSARIES = ("equilibrium", "best responder", "uniform", "hazard seeker")


def sharp(world):
    """The same world with low costs where it is safe, and a low threshold: few visits flag."""
    P, r = (world.P[0], world.r[0]) if world.stationary else (world.P, world.r)
    c = np.where(world.unsafe, world.c, world.c / 10)
    return type(world)(P, r, c, 0.05, world.H, world.s1)


def coarse(world):
    """The same world with rewards of 0, ½ and 1: ties come up."""
    P, r = (world.P[0], world.r[0]) if world.stationary else (world.P, world.r)
    return type(world)(P, np.round(2 * r) / 2, world.c, world.tau, world.H, world.s1)


WORLDS = {
    "stationary": sharp(st.instances.random_mdp(7, 3, 5, seed=15, unsafe=0.3)),
    "with ties": coarse(sharp(st.instances.random_mdp(7, 3, 5, seed=15, unsafe=0.3))),
    "step-dependent": sharp(
        st.instances.random_mdp(7, 3, 5, seed=92, unsafe=0.3, stationary=False)
    ),
}
GAMES = {
    "stationary": sharp(st.instances.random_game(6, 3, 2, 4, seed=47, unsafe=0.3)),
    "with ties": coarse(sharp(st.instances.random_game(6, 3, 2, 4, seed=47, unsafe=0.3))),
    "step-dependent": sharp(
        st.instances.random_game(6, 3, 2, 4, seed=38, unsafe=0.3, stationary=False)
    ),
}


# ---- what is computed: arrays by name, and numbers to read ---------------------------------------


def history_of(history):
    """The parts of a history, and its sums."""
    arrays = {part: getattr(history, part) for part in ("reward", "violation", "regret")}
    return arrays, {part: array.sum() for part, array in arrays.items()}


def kept(learner, *names):
    """What a learner holds at the end, by the names of its attributes."""
    return {name: getattr(learner, name) for name in names}


def ran(make, names, world):
    learner = make(world.known)
    arrays, numbers = history_of(st.run(learner, world, seed=3, noise=NOISE))
    return arrays | kept(learner, *names), numbers


def played(world):
    """Every episode of SUCBVI, and what it knew when it was planned."""
    learner = st.SUCBVI(world.known, episodes=150, **LOUD)
    rows = [
        (e.states, e.actions, e.rewards, e.costs, learner.U.copy(), learner.V.copy())
        for _k, e in st.play(learner, world, seed=4, noise=NOISE)
    ]
    names = ("states", "actions", "rewards", "costs", "U", "V")
    arrays = {n: np.stack(x) for n, x in zip(names, zip(*rows, strict=True), strict=True)}
    arrays |= {"N": learner.transitions.N, "P_hat": learner.transitions.P_hat}
    arrays |= {"mean": learner.costs.mean}
    return arrays, {"reward": arrays["rewards"].sum(), "doomed": arrays["U"].sum()}


def duelled(make, adversary, game):
    learner = make(game.known, episodes=80, **LOUD)
    arrays, numbers = history_of(st.run(learner, game, seed=5, noise=NOISE, adversary=adversary))
    return arrays | kept(learner, "V", "Q", "U", "mu", "nu"), numbers


def faced(game):
    """Every episode of SafeNashVI, and what it knew when it was planned."""
    learner = st.SafeNashVI(game.known, episodes=60, **LOUD)
    rows = [
        (e.states, e.actions, e.replies, e.rewards, e.costs, learner.U.copy(), learner.mu.copy())
        for _k, e in st.play(learner, game, seed=6, noise=NOISE, adversary="hazard seeker")
    ]
    names = ("states", "actions", "replies", "rewards", "costs", "U", "mu")
    arrays = {n: np.stack(x) for n, x in zip(names, zip(*rows, strict=True), strict=True)}
    return arrays, {"reward": arrays["rewards"].sum(), "doomed": arrays["U"].sum()}


def explored(make, world, **how):
    """What was found while exploring, W̄ and U at the end, and plans for two rewards."""
    learner = make(world.known)
    found = st.explore(learner, world, seed=7, noise=NOISE, watch=world.r, **how)
    arrays = {"episodes": found.episodes, "finished": found.finished, "width": found.width}
    arrays |= {"violation": found.violation, "planned": found.planned}
    arrays |= kept(learner, "W", "U", "bonus", "cap", "policy")
    for name, r in (("own", world.r), ("other", 1 - world.r[::-1])):
        plan = learner.plan_for(r)
        arrays |= {f"{name} V": plan.V, f"{name} Q": plan.Q, f"{name} policy": plan.policy}
    numbers = {"episodes": found.episodes, "width": found.width[-1]}
    return arrays, numbers | {"violation": found.violation.sum()}


def audited(world):
    learner = st.SUCBVI(world.known, episodes=150, **LOUD)
    found = vars(st.audit(learner, world, seed=8, noise=NOISE))
    # An audit multiplies matrices, and BLAS adds in an order that depends on the processor.
    arrays = {name: x.round(9) + 0 if x.dtype == float else x for name, x in found.items()}
    return arrays, {name: arrays[name].sum() for name in ("value", "violation", "gap")}


def planned(world):
    """Sets and actions, plans, and what they are worth."""
    best, safe = st.optimal(world), st.safe_optimal(world)
    arrays = {"U": st.potentially_unsafe(world), "safe": st.safe_actions(world)}
    arrays |= {"printed U": st.potentially_unsafe(world, recursion="paper")}
    for name, plan in (("best", best), ("safe", safe)):
        arrays |= {f"{name} {key}": getattr(plan, key) for key in vars(plan)}
        arrays |= {f"{name} worth": [*vars(st.evaluate(world, plan.policy)).values()]}
    low, high = (st.evaluate(world, plan.policy).cost for plan in (safe, best))
    for share in (0.0, 0.3, 0.7, 1.0):
        plan = st.constrained_optimal(world, (1 - share) * low + share * high)
        arrays |= {f"within {share} {key}": value for key, value in vars(plan).items()}
        arrays |= {f"within {share} worth": [*vars(st.evaluate(world, plan.policy)).values()]}
    episodes = [st.rollout(world, plan.policy, seed, NOISE) for seed in range(20)]
    for part in ("states", "actions", "rewards", "costs"):
        arrays |= {part: np.stack([getattr(episode, part) for episode in episodes])}
    h, s = np.argwhere(arrays["U"] & ~world.unsafe)[0] + [1, 0]
    answers = st.witness(world, int(s), int(h)).answers
    arrays |= {"witness": np.array([(*at, t) for at, to in answers.items() for t in to])}
    return arrays, {"best": best.value, "safe": safe.value}


def equilibria(game):
    """Sets and actions, equilibria, best responses to them, and what they are worth."""
    best, safe = st.optimal(game), st.safe_optimal(game)
    arrays = {"U": st.potentially_unsafe(game), "safe": st.safe_actions(game)}
    for name, plan in (("best", best), ("safe", safe)):
        arrays |= {f"{name} {key}": getattr(plan, key) for key in vars(plan)}
        arrays |= {f"{name} worth": [*vars(st.evaluate(game, plan.mu, plan.nu)).values()]}
        for side in ("mu", "nu"):
            answer = st.best_response(game, **{side: getattr(plan, side)})
            arrays |= {f"to {name} {side} {key}": value for key, value in vars(answer).items()}
    return arrays, {"best": best.value, "safe": safe.value}


def matrices():
    """Matrix games of many shapes; every third has small whole numbers, so that ties come up."""
    rng = np.random.default_rng(9)
    arrays, total = {}, 0.0
    for i in range(40):
        M = rng.random(rng.integers(1, 6, size=2))
        answer = st.game_value(M if i % 3 else np.floor(3 * M))
        arrays |= {f"{i} {key}": value for key, value in vars(answer).items()}
        total += answer.value
    return arrays, {"value": total}


def worlds():
    """The worlds of the book."""
    make = st.instances
    everything = {
        "grid": make.grid(),
        "ice corridor": make.ice_corridor(),
        "smoke": make.smoke(),
        "laboratory": make.laboratory(),
        "school road": make.school_road(),
        "union counterexample": make.union_counterexample(),
        "violation tree": make.violation_tree(3, 2, 0.1, j=4),
        "regret tree": make.regret_tree(3, 2, 0.1, 0.05, j=2),
        "printed regret tree": make.regret_tree(3, 2, 0.1, 0.05, printed=True),
        "random": make.random_mdp(9, 2, 3, seed=1, stationary=False),
        "pursuit": make.pursuit(),
        "penny bridge": make.penny_bridge(),
        "quay": make.quay(seaward=True),
        "random game": make.random_game(5, 3, 2, 3, seed=1, stationary=False),
    }
    arrays = {}
    for name, world in everything.items():
        told = {"P": world.P, "r": world.r, "c": world.c, "rest": [world.tau, world.s1]}
        arrays |= {f"{name} {key}": value for key, value in told.items()}
    return arrays, {"states": sum(world.S for world in everything.values())}


def formulas():
    """Widths and right-hand sides, and divergences."""
    b, n, sizes = st.bounds, np.arange(200), {"S": 11, "A": 5, "H": 10}
    arrays = {
        "alpha": b.alpha(n, K=1000, delta=0.1, **sizes),
        "beta": b.beta(n, S=11, delta=0.1),
        "beta printed": b.beta_printed(n, S=11, K=1000, delta=0.1),
        "value width": b.value_width(n, K=1000, delta=0.1, **sizes),
        "l1 width": b.l1_width(n, K=1000, delta=0.1, **sizes),
        "gamma": b.gamma(n, delta=0.1, **sizes),
        "exploration bonus": b.exploration_bonus(n, delta=0.1, **sizes),
        "exploration episodes": b.exploration_episodes(epsilon=1.0, delta=0.1, **sizes),
        "visits until flagged": b.visits_until_flagged(0.3, S=11, delta=0.1),
        "regret": b.regret_bound(K=1000, delta=0.1, **sizes),
        "regret, masks": b.regret_bound_masks(K=1000, delta=0.1, **sizes),
        "dangerous pairs": b.most_dangerous_pairs(K=1000, delta=0.1, **sizes),
        "violation": b.violation_bound(11, 10, 1000, 0.2, unsafe=2, edges=99, delta=0.1),
        "violation, gap": b.violation_bound_gap(11, 10, 1000, 0.2, 2, 99, gap=0.8, delta=0.1),
        "violation from below": b.violation_lower_bound(8, 6, 1000, gap=0.02, regret=300.0),
        "regret from below": b.regret_lower_bound(8, 5, 1000, gap=0.02),
        "gaussian": st.divergence.kl_gaussian(np.linspace(0, 1, 9), 0.3, sigma=0.7),
        "bernoulli": st.divergence.kl_bernoulli(np.linspace(0, 1, 9), 0.3),
        "bretagnolle-huber": st.divergence.bretagnolle_huber(np.linspace(0, 3, 9)),
    }
    return arrays, {"regret": arrays["regret"], "violation": arrays["violation"]}


# ---- the cases -----------------------------------------------------------------------------------


def learners_of(world):
    """Learners with settings that let them flag, learn and fail in a few hundred episodes."""
    make, K = st.learners, 300  # more than one block of random numbers
    home = st.safe_optimal(world).policy
    cost = st.evaluate(world, home).cost
    coin = np.random.default_rng(1).dirichlet(np.ones(world.A), (world.H, world.S))
    loud = {"episodes": K, **LOUD}
    cheap = {"episodes": K, "bonus_scale": 1e-5, "delta": 0.5, "budget": 0.1}
    priced = {"episodes": K, "delta": 0.5, "budget": cost + 0.5}
    pessimist = {"safe_policy": home, "safe_cost": cost, "bonus_scale": 2e-3}
    tables = ("policy", "V", "Q", "U")
    return {
        "SUCBVI": (partial(make.SUCBVI, **loud), tables),
        "SUCBVI, printed recursion": (partial(make.SUCBVI, recursion="paper", **loud), tables),
        "UCBVI": (partial(make.UCBVI, **loud), tables),
        "OptCMDP": (partial(make.OptCMDP, **cheap), ("policy", "found")),
        "OptCMDP, clipped": (partial(make.OptCMDP, clip=True, **cheap), ("policy", "found")),
        "OptPess": (partial(make.OptPess, **pessimist, **priced), ("policy", "cautious")),
        "TripleQ": (
            partial(make.TripleQ, bonus_scale=1e-4, epsilon=0.1, **priced),
            ("policy", "Q", "C", "Z"),
        ),
        "Cautious": (partial(make.Cautious, caution=0.5, trusted=[0], **loud), tables),
        "ExploreThenCommit": (
            partial(make.ExploreThenCommit, episodes=K, share=0.301),
            ("policy", "flagged"),
        ),
        "FixedPolicy": (partial(make.FixedPolicy, episodes=K, policy=coin), ("policy",)),
        "UniformPolicy": (partial(make.UniformPolicy, episodes=K), ("policy",)),
    }


def informed(j):
    tree = st.instances.violation_tree(2, 2, 0.25, j=j)
    how = {"episodes": 300, "leaves": tree.leaves, "gap": 0.25, "caution": 1.0}
    return ran(partial(st.learners.Informed, **how), ("policy", "L", "home"), tree)


def all_cases():
    """A function without arguments for each name."""
    cases = {"Informed, τ_1": partial(informed, None), "Informed, τ_2": partial(informed, 2)}
    for kind, world in WORLDS.items():
        for name, (make, tables) in learners_of(world).items():
            cases[f"{name}, {kind}"] = partial(ran, make, tables, world)
        for make in (st.SRFUCRL, st.RFUCRL):
            scaled = partial(make, bonus_scale=1e-3, delta=0.5)
            close = partial(make, bonus_scale=1e-3, delta=0.5, epsilon=1.0)
            cases[f"{make.__name__}, {kind}"] = partial(explored, scaled, world, episodes=150)
            cases[f"{make.__name__} to the end, {kind}"] = partial(explored, close, world)
        cases[f"play, {kind}"] = partial(played, world)
        cases[f"audit, {kind}"] = partial(audited, world)
        cases[f"planning, {kind}"] = partial(planned, world)
    for kind, game in GAMES.items():
        for make in (st.SafeNashVI, st.NashVI):
            for adversary in ADVERSARIES:
                name = f"{make.__name__} against {adversary}, {kind}"
                cases[name] = partial(duelled, make, adversary, game)
        cases[f"face, {kind}"] = partial(faced, game)
        cases[f"equilibria, {kind}"] = partial(equilibria, game)
    return cases | {"matrix games": matrices, "instances": worlds, "formulas": formulas}


CASES = all_cases()


# ---- stored and new ------------------------------------------------------------------------------


def digest(arrays):
    """SHA-256 over names, types, shapes and bytes."""
    hashed = hashlib.sha256()
    for name, value in arrays.items():
        array = np.asarray(value)
        assert array.dtype in (np.float64, np.int64, np.bool_), (name, array.dtype)
        hashed.update(f"{name} {array.dtype.name} {array.shape} ".encode())
        hashed.update(array.tobytes())
    return hashed.hexdigest()


def outcome(name):
    """The digest of a case, and the numbers to read."""
    arrays, numbers = CASES[name]()
    read = {key: round(float(value), 9) for key, value in numbers.items()}
    return {"sha256": digest(arrays), **read}


def stored():
    return json.loads(FILE.read_text("utf-8"))


def changes(names, found):
    """One line for each case that is not what it was, with what can be read of it."""
    before = stored()
    return [
        f"{name} changed:\n    stored {before.get(name)}\n    new    {found[name]}"
        for name in names
        if found[name] != before.get(name)
    ]


def test_the_worlds_have_all_that_matters():
    for world in (*WORLDS.values(), *GAMES.values()):
        U = st.potentially_unsafe(world)
        assert not U[0, world.s1] and (U & ~world.unsafe).any()
        assert not st.safe_actions(world)[~U].all()
        assert st.optimal(world).value > st.safe_optimal(world).value + 0.1
    world = WORLDS["step-dependent"]
    printed = st.potentially_unsafe(world, recursion="paper")
    assert (printed != st.potentially_unsafe(world)).any()


def test_the_stored_runs_meet_danger_and_no_two_cases_are_the_same():
    before = stored()
    assert [*before] == [*CASES]
    assert len({case["sha256"] for case in before.values()}) == len(before)
    violation = {name: case["violation"] for name, case in before.items() if "violation" in case}
    assert len(violation) > 40 and min(violation.values()) > 0, violation


@pytest.mark.parametrize("name", CASES)
def test_compiled_the_bits_are_those_that_are_stored(name):
    changed = changes([name], {name: outcome(name)})
    assert not changed, changed[0]


PLAIN = """
import json
import sys
import numba
import quantecon

compile_it, plain = numba.njit, set()

def njit(*functions, **options):
    def own_are_plain(function):
        if not function.__module__.startswith("safeteach."):
            return compile_it(**options)(function)
        plain.add((function.__module__, function.__name__))
        return function
    return own_are_plain(*functions) if functions else own_are_plain

numba.njit = njit
sys.path.insert(0, sys.argv[1])
import test_golden
print(json.dumps({name: test_golden.outcome(name) for name in test_golden.CASES}))
assert len(plain) > 20, plain
"""


@pytest.mark.slow
def test_plain_the_bits_are_those_that_are_stored():
    """No kernel of the library is compiled; quantecon, which the games need, cannot do without."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN, str(FILE.parent)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    changed = changes(CASES, json.loads(done.stdout))
    assert not changed, "\n".join(changed)


if __name__ == "__main__":
    told = {name: outcome(name) for name in CASES}
    FILE.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
