"""The pictures of the chapter say and draw what runs and bounds have."""

import math
from itertools import product

import numpy as np
import pytest

import safeteach as st
from safeteach import bounds
from safeteach.chapters.what_the_constants_really_do import figures

POND, ICE = st.instances.grid(), st.instances.ice_corridor()


def by_gid(axes):
    """The data of the lines of some axes, by their names; several may share one."""
    found = {}
    for line in axes.lines:
        found.setdefault(line.get_gid(), []).append(line.get_xydata())
    return found


def texts(axes):
    return [text.get_text() for text in axes.texts]


# where a learner was --------------------------------------------------------------------------


def test_shares_of_the_visits_stand_in_their_cells_and_nowhere_else(legible, drawn):
    visits = np.zeros(POND.S)
    visits[[0, POND.s1]] = 30, 10
    figure = figures.whereabouts(POND, visits)
    legible(figure)
    assert drawn(figure, "visits") == sorted([("0",), (str(POND.s1),)])
    shades = {
        patch.get_gid(): patch.get_alpha() for patch in figure.axes[0].patches if patch.get_alpha()
    }
    assert shades["visits/0"] > shades[f"visits/{POND.s1}"]
    assert {"75%", "25%", "S", "G"} <= set(texts(figure.axes[0]))
    assert "(0,0) 75%, (2,0) 25%. All other cells: none." in figure.alt


# two widths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("mdp", "K", "delta"), [(POND, 20_000, 0.005), (ICE, 500, 0.2)])
def test_both_widths_are_drawn_and_where_they_cross_is_found_by_trying(on_paper, mdp, K, delta):
    figure = figures.widths(mdp, K, delta)
    on_paper(figure)
    above, below = map(by_gid, figure.axes)
    n = figures.LOOKS
    whole = bounds.alpha(n, mdp.S, mdp.A, mdp.H, K, delta)
    for scale in figures.SCALES:
        assert np.allclose(above[f"alpha/{scale:g}"][0], np.stack([n, scale * whole], axis=1))
    assert np.allclose(below["beta"][0], np.stack([n, bounds.beta(n, mdp.S, delta)], axis=1))
    every = np.arange(1, 50_000)
    heard = every[bounds.alpha(every, mdp.S, mdp.A, mdp.H, K, delta) < mdp.H][0]
    flagged = every[bounds.beta(every, mdp.S, delta) < 0.5][0]
    assert above["heard"][0].tolist() == [[heard, mdp.H]]
    assert below["flagged"][0].tolist() == [[flagged, 0.5]]
    assert f"H = {mdp.H} from n = {heard:,} on" in figure.alt
    assert f"There are {K / (mdp.S * mdp.A):,.0f} visits for each (h, s, a)" in figure.alt
    assert figure.alt.endswith(f"below the gap 0.5 from n = {flagged:,} on.")


# the sweep ------------------------------------------------------------------------------------


def test_every_run_has_a_mark_at_its_factor(on_paper):
    rng = np.random.default_rng(0)
    scales = [1, 0.1, 0.01, 0]
    reward = {"SUCBVI": rng.uniform(0, 4, (4, 3)), "UCBVI": rng.uniform(0, 7, (4, 3))}
    violation = {"SUCBVI": rng.uniform(90, 200, (4, 3)), "UCBVI": rng.uniform(7e3, 9e3, (4, 3))}
    figure = figures.sweep(scales, reward, violation, {"safe": 4, "best": 7.3}, proved=0.1)
    on_paper(figure)
    for axes, values in zip(figure.axes, (reward, violation), strict=True):
        lines = by_gid(axes)
        for name, runs in values.items():
            assert np.allclose(np.stack(lines[f"run/{name}"])[:, :, 1].T, runs)
            assert np.allclose(lines[name][0][:, 1], runs.mean(axis=1))
        (band,) = [patch for patch in axes.patches if patch.get_gid() == "proved"]
        assert (band.get_x(), band.get_width()) == (-0.5, 2)  # two factors are at least 0.1
        markers = {line.get_marker() for line in axes.lines if "run/" in str(line.get_gid())}
        assert markers == {"o", "s"}
    assert figure.axes[0].lines and "safe 4; best 7.3" in figure.alt
    assert figure.alt.endswith("The regret of SUCBVI is proved at 1, 0.1 only.")


# the other width ------------------------------------------------------------------------------


def test_each_curve_says_how_many_runs_lost_the_promise(legible):
    sums = {"β": np.full(100, 7.0), "0.1 β": np.arange(100) / 13, "0.01 β": np.arange(100)}
    figure = figures.shore(sums, {"β": 0, "0.1 β": 9, "0.01 β": 10}, runs=10)
    legible(figure)
    lines = by_gid(figure.axes[0])
    for name, total in sums.items():
        assert np.allclose(lines[name][0], np.stack([np.arange(1, 101), total], axis=1))
    said = texts(figure.axes[0])
    assert "β: false alarm in 0 of 10" in said and "0.1 β: false alarm in 9 of 10" in said
    assert len({line.get_linestyle() for line in figure.axes[0].lines}) > 1


# where each bound begins to speak -------------------------------------------------------------


def by_hand(mdp, delta):
    """Each bound from its formula, and what is true without it in an episode."""
    S, A, H, tau = mdp.S, mdp.A, mdp.H, mdp.tau
    into = st.potentially_unsafe(mdp)
    counts = {"edges": 0, "doom": 0, "most": S * S * A * (H - 1)}
    for h in range(1, H):
        for s in range(S):
            for a in range(A):
                t = mdp.successors(h, s, a)
                counts["edges"] += len(t)
                counts["doom"] += int(into[h, t].sum())
    gaps = (mdp.c - tau)[mdp.unsafe]
    looks = sum(g * (bounds.visits_until_flagged(g, S, delta) - 1 + H) for g in gaps)
    rows = [len(mdp.successors(*row)) for row in product(range(1, H + 1), range(S), range(A))]
    b = max(rows)

    def regret(K, kappa=1.0, successors=S):
        N = S * A * H * K / delta
        pairs = 2 * math.sqrt(S * A * H * H * K)
        return (
            S * A * H * H + 2 * H * math.sqrt(H * K / 2 * math.log(1 / delta))
            + kappa * 7 * H * math.sqrt(math.log(5 * N)) * pairs
            + H / 2 * math.sqrt(2 * (successors * math.log(2) + math.log(N))) * pairs
        )  # fmt: skip

    def variances(K):
        T, coins = H * K, 2 * (sum(rows) - S * A * H) * math.log(3)
        J = H * (coins + 2 * S * A * H * math.log(S * A * T / delta)) * (1 + math.log(K))
        bonuses = 14 * math.sqrt(H**3 * S * A * T * math.log(5 * S * A * T / delta))
        return H * math.sqrt(2 * T * math.log(1 / delta)) + bonuses + 3 * math.sqrt(T * J) + 5 * J

    def root(K, edges, unsafe):
        T = H * K
        late = 8 * math.sqrt(math.log(S * T * (T + 1) / delta) * unsafe * T)
        return (1 - tau) * H * edges + 2 * H * unsafe + late

    def gap(K):
        log = math.log(S * H * K * (H * K + 1) / delta)
        return (1 - tau) * H * counts["edges"] + gaps.size * (8 * log / gaps.min() + H)

    def ever(edges):
        return lambda _: (1 - tau) * H * counts[edges] + looks

    yield (
        H,
        "regret",
        {
            "in every world": regret,
            "few successors": lambda K: regret(K, successors=b),
            "few dangerous pairs": lambda K: bounds.regret_bound_masks(S, A, H, K, delta),
            "by variances": variances,
            "a tenth of the bonus": lambda K: regret(K, kappa=1 / (7 * math.sqrt(2))),
        },
    )
    yield (
        (1 - tau) * (H - 1),
        "violation",
        {
            "sizes only, root": lambda K: root(K, counts["most"], S - 1),
            "the water, for ever": ever("most"),
            "map, root": lambda K: root(K, counts["edges"], gaps.size),
            "map, gap": gap,
            "map, for ever": ever("edges"),
            "map, into doom": ever("doom"),
        },
    )


@pytest.mark.parametrize(("mdp", "delta"), [(POND, 0.005), (ICE, 0.1)])
def test_a_bound_begins_to_speak_where_it_falls_below_what_is_true_anyway(mdp, delta):
    begin = figures.begin_to_speak(mdp, delta)
    for trivial, about, rows in by_hand(mdp, delta):
        assert list(begin[about]) == list(rows)
        for name, bound in rows.items():
            K = begin[about][name]
            assert bound(K) < trivial * K, name
            assert bound(K - 1) >= trivial * (K - 1), name


@pytest.mark.parametrize("mdp", [POND, ICE])
def test_in_short_are_the_bounds_that_speak_first(mdp):
    begin = figures.begin_to_speak(mdp, 0.005)
    short, violation = figures.in_short(begin), begin["violation"]
    whole, tenth = short["regret"].values()
    sizes, water, known = short["violation"].values()
    assert (whole, tenth) == (
        begin["regret"]["in every world"], begin["regret"]["a tenth of the bonus"]
    )  # fmt: skip
    assert (sizes, water) == (violation["sizes only, root"], violation["the water, for ever"])
    assert known == min(violation.values())


def test_each_bound_has_a_mark_where_it_begins(legible):
    begin = {"regret": {"always": 10**8, "other": 4_000_000}, "violation": {"gap": 2_500}}
    figure = figures.speaks(begin, 20_000)
    legible(figure)
    lines = by_gid(figure.axes[0])
    assert lines["played"][0][0, 0] == 20_000
    for about, rows in begin.items():
        for name, K in rows.items():
            assert lines[f"{about}/{name}"][0][0, 0] == K
            assert f"{name} {K:,}" in figure.alt
            assert f"{K:,}" in texts(figure.axes[0])


# two doors ------------------------------------------------------------------------------------


def test_runs_that_are_stuck_stand_out(on_paper):
    regret, stuck = np.array([[30, 31, 29], [2, 60, 3]]), np.array([[0, 0, 0], [0, 1, 0]], bool)
    figure = figures.doors([1, 0], regret, stuck)
    on_paper(figure)
    lines = by_gid(figure.axes[0])
    assert sorted(lines["free/1"][0][:, 1]) == [2, 3]
    assert lines["stuck/1"][0][:, 1].tolist() == [60]
    assert lines["mean"][0][:, 1].tolist() == [30, pytest.approx(65 / 3)]
    assert [text for text in texts(figure.axes[0]) if text.isdigit()] == ["0", "1"]


# the server room ------------------------------------------------------------------------------


def test_unsafe_hours_are_counted(legible):
    rng = np.random.default_rng(1)
    bad = {"UCBVI": rng.random(20_000) < 0.7, "SUCBVI": rng.random(20_000) < 0.1}
    bad["told"] = np.arange(20_000) < 12
    figure = figures.room(bad)
    legible(figure)
    lines = by_gid(figure.axes[0])
    for name, hours in bad.items():
        k, total = lines[name][0].T
        assert np.array_equal(total, np.cumsum(hours)[k.astype(int) - 1])
        assert (k[0], k[-1]) == (1, 20_000)
        assert f"{name}: {hours.sum():,}, {hours[10_000:].sum():,} of them" in figure.alt
    assert "told: 12, 0 of them in the second half." in figure.alt
