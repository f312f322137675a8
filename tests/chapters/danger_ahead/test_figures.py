"""The graph convicts exactly the doomed states, and the map shows them."""

import itertools
import re

import numpy as np
import pytest
from looping import each, many

import safeteach as st
from safeteach.chapters.danger_ahead.figures import LANDSCAPE, looking_back, terrain, way

POND, ICE = st.instances.grid(), st.instances.ice_corridor()
CROSSING = st.instances.union_counterexample()


def walker():
    """A world with the names of the walker's, whose places are given."""
    names = list(LANDSCAPE)
    P = np.tile(np.roll(np.eye(7), 1, axis=1)[:, None], (1, 2, 1))
    P[names.index("bridge"), 1] = np.eye(7)[names.index("river")]
    return st.SafeMDP(
        P, np.zeros((7, 2)), np.eye(7)[6], tau=0.5, H=5, state_names=names, action_names=["a", "b"]
    )


def small(seed):
    return st.instances.random_mdp(5, 2, 4, seed, unsafe=0.25, stationary=seed % 2 == 0)


WORLDS = [CROSSING, walker(), *map(small, range(many(2, 6)))]


def gids(figure, kind):
    """The names behind a kind of artist, split, wherever they were drawn."""
    found = [artist.get_gid() for artist in figure.axes[0].get_children()]
    return [gid.split("/")[1:] for gid in found if gid and gid.startswith(f"{kind}/")]


@each("mdp", WORLDS)
@pytest.mark.parametrize("recursion", ["exact", "paper"])
def test_the_graph_shows_the_sets(mdp, recursion):
    U = st.potentially_unsafe(mdp, recursion)
    for h in range(1, mdp.H + 1):
        figure = looking_back(mdp, h, recursion)
        kinds = {int(s): kind for s, kind in gids(figure, "state")}
        assert {s for s, kind in kinds.items() if kind != "safe"} == set(np.flatnonzero(U[h - 1]))
        new = {int(s) for (s,) in gids(figure, "new")}
        later = U[h] if h < mdp.H else U[h - 1]
        assert new == set(np.flatnonzero(U[h - 1] & ~later))
        assert gids(figure, "now") == [[str(h)]]


@each("mdp", WORLDS)
def test_a_state_is_doomed_if_all_its_boxes_are_bad(mdp):
    U = st.potentially_unsafe(mdp)
    for h in range(1, mdp.H):
        figure = looking_back(mdp, h)
        bad = {s: [] for s in range(mdp.S)}
        actions = dict.fromkeys(range(mdp.S), 0)
        for s, joined, kind in gids(figure, "box"):
            bad[int(s)].append(kind == "risky")
            actions[int(s)] += len(joined.split(","))
        assert set(actions.values()) == {mdp.A}
        assert [all(bad[s]) or bool(mdp.unsafe[s]) for s in range(mdp.S)] == U[h - 1].tolist()
        for s, joined, t, kind in gids(figure, "delta"):
            for a in map(int, joined.split(",")):
                assert int(t) in mdp.successors(h, int(s), a)
            assert (kind == "doomed") == U[h, int(t)]


def test_after_the_last_step_no_arrow_is_bad():
    figure = looking_back(CROSSING, CROSSING.H)
    assert {kind for *_, kind in gids(figure, "delta")} == {"free"}
    assert "After the last step nothing counts." in figure.alt


def test_what_the_sets_start_from_is_said_where_it_matters(written):
    """Where transitions do not depend on the step both recursions are the same."""
    for recursion, origin in (("exact", "the unsafe states"), ("paper", "the set after it")):
        said = f"Each set starts from {origin}."
        figure = looking_back(CROSSING, 3, recursion)
        assert figure.alt.endswith(said)
        assert said in {text.get_text() for text in written(figure)}
        assert "starts from" not in looking_back(walker(), 3, recursion).alt


@each("mdp", WORLDS)
def test_steps_lie_on_the_same_sheet(mdp):
    sizes = {tuple(looking_back(mdp, h).get_size_inches()) for h in range(1, mdp.H + 1)}
    assert len(sizes) == 1


def test_what_is_known_stands_below_the_graph():
    said = [text.get_text() for text in looking_back(CROSSING, 3).axes[0].texts]
    assert said.count("?") == 2
    assert [text for text in said if text.startswith("step ")] == [f"step {h}" for h in range(1, 5)]


def test_a_graph_has_few_states():
    with pytest.raises(ValueError, match="13 states"):
        looking_back(ICE, 1)
    with pytest.raises((TypeError, ValueError)):
        looking_back(CROSSING, 5)


@each("mdp", [POND, ICE])
def test_the_map_shows_the_doomed_cells(mdp):
    U = st.potentially_unsafe(mdp)
    for h in range(1, mdp.H + 1):
        figure = terrain(mdp, h)
        assert {int(s) for s, _ in gids(figure, "state")} == set(np.flatnonzero(U[h - 1]))
        later = U[min(h, mdp.H - 1)]
        assert {int(s) for (s,) in gids(figure, "new")} == set(np.flatnonzero(U[h - 1] & ~later))


def test_without_a_step_the_map_is_only_ground():
    figure = terrain(POND)
    assert gids(figure, "state") == []
    assert "Doomed" not in figure.alt
    assert {text.get_text() for text in figure.axes[0].texts} == {"S", "G", "ice", "water"}


def test_no_route_leaves_the_goal_or_enters_a_doomed_cell_if_it_is_safe():
    safe = st.safe_optimal(POND).policy
    cells = way(POND, safe)
    assert POND.map[POND.cells[cells[-1]][0]][POND.cells[cells[-1]][1]] == "G"
    assert len(set(cells)) == len(cells)
    assert not st.potentially_unsafe(POND)[0, cells].any()
    figure = terrain(POND, 1, {"short": st.optimal(POND).policy, "safe": safe})
    assert [name for (name,) in gids(figure, "route")] == ["short", "safe"]
    assert "The way of safe: (2,0), (1,0), (0,0)" in figure.alt


def test_a_way_follows_what_is_likeliest():
    mdp = small(2)
    policy = np.full((mdp.H, mdp.S, mdp.A), [0.9, 0.1])
    states = way(mdp, policy)
    for h, (s, t) in enumerate(itertools.pairwise(states)):
        assert mdp.P[h, s, 0].argmax() == t
    assert states[0] == mdp.s1


def test_a_map_has_two_routes_at_most_and_needs_no_ice():
    policy = st.optimal(ICE).policy
    with pytest.raises(ValueError, match="3 routes"):
        terrain(ICE, routes=dict.fromkeys("abc", policy))
    dry = terrain(st.instances.grid_from_map("S.", H=2), routes=None)
    assert re.search(r"Ice: none\. Water: none\.$", dry.alt)
    stays = st.instances.grid_from_map("S.", H=2)
    terrain(stays, routes={"stays": np.zeros((2, 2), int)})


@each("call", [lambda: terrain(CROSSING), lambda: looking_back(3, 1), lambda: terrain(POND, 13)])
def test_wrong_calls(call):
    with pytest.raises((TypeError, ValueError)):
        call()
