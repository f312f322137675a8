"""A moment of a run: the map shows what the learner believes, and the line what it has paid."""

import itertools

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_algorithm import figures

ICE = st.instances.ice_corridor()
POND = st.instances.grid()


def moment(mdp, seed=0):
    """Any beliefs, actions, visits and violations: a figure draws what it is given."""
    rng = np.random.default_rng(seed)
    U = rng.random((mdp.H, mdp.S)) < 0.3
    U[:, U[-1]] = True  # a flagged state is in every U_h^k
    policy = rng.integers(mdp.A, size=U.shape)
    return U, policy, rng.integers(0, 40_000, size=U.shape), rng.random(50)


@pytest.mark.parametrize("mdp", [ICE, POND], ids=["corridor", "pond"])
@pytest.mark.parametrize("h", [None, 1, 5, 10])
def test_every_cell_shows_belief_truth_and_action(mdp, h, drawn):
    U, policy, visits, paid = moment(mdp)
    figure = figures.replay(mdp, U, policy, visits, paid, k=20, h=h)
    steps = range(mdp.H) if h is None else [h - 1]
    known = {s for s in range(mdp.S) if any(U[i, s] for i in steps)}
    flagged = set(np.flatnonzero(U[-1]).tolist())
    truth = st.potentially_unsafe(mdp)
    doomed = {s for s in range(mdp.S) if any(truth[i, s] for i in steps)}
    names = {s: "flagged" if s in flagged else "known to be doomed" for s in known}
    assert drawn(figure, "state") == sorted((str(s), name) for s, name in names.items())
    assert drawn(figure, "unknown") == sorted((str(s),) for s in doomed - known)
    arrows = [] if h is None else sorted((str(s), str(a)) for s, a in enumerate(policy[h - 1]))
    assert drawn(figure, "policy") == arrows


def test_every_cell_has_the_number_of_its_visits():
    U, policy, visits, paid = moment(ICE)
    visits[:] = 0
    visits[4] = [0, 7, 999, 1000, 1049, 1051, 9_949, 9_951, 43_210, 999_499, 10**6, 5, 3]
    visits[2] = 1
    for h, times in ((5, visits[4]), (None, visits[4] + 1)):
        figure = figures.replay(ICE, U, policy, visits, paid, k=1, h=h)
        numbers = [t.get_text() for t in figure.axes[0].texts if t.get_text()[0].isdigit()]
        assert len(numbers) == ICE.S
        for shown, n in zip(numbers, times, strict=True):
            unit = {"k": 1e3, "M": 1e6}.get(shown[-1], 1)
            value = float(shown.rstrip("kM")) * unit
            assert len(shown) <= 4
            assert abs(value - n) <= (0 if unit == 1 else 0.05 * n)


@pytest.mark.parametrize("k", [1, 2, 31, 50])
def test_the_line_is_what_was_paid_before_the_episode(k):
    *seen, paid = moment(ICE)
    figure = figures.replay(ICE, *seen, paid, k=k)
    lines = {line.get_gid(): line.get_xydata() for line in figure.axes[1].lines}
    assert np.allclose(lines["so far"][:, 1], [sum(paid[:i]) for i in range(k)])
    assert np.allclose(lines["to come"][:, 1], [sum(paid[:i]) for i in range(51)])
    assert np.allclose(lines["now"], [[k - 1, sum(paid[: k - 1])]])
    assert f"Violation so far: {sum(paid[: k - 1]):,.6g} of {sum(paid):,.6g}" in figure.alt


def test_the_words_follow_the_data():
    U, policy, visits, paid = moment(ICE)
    U[:] = False
    figure = figures.replay(ICE, U, policy, visits * 0, paid * 0, k=1, h=10)
    assert figure.alt == (
        "Before episode 1 of 50, step 10. Flagged: none. Known to be doomed: none. Doomed and not "
        "yet known: (2,3). Most visited: (0,0), 0 times. The policy leads "
        f"{ICE.action_name(policy[9, ICE.s1])} from the start. Violation so far: 0 of 0 in the "
        "whole run."
    )
    together = figures.replay(ICE, U, policy, visits, paid, k=1).alt
    assert "all steps" in together
    assert "not yet known: (1,1), (1,2), (1,3), (2,3)." in together
    assert "policy" not in together


@pytest.mark.parametrize("mdp", [ICE, POND], ids=["corridor", "pond"])
def test_one_size_and_legible(mdp, written, on_paper):
    sizes = set()
    *seen, paid = moment(mdp)
    for k, h, much in ((1, None, 0), (50, 3, 1), (50, 3, 3_000)):
        figure = figures.replay(mdp, *seen, paid * much, k=k, h=h)
        on_paper(figure)
        on_map = [box for text, box in written(figure).items() if text in figure.axes[0].texts]
        assert len(on_map) > mdp.S
        for one, other in itertools.combinations(on_map, 2):
            assert not one.overlaps(other)
        sizes.add(tuple(figure.get_size_inches()))
    assert len(sizes) == 1


def test_what_cannot_be_drawn():
    U, policy, visits, paid = moment(ICE)
    with pytest.raises(TypeError, match="only a GridMDP has a map"):
        figures.replay(st.instances.union_counterexample(), U, policy, visits, paid, k=1)
    wide = st.instances.grid_from_map("S" + "." * 8, H=2)
    with pytest.raises(ValueError, match="1 by 9 cells; with numbers"):
        figures.replay(wide, *moment(wide), k=1)
    with pytest.raises(ValueError, match=r"U has shape \(13,\); expected \(H, S\) = \(10, 13\)"):
        figures.replay(ICE, U[0], policy, visits, paid, k=1)
    with pytest.raises(ValueError, match=r"visits has shape \(9, 13\)"):
        figures.replay(ICE, U, policy, visits[1:], paid, k=1)
    with pytest.raises(ValueError, match="policy holds probabilities"):
        figures.replay(ICE, U, np.full((10, 13, 4), 0.25), visits, paid, k=1)
    for k in (0, 51):
        with pytest.raises(ValueError, match=f"k is {k} and violation has shape"):
            figures.replay(ICE, U, policy, visits, paid, k=k)
    with pytest.raises(ValueError, match="h is 11; the steps are"):
        figures.replay(ICE, U, policy, visits, paid, k=1, h=11)
