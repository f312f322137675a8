"""A world stays what it is: attributes and arrays, in memory, in a pickle and in a copy."""

import copy
import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as some
from looping import many

import safeteach as st

R = st.instances.random_mdp(4, 2, 3, seed=0)
WORLDS = {
    "dense": R,
    "stepwise": st.instances.random_mdp(4, 2, 3, seed=0, stationary=False),
    "sparse": st.SafeMDP(sp.csr_array(R.P[0].reshape(8, 4)), R.r[0], R.c, R.tau, R.H),
    "named": st.instances.laboratory(),
    "dropped": st.SafeMDP([[[1 - 1e-12, 1e-12]], [[0, 1]]], [[0], [0]], [0, 1], 0.5, 3,
                          drop_below=1e-9),
    "grid": st.instances.grid(),
    "smoke": st.instances.smoke(),
    "tree": st.instances.regret_tree(3, 2, 0.1, 0.1, j=2),
    "game": st.instances.random_game(4, 3, 2, 3, seed=0),
    "pursuit": st.instances.pursuit(),
}  # fmt: skip
each_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


def touched(world):
    """The world, after everything that it computes when it is asked has been asked for."""
    world.all_rows()
    assert world.known.S == world.S and hash(world) == hash(world) and world == world
    st.potentially_unsafe(world)
    return world


def arrays_of(world):
    """Every array that can be reached from a world."""
    found = [world.P, world.support(), world.known.r, *world.all_rows(), world.P.base]
    for h in range(1, world.H + 1):
        found += [*vars(world.rows(h)).values()]
    return [x for x in (*found, *vars(world).values()) if isinstance(x, np.ndarray)]


def read_back(world, protocol):
    return pickle.loads(pickle.dumps(world, protocol))


@each_world
def test_no_attribute_can_be_set_or_deleted(world):
    before = pickle.dumps(world)
    for name in ("tau", "unsafe", "r", "S", "H", "s1", "_steps", "known", "P", "anything"):
        said = f"{name} cannot be changed: a {type(world).__name__} stays what it is; build a new"
        with pytest.raises(AttributeError, match=re.escape(said)):
            setattr(world, name, 0.05)
        with pytest.raises(AttributeError, match=re.escape(said)):
            delattr(world, name)
    with pytest.raises(AttributeError, match="cannot be changed"):
        world.__init__(world.P, world.r, world.c, world.tau, world.H, **told_of(world))
    assert pickle.dumps(world) == before


def told_of(world):
    names = {"GridMDP": ("map", "cells"), "PursuitGame": ("map", "positions"),
             "TreeMDP": ("degree", "depth", "gap", "special")}  # fmt: skip
    return {name: getattr(world, name) for name in names.get(type(world).__name__, ())}


@each_world
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_world_is_the_same_and_as_frozen(world, protocol):
    back = read_back(touched(world), protocol)
    assert back == world and hash(back) == hash(world) and back is not world
    assert repr(back) == repr(world) and type(back) is type(world)
    assert (back.P == world.P).all() and (back.r == world.r).all() and (back.c == world.c).all()
    assert (st.potentially_unsafe(back) == st.potentially_unsafe(world)).all()
    for array in (*arrays_of(world), *arrays_of(back)):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError, match="tau cannot be changed"):
        back.tau = 0.05


@each_world
def test_a_copy_is_the_world_itself(world):
    assert copy.copy(world) is world and copy.deepcopy(world) is world
    assert copy.deepcopy([world])[0] is world


@each_world
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_what_was_computed_is_no_part_of_a_pickle(world, protocol):
    fresh = read_back(world, protocol)
    before = pickle.dumps(fresh, protocol)
    assert len(vars(touched(fresh))) > len(vars(read_back(world, protocol)))
    assert pickle.dumps(fresh, protocol) == before


def test_rewards_of_one_step_are_kept_once():
    mdp = st.SafeMDP(np.ones((1, 1, 1)), [[0.5]], [0], 0.5, H=10**6)
    assert mdp.r.shape == (10**6, 1, 1) and len(pickle.dumps(mdp)) < 2000
    assert len(pickle.dumps(mdp.known)) < 2000
    back = read_back(mdp, 5)
    assert back.r.strides == back.known.r.strides == mdp.r.strides
    assert back.r.shape == mdp.r.shape and back == mdp and back.known == mdp.known


def test_the_known_is_as_frozen_as_its_world():
    for known in (R.known, WORLDS["stepwise"].known, WORLDS["game"].known):
        assert known == known and known != R
        for back in (pickle.loads(pickle.dumps(known)), copy.copy(known), copy.deepcopy(known)):
            assert back == known and hash(back) == hash(known) and back.B == known.B
            with pytest.raises(ValueError, match="read-only"):
                back.r[0] = 0
            assert back.r.base is None or not back.r.base.flags.writeable
            with pytest.raises(AttributeError):
                back.tau = 0.1
    assert R.known.r is R.r and R.known is R.known
    assert R.known != WORLDS["stepwise"].known


def test_the_rewards_of_a_known_are_nobody_elses():
    r = np.zeros((3, 2, 2))
    known = st.Known(2, 2, 3, r, 0.5, 0)
    r[:] = 1
    assert not known.r.any() and r.flags.writeable
    assert st.Known(2, 2, 3, r.tolist(), 0.5, 0).r.dtype == float


def test_equal_worlds_are_those_that_were_told_the_same():
    def build(kind=st.SafeMDP, **change):
        told = {"P": R.P[0], "r": R.r[0], "c": R.c, "tau": 0.5, "H": 3, "s1": 0} | change
        return kind(**told)

    same = [build(), build(r=R.r), build(P=sp.csc_array(R.P[0].reshape(8, 4))), R]
    for world in same:
        assert world == build() and hash(world) == hash(build())
    assert len({*same}) == 1
    other = [
        build(P=R.P),
        build(P=R.P[0][:, ::-1]),
        build(r=1 - R.r[0]),
        build(r=R.r * np.array([1, 1, 0.5])[:, None, None]),
        build(c=R.c[::-1]),
        build(tau=0.25),
        build(H=4),
        build(s1=1),
        build(state_names=list("abcd")),
        build(action_names=list("ab")),
        build(kind=type("Own", (st.SafeMDP,), {})),
        st.SafeGame(R.P[0][:, :, None], R.r[0][:, :, None], R.c, 0.5, 3),
    ]
    for i, world in enumerate(other):
        assert world not in other[:i] and world not in same
        assert world == world and world != "a world" and world != world.P.tolist()
    grids = [st.instances.grid_from_map(text, H=2) for text in ("S.G", "S.G", "SG.")]
    assert grids[0] == grids[1] and grids[0] != grids[2]


class Marked(st.SafeMDP):
    """A world of somebody's own, with something more to say."""

    def __init__(self, *args, mark, **named):
        self.mark = np.array(mark)
        super().__init__(*args, **named)


def test_a_world_of_ones_own_says_more_before_it_is_closed():
    mine = Marked(R.P[0], R.r[0], R.c, 0.5, 3, mark=[1, 2])
    assert mine == read_back(mine, 4) != Marked(R.P[0], R.r[0], R.c, 0.5, 3, mark=[1, 3])
    with pytest.raises(AttributeError, match="mark cannot be changed: a Marked stays what it is"):
        mine.mark = 3
    assert not read_back(mine, 4).mark.flags.writeable


@settings(deadline=None, max_examples=many(18, 50))
@given(some.integers(1, 5), some.integers(1, 3), some.integers(1, 4), some.integers(0, 99),
       some.booleans())  # fmt: skip
def test_any_world_survives_its_pickle(S, A, H, seed, stationary):
    world = st.instances.random_mdp(S, A, H, seed, successors=1, stationary=stationary)
    back = pickle.loads(pickle.dumps(world))
    assert back == world and pickle.dumps(back) == pickle.dumps(world)
    another = st.instances.random_mdp(S, A, H, seed + 1, successors=1, stationary=stationary)
    assert another != world
