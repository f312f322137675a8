"""The contract of a learner: settings are read off the constructor, and none is forgotten."""

import inspect

import numpy as np
import pytest
from core.learners.test_no_peeking import EXPLORERS, GAME_NAMES, PLANS, build, build_for_game

import safeteach as st
from safeteach.learners.contract import check_same_world, settings_of

MDP = st.instances.union_counterexample()
LEARNERS = [
    *map(build, PLANS),
    *map(build_for_game, GAME_NAMES),
    *(getattr(st, name)(MDP.known, epsilon=0.5) for name in EXPLORERS),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_learner_built_from_its_settings_has_the_same_settings(learner):
    told = settings_of(learner)
    assert list(told) == list(inspect.signature(type(learner)).parameters)[1:]
    again = settings_of(type(learner)(learner.known, **told))
    assert told.keys() == again.keys()
    assert all(np.array_equal(told[name], again[name]) for name in told)


def test_a_setting_of_a_subclass_is_not_forgotten():
    class Mine(st.SUCBVI):
        def __init__(self, known, *, episodes, patience=3):
            super().__init__(known, episodes=episodes)
            self.patience = patience

    assert settings_of(Mine(MDP.known, episodes=5)) == {"episodes": 5, "patience": 3}


def test_a_setting_that_is_not_kept_is_named():
    class Mine(st.SUCBVI):
        def __init__(self, known, *, episodes, patience=3):  # noqa: ARG002
            super().__init__(known, episodes=episodes)

    with pytest.raises(AttributeError, match=r"^Mine does not keep its setting patience: "):
        settings_of(Mine(MDP.known, episodes=5))


def test_settings_without_names_are_refused():
    class Mine(st.SUCBVI):
        def __init__(self, known, **settings):
            super().__init__(known, **settings)

    with pytest.raises(TypeError, match=r"^Mine takes \*\*settings, so nobody can tell"):
        settings_of(Mine(MDP.known, episodes=5))


def test_a_game_is_another_world_than_an_mdp():
    game = st.instances.random_game(MDP.S, MDP.A, 2, MDP.H, seed=0)
    with pytest.raises(ValueError, match=r"^the learner was built for a world with B = 0; this"):
        check_same_world(MDP.known, game)
