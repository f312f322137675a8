"""Worlds in PRISM's language: what the library says of them is what Storm says."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import stormpy
from oracles.storm import minimal_risk, storm_model

import safeteach as st
from safeteach.exchange import prism

WALK = Path(__file__).parent / "walk.nm"


def built(text, path, options=None):
    path.write_text(text)
    options = options or stormpy.BuilderOptions(build_full=True)
    return stormpy.build_model(stormpy.parse_prism_program(str(path)), options=options)


def walk(n=3, **more):
    return st.from_prism(WALK, "stairs", H=4, reward="pace", constants={"N": n}, **more)


def test_a_file_says_a_world():
    world = walk()
    assert [world.state_name(s) for s in range(4)] == ["x=0", "x=1", "x=2", "x=3"]
    assert [world.action_name(a) for a in range(3)] == ["step", "run", "fall"]
    assert world.P[0, :, 0].tolist() == [[0, 1, 0, 0]] * 3 + [[0, 0, 0, 1]]
    np.testing.assert_allclose(
        world.P[0, :3, 1], [[0, 0.9, 0.1, 0], [0, 0, 0.9, 0.1], [0, 0, 0, 1]]
    )
    assert world.c.tolist() == [0, 0, 0, 1] and (world.low, world.high) == (0, 2)
    assert world.copied.tolist() == [[0, 2, 0], [1, 2, 0], [2, 2, 0], [3, 0, 2], [3, 1, 2]]
    assert (2 * world.r[0, :, 1]).tolist() == [2, 2, 2, 0]
    assert st.from_prism(WALK, "stairs", H=4, constants={"N": 3}).r.max() == 0


def test_storm_says_which_states_are_lost():
    for n in (2, 3, 6):
        world = walk(n)
        U = st.potentially_unsafe(world)
        model = storm_model(world)
        for h in range(1, world.H + 1):
            np.testing.assert_array_equal(U[h - 1], minimal_risk(model, world.H - h) > 0)


@pytest.mark.parametrize("seed", range(20))
def test_a_model_of_storm_is_the_world_it_was_made_of(seed):
    world = st.instances.random_mdp(2 + seed % 4, 1 + seed % 3, 5, seed, successors=2)
    again = st.from_prism(storm_model(world), "unsafe", world.H)
    np.testing.assert_array_equal(again.P, world.P)
    np.testing.assert_array_equal(again.unsafe, world.unsafe)
    np.testing.assert_array_equal(st.potentially_unsafe(again), st.potentially_unsafe(world))
    assert again.s1 == world.s1 and again.state_name(1) == "1" and again.action_name(0) == "0"


TWO = """mdp
module m
  x : [0..2]; y : bool;
  [go] x=0 -> (x'=1);
  [go] x=0 -> (x'=2) & (y'=true);
  [] x>0 -> true;
endmodule
label "bad" = x=2;
rewards "all" x=1 : 3; [go] true : 0.5; endrewards"""


def test_choices_with_one_name_are_called_by_number(tmp_path):
    world = st.from_prism(built(TWO, tmp_path / "two.nm"), "bad", 3, reward="all")
    assert [world.action_name(a) for a in range(2)] == ["0", "1"]
    assert world.state_name(2) == "x=2, y=true" and world.state_name(0) == "x=0, y=false"
    assert (world.high * world.r[0]).tolist() == [[0.5, 0.5], [3, 3], [0, 0]]
    twice = TWO.replace("[] x>0", "[go] x>0")
    world = st.from_prism(built(twice, tmp_path / "two.nm"), "bad", 3)
    assert [world.action_name(a) for a in range(2)] == ["0", "1"]
    bare = stormpy.BuilderOptions()
    bare.set_build_all_labels()
    world = st.from_prism(built(TWO, tmp_path / "two.nm", bare), "bad", 3)
    assert world.state_name(2) == "2" and world.action_name(1) == "1"


def test_a_chain_is_a_world_with_one_action(tmp_path):
    text = """dtmc
    module m
      x : [0..2];
      [] x<2 -> 0.5:(x'=x+1) + 0.5:(x'=0);
      [] x=2 -> true;
    endmodule
    label "end" = x=2;"""
    world = st.from_prism(built(text, tmp_path / "chain.nm"), "end", H=3)
    assert world.A == 1 and world.P[0, :, 0].tolist() == [[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0, 1]]
    assert st.evaluate(world, np.zeros((3, 3), int)).unsafe_probability == 0.25


def test_what_cannot_be_read_is_refused(tmp_path):
    def refused(error, model=WALK, unsafe="stairs", **more):
        with pytest.raises((TypeError, ValueError), match=error):
            st.from_prism(model, unsafe, 3, **{"constants": {"N": 3}} | more)

    refused(r"model is '.*nowhere.nm', which is no file", tmp_path / "nowhere.nm")
    refused(r"expected what Storm can read and build \(.*undefined constants", constants=None)
    refused(r"with constants \{'M': 3\}; expected what Storm can read", constants={"M": 3})
    refused("unsafe is 'stair'; expected .*\"stairs\"", unsafe="stair")
    refused("reward is 'pay'; expected \"pace\"", reward="pay")
    refused(r"tau is 1; in \[0, 1\)", tau=1)
    refused("model is 5; expected the path of a PRISM file", 5)
    model = built(TWO, tmp_path / "two.nm")
    refused("constants are .*; expected None, because model is built", model, "bad")
    program = stormpy.parse_prism_program(str(tmp_path / "two.nm"))
    full = stormpy.BuilderOptions(build_full=True)
    exact = stormpy.build_model[stormpy.Rational](program, options=full)
    refused("model has exact or parametric", exact, "bad", constants=None)
    (tmp_path / "many.nm").write_text(TWO.replace("label", "init x<2 endinit\nlabel"))
    refused("model has 4 initial states; expected one", tmp_path / "many.nm", "bad", constants={})
    timed = """ctmc
    module m
      x : [0..1];
      <> x=0 -> 2.0:(x'=1);
      <> x=1 -> 2.0:(x'=1);
    endmodule"""
    refused("model is 'CTMC'; expected", built(timed, tmp_path / "t.nm"), "bad", constants=None)


def test_rewards_of_transitions_are_refused():
    model = SimpleNamespace(reward_models={"tolls": SimpleNamespace(has_transition_rewards=True)})
    with pytest.raises(ValueError, match="reward tolls is of transitions; expected one of states"):
        prism._rewards(model, "tolls")
