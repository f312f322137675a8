"""Doomed states and safe actions of 10^5 worlds, against all plans in them and against Storm.

Every world is asked twice, once with numpy alone and once compiled.
"""

import numpy as np
import pytest
from oracles.many_worlds import SIZES, by_all_plans, by_storm, draw, world

import safeteach as st
from safeteach.worlds import rows

BATCH = 250


def compare(sizes, seed, n):
    """What n worlds have of each kind: doomed though not unsafe, free, banned, feasible or not."""
    support, unsafe = draw(sizes, n, seed)
    s1 = np.random.default_rng(seed).integers(sizes.S, size=n)
    U, safe = by_all_plans(sizes, support, unsafe)
    for theirs, ours in zip(by_storm(sizes, support, unsafe), (U, safe), strict=True):
        assert (theirs == ours).all()
    for i in range(n):
        w = world(sizes, support[i], unsafe[i], int(s1[i]))
        assert (st.potentially_unsafe(w) == U[i]).all()
        assert (st.safe_actions(w) == safe[i]).all()
        assert st.is_feasible(w) == (not U[i, 0, s1[i]])
        if sizes.stationary:
            assert (st.potentially_unsafe(w, recursion="paper") == U[i]).all()
            until = st.doomed_until(w)
            assert until.dtype == np.int64
            assert (until == U[i].sum(axis=0)).all()  # nested: as many sets as the last one's step
    feasible = ~U[np.arange(n), 0, s1]
    doomed = U & ~unsafe[:, None]
    return doomed.sum(), (~U).sum(), (~safe).sum(), feasible.sum(), (~feasible).sum()


@pytest.fixture(params=["numpy", "compiled"])
def form(request, monkeypatch):
    monkeypatch.setattr(rows, "MANY", 0 if request.param == "compiled" else 10**9)


@pytest.mark.usefixtures("form")
def test_sets_equal_all_plans_and_storm():
    met = np.array([compare(sizes, seed=0, n=40) for sizes in SIZES])
    assert (met.sum(axis=0) > 200).all()
    longer = np.array([sizes.H > 1 and sizes.S > 1 for sizes in SIZES])
    assert (met[longer] > 0).all()


@pytest.mark.thorough
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_sets_of_many_worlds_equal_all_plans_and_storm(sizes):
    many = 100_000 // len(SIZES) // BATCH + 1
    for seed in range(1, many + 1):
        compare(sizes, seed, BATCH)
