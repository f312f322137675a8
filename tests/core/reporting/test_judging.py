"""The verdict on a world and on its neighbours, against other ways to find the same."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import safeteach as st
from safeteach.reporting import judging, sensitivity
from safeteach.reporting.judging import Verdict, changed, judge
from safeteach.reporting.sensitivity import (
    by_beginning,
    by_dropping,
    by_horizon,
    by_threshold,
    first_doomed_horizon,
)


def drawn(seed, stationary=True, S=5, A=2, H=4, **named):
    return st.instances.random_mdp(
        S, A, H, seed, successors=2, unsafe=0.3, stationary=stationary, **named
    )


def anew(mdp, steps=slice(None), **other):
    """The same world from its tables, without the report's own way to change one."""
    told = {"P": mdp.P[steps], "r": mdp.r[steps], "tau": mdp.tau, "H": len(mdp.r[steps])} | other
    return st.SafeMDP(c=mdp.c, s1=mdp.s1, **told)


def by_the_library(mdp):
    feasible = st.is_feasible(mdp)
    return Verdict(
        feasible,
        safe=st.safe_optimal(mdp).value if feasible else None,
        best=st.optimal(mdp).value,
        reckless=st.constrained_optimal(mdp, risk=1).risk,
        least=st.least_risk(mdp).risk,
    )


def same(one, other, but=()):
    """Whether two verdicts are one, up to rounding."""
    for name, x in vars(one).items():
        y = vars(other)[name]
        if name not in but:
            assert (x is None) == (y is None), name
            assert x is None or x == pytest.approx(y, abs=1e-11), name
    return True


WORLDS = [drawn(seed, stationary) for seed in range(30) for stationary in (True, False)]


def test_there_are_worlds_of_both_kinds():
    verdicts = [judge(mdp) for mdp in WORLDS]
    assert 10 < sum(found.feasible for found in verdicts) < 50
    assert sum(0 < found.reckless < 1 for found in verdicts) > 10


def test_a_verdict_is_what_the_library_says():
    for mdp in WORLDS:
        assert same(judge(mdp), by_the_library(mdp))


def test_a_verdict_without_values_says_only_whether():
    for mdp in WORLDS[:10]:
        found = judge(mdp, values=False)
        feasible = st.is_feasible(mdp)
        assert found == Verdict(feasible, least=0.0 if feasible else None)


@pytest.mark.parametrize("seed", range(6))
def test_the_risk_of_the_best_is_the_least_of_all_policies_that_earn_as_much(seed):
    """Of all policies, with rewards that are often equal."""
    mdp = drawn(seed, S=3, H=3)
    mdp = anew(mdp, r=np.round(mdp.r))
    best, risk = -1.0, 1.0
    for actions in itertools.product(range(mdp.A), repeat=mdp.H * mdp.S):
        found = st.evaluate(mdp, np.reshape(actions, (mdp.H, mdp.S)))
        if found.value > best + 1e-9:
            best, risk = found.value, found.unsafe_probability
        elif found.value > best - 1e-9:
            risk = min(risk, found.unsafe_probability)
    assert judge(mdp).best == pytest.approx(best)
    assert judge(mdp).reckless == pytest.approx(risk)


@pytest.mark.parametrize("mdp", WORLDS[:6], ids=repr)
def test_a_changed_world_is_the_same_in_all_else(mdp):
    assert changed(mdp) == anew(mdp, P=mdp.P[0] if mdp.stationary else mdp.P)
    assert changed(mdp, tau=0.1).tau == 0.1
    shorter = changed(mdp, H=2)
    assert np.array_equal(shorter.P, mdp.P[:2]) and np.array_equal(shorter.r, mdp.r[:2])


def cases_of(mdp):
    return [case.verdict for case in by_horizon(mdp)], [case.at for case in by_horizon(mdp)]


@pytest.mark.parametrize("seed", range(20))
def test_three_plans_tell_all_horizons_of_a_steady_world(seed):
    mdp = drawn(seed)
    cases = by_horizon(mdp)
    assert [case.at for case in cases] == [*range(1, 2 * mdp.H + 1)]
    assert [case.at for case in cases if case.own] == [mdp.H]
    for case in cases:
        whole = anew(mdp, P=mdp.P[0], r=mdp.r[0], H=case.at)
        assert same(case.verdict, by_the_library(whole), but=["reckless"])


@pytest.mark.parametrize("mdp", [drawn(3, stationary=False), drawn(4)], ids=["P", "r"])
def test_other_worlds_are_cut_short(mdp):
    if mdp.stationary:
        mdp = anew(mdp, P=mdp.P[0], r=np.random.default_rng(0).random(mdp.r.shape))
    cases = by_horizon(mdp)
    assert [case.at for case in cases] == [*range(1, mdp.H + 1)]
    assert cases[-1].own and not any(case.own for case in cases[:-1])
    for case in cases:
        assert same(case.verdict, by_the_library(anew(mdp, slice(case.at))))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("stationary", [True, False])
def test_a_later_beginning_is_the_rest_of_the_schedule(seed, stationary):
    """And there it is safe exactly where the start is not doomed yet."""
    mdp = drawn(seed, stationary)
    mdp = anew(
        mdp, P=mdp.P[0] if stationary else mdp.P, r=np.random.default_rng(seed).random(mdp.r.shape)
    )
    cases = by_beginning(mdp)
    assert [case.at for case in cases] == [*range(1, mdp.H + 1)]
    assert cases[0].own and not any(case.own for case in cases[1:])
    for case in cases:
        assert same(case.verdict, by_the_library(anew(mdp, slice(case.at - 1, None))))
        assert case.verdict.feasible != st.potentially_unsafe(mdp)[case.at - 1, mdp.s1]


def test_of_many_horizons_some_are_shown_and_those_that_matter_among_them():
    chain = np.eye(61)[[[min(s + 1, 60)] for s in range(61)]]
    c = np.arange(61) == 60
    mdp = st.SafeMDP(chain, np.zeros((61, 1)), c, 0.5, H=37)
    shown = [case.at for case in by_horizon(mdp)]
    assert len(shown) <= sensitivity.MOST_CASES and {1, 37, 60, 61, 74} <= set(shown)
    assert [case.verdict.feasible for case in by_horizon(mdp)] == [at <= 60 for at in shown]
    by_steps = anew(mdp, r=np.random.default_rng(0).random(mdp.r.shape), P=chain)
    assert {1, 37} <= {case.at for case in by_horizon(by_steps)}
    assert len(by_horizon(by_steps)) <= sensitivity.FEWER_CASES
    assert {1, 37} <= {case.at for case in by_beginning(by_steps)}
    assert len(by_beginning(by_steps)) <= sensitivity.FEWER_CASES


@pytest.mark.parametrize("seed", range(30))
def test_the_first_horizon_without_a_safe_policy(seed):
    mdp = drawn(seed, S=6)
    longer = (anew(mdp, P=mdp.P[0], r=mdp.r[0], H=H) for H in range(1, 12))
    without = [world.H for world in longer if not st.is_feasible(world)]
    assert first_doomed_horizon(mdp) == (without[0] if without else None)


def test_the_thresholds_are_the_costs_and_a_higher_one_allows_more():
    rng = np.random.default_rng(0)
    for mdp in WORLDS[:20]:
        mdp = anew(mdp, P=mdp.P[0] if mdp.stationary else mdp.P)
        mdp = st.SafeMDP(mdp.P, mdp.r, rng.choice([0.1, 0.3, 0.3, 0.8], mdp.S), rng.random(), mdp.H)
        cases = by_threshold(mdp)
        assert {case.at for case in cases} == {0.0, *mdp.c.tolist()}
        (own,) = [case for case in cases if case.own]
        assert same(own.verdict, by_the_library(mdp)) and own.count == mdp.unsafe.sum()
        ends = [*(case.at for case in cases[1:]), 1.0]
        for case, end in zip(cases, ends, strict=True):
            between = anew(mdp, tau=(case.at + end) / 2)
            assert same(case.verdict, by_the_library(between))
            assert case.count == between.unsafe.sum()
        for one, next_one in itertools.pairwise(case.verdict for case in cases):
            assert next_one.feasible >= one.feasible
            assert next_one.least <= one.least
            assert not one.feasible or next_one.safe >= one.safe
        assert cases[-1].verdict.feasible and cases[-1].count == 0


def test_of_many_costs_some_are_shown_and_the_own_among_them():
    mdp = st.SafeMDP(np.eye(40)[:, None], np.zeros((40, 1)), np.arange(40) / 40, 0.6, 3)
    cases = by_threshold(mdp)
    assert len(cases) <= sensitivity.FEWER_CASES
    assert [case.at for case in cases if case.own] == [0.6]


def test_without_small_probabilities_the_verdict_may_change():
    windy = [1 - 1e-5 - 1e-10, 1e-5, 1e-10]
    P = [[windy], [[0, 1, 0]], [[0, 0, 1]]]
    mdp = st.SafeMDP(P, [[1], [0], [0]], [0, 0, 1], 0.5, H=10)
    own, less, least = by_dropping(mdp)
    assert own.own and own.verdict == judge(mdp) and not own.verdict.feasible
    assert (less.at, less.count) == (1e-9, 1) and less.verdict.feasible
    assert (least.at, least.count) == (1e-4, 2) and least.verdict.safe == 10
    for case in (less, least):
        dropped = anew(mdp, P=mdp.P[0], r=mdp.r[0], H=mdp.H, drop_below=case.at)
        assert same(case.verdict, by_the_library(dropped))
        assert case.hidden == dropped.hidden_risk > 0
        risk = st.evaluate(mdp, np.zeros((10, 3), int)).unsafe_probability
        assert abs(risk - case.verdict.least) <= case.hidden


def test_no_row_is_dropped_whole():
    even = np.full((20, 1, 20), 0.05)
    assert [
        case.at for case in by_dropping(st.SafeMDP(even, np.zeros((20, 1)), [0] * 20, 0, 2))
    ] == [0]
    by_steps = drawn(0, stationary=False)
    assert not by_dropping(by_steps)[0].at


@pytest.mark.parametrize("stationary", [True, False])
def test_what_takes_too_long_is_left_out(monkeypatch, stationary):
    mdp = drawn(1, stationary)
    assert not judging.takes_too_long(mdp, passes=3)
    assert judging.steps_taken(mdp) == np.count_nonzero(mdp.P)
    monkeypatch.setattr(judging, "MOST_ARROWS", 2 * judging.steps_taken(mdp))
    assert judging.takes_too_long(mdp, passes=3) and not judging.takes_too_long(mdp, passes=2)
    assert by_horizon(mdp) == []
    for case in [*by_threshold(mdp), *by_dropping(mdp)]:
        assert replace(case.verdict, feasible=True, least=None) == Verdict(True)
    monkeypatch.setattr(judging, "MOST_ARROWS", 10**9)
    monkeypatch.setattr(judging, "MOST_VALUES", mdp.H * mdp.S - 1)
    assert judging.takes_too_long(mdp)
