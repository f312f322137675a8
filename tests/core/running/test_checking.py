"""check_learner: every learner of the library passes, and each thing that is missing is named."""

from functools import partial

import numpy as np
import pytest
from core.learners.test_no_peeking import EXPLORERS, GAME, GAME_NAMES, PLANS, build

import safeteach as st

MDP = st.instances.ice_corridor()


@pytest.mark.parametrize("name", PLANS)
def test_the_learners_of_the_library_lack_nothing(name):
    make = partial(build, name)
    st.check_learner(make, st.instances.random_mdp(6, 3, 4, seed=0, unsafe=0.4))


@pytest.mark.parametrize("name", EXPLORERS)
def test_the_explorers_lack_nothing(name):
    st.check_learner(getattr(st, name))


@pytest.mark.parametrize("name", GAME_NAMES)
def test_the_learners_of_games_lack_nothing(name):
    st.check_learner(getattr(st, name), GAME)


class Careless:
    """The least that is a learner: it goes where its coins say."""

    def __init__(self, known, *, episodes):
        self.known, self.episodes = known, episodes

    def plan(self, rng):
        return rng.integers(self.known.A, size=(self.known.H, self.known.S))

    def observe(self, episode):
        pass


class Strategist(Careless):
    """The same in games."""

    def plan(self, rng):
        self.nu = np.full((self.known.H, self.known.S, self.known.B), 1 / self.known.B)
        return np.eye(self.known.A)[super().plan(rng)]


def test_the_least_that_is_a_learner_is_one():
    st.check_learner(Careless)
    assert len(st.run(Careless(MDP.known, episodes=5), MDP).reward) == 5


class Demanding(Careless):
    def __init__(self, known, *, episodes, patience):
        super().__init__(known, episodes=episodes)
        self.patience = patience


class Forgetful(Careless):
    def __init__(self, known, *, episodes, patience=3):  # noqa: ARG002
        super().__init__(known, episodes=episodes)


class Nameless(Careless):
    def __init__(self, known, **settings):
        super().__init__(known, **settings)


class Unknowing(Careless):
    def __init__(self, known, *, episodes):
        self.episodes, self.sizes = episodes, (known.H, known.S)


class Mute(Careless):
    plan = observe = None


class Lost(Careless):
    def plan(self, rng):
        return super().plan(rng) + self.known.A


class Unfair(Careless):
    def plan(self, _rng):
        return np.ones((self.known.H, self.known.S, self.known.A))


class Clumsy(Careless):
    def observe(self, _episode):
        raise ZeroDivisionError("division by zero.")


class Gambler(Careless):
    coins = np.random.default_rng(0)

    def plan(self, _rng):
        return super().plan(self.coins)


@pytest.mark.parametrize(
    ("make", "sentences"),
    [
        (Demanding, ["It cannot be built from what is known of a world: TypeError: .*'patience'."]),
        (Forgetful, ["Forgetful does not keep its setting patience: its constructor should say"]),
        (Nameless, [r"Nameless takes \*\*settings, so nobody can tell its settings"]),
        (Unknowing, ["It does not keep what it is told of the world"]),
        (Mute, [r"It has no method plan\(rng\), which", r"It has no method observe\(episode\)"]),
        (Lost, [r"It cannot play: ValueError: Lost in episode 1, at step 1 in state .*: policy\["]),
        (Unfair, ["It cannot play: ValueError: .*probabilities of actions must be nonnegative"]),
        (Clumsy, [r"It cannot play: ZeroDivisionError: division by zero\.$"]),
        (Gambler, ["Two of them with the same seed go different ways"]),
    ],
)
def test_what_is_missing_is_said_in_sentences(make, sentences):
    with pytest.raises(ValueError, match=f"^{make.__name__} is not a learner yet:\n- ") as told:
        st.check_learner(make)
    assert len(str(told.value).split("\n- ")) == 1 + len(sentences)
    for sentence in sentences:
        assert told.match(f"- {sentence}")


def test_a_learner_of_games_says_what_it_expects_of_the_adversary():
    st.check_learner(Strategist, GAME)
    with pytest.raises(ValueError, match="It does not say what it expects of the adversary: after"):
        st.check_learner(Careless, GAME)
