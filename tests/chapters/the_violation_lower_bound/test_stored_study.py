"""The stored study of the lower bounds is what the library makes today, and keeps to the bounds."""

import json
import math

import lower_bounds as study
import numpy as np
import pytest
import storing
import studies

import safeteach as st
from safeteach.figures.learning_curves import half_width

POINTS = study.points()
AGAIN = "run `make lower-bounds`"
KINDS = ("violation", "regret")


@pytest.fixture(scope="module")
def stored():
    with np.load(study.STUDY.file) as file:
        return dict(file)


@pytest.fixture(scope="module")
def about(stored):
    return json.loads(str(stored["about"]))


def of_kind(kind):
    return [point for point in POINTS if point.world.kind == kind]


def mean_and_half(values):
    """Of each row, over the runs that there are."""
    rows = [row[~np.isnan(row)] for row in values]
    return np.array([[row.mean(), half_width(row[:, None])[0]] for row in rows]).T


def test_it_was_made_by_this_code(about):
    assert about["code"] == storing.code_digest(study.__file__), f"the library has changed: {AGAIN}"


def test_it_says_how_it_was_made(about):
    today = json.loads(json.dumps(study.STUDY.about()))
    assert about | {"code": ""} == today | {"code": ""}, AGAIN


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_is_there_with_its_size(stored, kind):
    told = of_kind(kind)
    for column, expected in {
        "names": [point.name for point in told],
        "families": [point.family for point in told],
        "A": [point.world.A for point in told],
        "depth": [point.world.depth for point in told],
        "episodes": [point.world.episodes for point in told],
        "runs": [point.runs for point in told],
    }.items():
        assert stored[f"{kind}_{column}"].tolist() == expected, AGAIN
    assert len({(p.name, p.world) for p in told}) == len(told)
    for column in ("x", "y") if kind == "violation" else ("R1", "Rj", "C1", "Cj"):
        there = ~np.isnan(stored[f"{kind}_{column}"])
        assert there.sum(axis=1).tolist() == [point.runs for point in told]


def test_the_file_is_small():
    assert study.STUDY.file.stat().st_size < 150_000


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_are_those_of_the_papers_trees(stored, kind):
    A, depth, n, S, steps = (
        stored[f"{kind}_{name}"] for name in ("A", "depth", "leaves", "states", "steps")
    )
    if kind == "violation":
        assert (n == A**depth).all() and (steps == 2 * depth).all()
        assert (n * A == S * (A - 1) + 1).all()
    else:
        assert (n == (A - 1) ** depth).all() and (steps == 2 * depth - 1).all()
        assert (n * (A - 1) == (S - 3) * (A - 2) + 1).all()


def test_gaps_are_those_of_the_proofs(stored):
    n, K, steps = (stored[f"violation_{name}"] for name in ("leaves", "episodes", "steps"))
    papers = stored["violation_kappa"] == 0.25
    gap = stored["violation_gap"]
    assert np.allclose(gap[papers], np.sqrt((n - 1) / (4 * K * steps))[papers])
    assert np.allclose(K * steps * gap**2 / (n - 1), stored["violation_kappa"])
    n, K, depth = (stored[f"regret_{name}"] for name in ("leaves", "episodes", "depth"))
    gap, unsafe_gap = stored["regret_gap"], stored["regret_unsafe_gap"]
    assert np.allclose(gap, np.sqrt((n - 1) / K) / 4)
    assert np.allclose(unsafe_gap, (3 * depth * K) ** -0.25)
    assert (unsafe_gap >= 2 * gap).all() and (unsafe_gap <= 0.5).all() and (2 * (n - 1) <= K).all()


@pytest.mark.parametrize("kind", KINDS)
def test_j_is_the_leaf_that_was_tried_least(stored, kind):
    tried, special, n = (stored[f"{kind}_{name}"] for name in ("tried", "special", "leaves"))
    for row, j, leaves in zip(tried, special, n, strict=True):
        assert not np.isnan(row[:leaves]).any() and np.isnan(row[leaves:]).all()
        assert 2 <= j <= leaves and row[j - 1] == row[1:leaves].min()
    K = stored[f"{kind}_episodes"]
    total = np.nansum(tried, axis=1)
    if kind == "violation":
        assert np.allclose(total, K)
    else:
        runs_to_U = stored["regret_C1"] / stored["regret_steps"][:, None]
        moving = stored["regret_families"] != "fixed"  # the others have their expectations
        assert np.allclose((total + np.nanmean(runs_to_U, axis=1))[moving], K[moving])


def test_nobody_is_where_the_trade_off_forbids(stored):
    """With x and y at the upper ends of their intervals, and of most even without."""
    x, x_half = mean_and_half(stored["violation_x"])
    y, y_half = mean_and_half(stored["violation_y"])
    kappa = stored["violation_kappa"]
    for i, name in enumerate(stored["violation_names"]):
        assert y[i] + y_half[i] >= st.bounds.tradeoff(x[i] + x_half[i], kappa[i]), name
    above = y - np.exp(-kappa * x / 2) / 2 + x
    assert (above > 0).all()


def test_the_proofs_own_inequality_holds_with_the_divergence_that_was_spent(stored):
    """x + y_j >= ½exp(-D_j), D_j = H' E_1[t_j] gap²/2, up to the intervals."""
    x, x_half = mean_and_half(stored["violation_x"])
    y, y_half = mean_and_half(stored["violation_y"])
    special = stored["violation_special"]
    tried = stored["violation_tried"][np.arange(len(x)), special - 1]
    divergence = stored["violation_steps"] * tried * stored["violation_gap"] ** 2 / 2
    assert (x + x_half + y + y_half >= st.divergence.bretagnolle_huber(divergence)).all()
    n, K = stored["violation_leaves"], stored["violation_episodes"]
    assert (
        tried <= np.where(n > 1, (K - stored["violation_tried"][:, 0]) / (n - 1), 0) + 1e-9
    ).all()


def test_points_that_are_known_without_a_run(stored):
    x, y = np.nanmean(stored["violation_x"], axis=1), np.nanmean(stored["violation_y"], axis=1)
    n = stored["violation_leaves"]
    for name, where in {
        "leaf 1": (0 * n, 0 * n + 1),
        "leaf 2": (0 * n + 1, 0 * n),
        "coin": (0 * n + 0.5, 0 * n + 0.5),
        "uniform": (1 - 1 / n, 1 / n),
    }.items():
        here = stored["violation_names"] == name
        assert here.sum() > 10
        assert np.allclose(x[here], where[0][here]) and np.allclose(y[here], where[1][here])


def test_dials_spread_once_the_worlds_can_be_told_apart(stored):
    """The informed come nearer to the region the larger kappa is, and reach from end to end."""
    x, y = np.nanmean(stored["violation_x"], axis=1), np.nanmean(stored["violation_y"], axis=1)
    least = []
    for kappa in study.KAPPAS:
        here = (stored["violation_kappa"] == kappa) & (stored["violation_families"] == "informed")
        here &= (stored["violation_leaves"] == 8) & (stored["violation_episodes"] == 1000)
        assert here.sum() == len(study.FAMILIES["informed"])
        least.append((x + y)[here].min())
    assert least[0] > 0.9 > 0.85 > least[1] > 0.6 > least[2]


def price(stored):
    """R_1 + R_j + Δ'C_1 + (Δ'-2Δ)C_j, mean and half width."""
    gap, unsafe_gap = stored["regret_gap"][:, None], stored["regret_unsafe_gap"][:, None]
    one = mean_and_half(stored["regret_R1"] + unsafe_gap * stored["regret_C1"])
    other = mean_and_half(stored["regret_Rj"] + (unsafe_gap - 2 * gap) * stored["regret_Cj"])
    return one[0] + other[0], np.hypot(one[1], other[1])


def test_nobody_pays_less_than_the_floor(stored):
    total, _half = price(stored)
    for i, point in enumerate(of_kind("regret")):
        w = point.world
        gap = math.sqrt((w.leaves - 1) / w.episodes) / 4
        floor = (
            w.steps
            * gap
            * w.episodes
            / 2
            * (1 - 16 * gap**2) ** (w.episodes / (2 * (w.leaves - 1)))
        )
        assert stored["regret_floor"][i] == pytest.approx(floor)
        assert floor >= w.steps * math.sqrt((w.leaves - 1) * w.episodes) / 16
        assert total[i] >= floor, point.name


def test_what_regret_and_violation_make_together_on_tau_1_is_the_detours(stored):
    """R_1 + Δ'C_1 = H'Δ(K - T_1) in each mean: what is gained in sU is taken off again."""
    moving = stored["regret_families"] != "fixed"
    left = np.nanmean(
        stored["regret_R1"] + stored["regret_unsafe_gap"][:, None] * stored["regret_C1"], axis=1
    )
    K, steps, gap = (stored[f"regret_{name}"] for name in ("episodes", "steps", "gap"))
    right = steps * gap * (K - stored["regret_tried"][:, 0])
    plain = ~np.isin(stored["regret_names"], ["OptCMDP", "Commit 0.1"])  # these draw actions
    assert np.allclose(left[moving & plain], right[moving & plain])


def test_the_best_policy_of_all_goes_through_the_unsafe_door(stored):
    steps = stored["regret_steps"][:, None]
    assert np.allclose(stored["regret_best"], steps * (0.5 + stored["regret_unsafe_gap"][:, None]))
    gap = stored["regret_gap"]
    assert np.allclose(stored["regret_safe"][:, 0], steps[:, 0] * (0.5 + gap))
    assert np.allclose(stored["regret_safe"][:, 1], steps[:, 0] * (0.5 + 2 * gap))
    K = stored["regret_episodes"]
    door = stored["regret_names"] == "door U"
    lost = (
        stored["regret_R1"] + (K * (stored["regret_best"] - stored["regret_safe"])[:, 0])[:, None]
    )
    assert np.allclose(lost[door][:, 0], 0, atol=1e-8)
    freely = stored["regret_names"] == "UCBVI"
    safely = stored["regret_names"] == "SUCBVI"
    for this, that in zip(np.nanmean(lost[freely], 1), np.nanmean(lost[safely], 1), strict=True):
        assert this < that


RERUN = [
    ("violation", "Informed 0", 0.25, 100, None),
    ("violation", "Cautious 0.1", 16.0, 1000, 2),
    ("violation", "OptPess", 0.25, 100, 2),
    ("regret", "SUCBVI", 0.25, 316, 2),
    ("regret", "Commit 0.1", 0.25, 100, None),
]


@pytest.mark.parametrize(("kind", "name", "kappa", "K", "world"), RERUN)
def test_a_run_made_again_is_the_stored_one(stored, kind, name, kappa, K, world):
    told = of_kind(kind)
    (i,) = [
        i
        for i, p in enumerate(told)
        if (p.name, p.world.kappa, p.world.episodes, p.world.leaves) == (name, kappa, K, 8)
    ]
    point = told[i] if world is None else told[i].at(int(stored[f"{kind}_special"][i]))
    assert point.seeds().start == (0 if world is None else 10_000)
    lives = study.live(study.replace(point, runs=1))
    assert lives.digest == stored[f"{kind}_digests"][i][0 if world is None else 1], AGAIN
    most = K * point.world.steps
    if kind == "violation":
        column, value = (
            ("x", lives.value / most) if world is None else ("y", 1 - lives.value / most)
        )
    else:
        safe = st.safe_optimal(point.world.tree()).value
        column, value = "R1" if world is None else "Rj", K * safe - lives.value
        violation = stored["regret_C1" if world is None else "regret_Cj"][i, 0]
        assert violation == lives.violation[0]
    assert stored[f"{kind}_{column}"][i, 0] == value[0]


def test_lives_are_what_run_says():
    world = study.World("violation", 2, 2, 150, 4.0, j=3)
    point = study.Point("Cautious 0.25", "cautious", world, 3)
    lives = study.live(point)
    for i, seed in enumerate(point.seeds()):
        history = st.run(point.learner(), world.tree(), seed)
        best = st.safe_optimal(world.tree()).value
        assert lives.value[i] == pytest.approx((best - history.regret).sum())
        assert lives.violation[i] == pytest.approx(history.violation.sum())
    assert (lives.ends.sum(axis=1) == 150).all()
    # in a leaf other than 1 and 3 an episode violates gap·H'
    assert np.allclose(lives.ends[:, [1, 3]].sum(axis=1) * world.gap * 4, lives.violation)


@pytest.mark.parametrize("kind", KINDS)
def test_ways_lead_where_they_should(kind):
    tree = study.World(kind, 3, 2, 100).tree()
    for i in range(1, len(tree.leaves) + 1):
        policy = study.way_to(tree, i)
        learner = st.learners.FixedPolicy(tree.known, episodes=1, policy=policy)
        ((_, episode),) = st.play(learner, tree)
        assert episode.states[tree.depth] == tree.leaves[i - 1]


@pytest.mark.thorough  # test_jobs interrupts jobs in general
def test_interrupted_it_goes_on_where_it_stopped(tmp_path):
    """A study with the runs of a first try in its folder runs the others only."""
    worlds = [study.World("violation", 2, 2, 20), study.World("regret", 3, 2, 20)]
    points = [study.Point("SUCBVI", "published", world, 2) for world in worlds]
    small = study.LowerBounds("small", "small", "?", points)
    file, bench = tmp_path / "data" / "small.npz", studies.Bench(tmp_path / "runs")
    studies.make(small, file, bench)
    first, runs = file.read_bytes(), sorted(bench.folder.iterdir())
    assert len(runs) == 4
    runs[0].unlink()
    times = [run.stat().st_mtime_ns for run in runs[1:]]
    studies.make(small, file, bench)
    assert file.read_bytes() == first
    assert sorted(bench.folder.iterdir()) == runs
    assert [run.stat().st_mtime_ns for run in runs[1:]] == times
    assert [*file.parent.iterdir()] == [file]
