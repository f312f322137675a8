"""Kernels as plain Python: what they do where something is wrong is what they do compiled.

What they do where all is well is compared in ``test_golden.py``, for every learner.
"""

import numpy as np
import pytest

import safeteach as st
from safeteach.planning import forward, pricing
from safeteach.running import loop

MDP = st.instances.random_mdp(6, 3, 4, seed=0, unsafe=0.4)
GAME = st.instances.random_game(6, 3, 2, 4, seed=47, unsafe=0.3)


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def form(request, monkeypatch):
    if request.param == "plain":
        kernels = [(loop, "_episode"), (loop, "worth"), (forward, "_are_probabilities")]
        kernels += [(pricing, "best_within")]
        for module, name in kernels:
            kernel = getattr(module, name)
            monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))


def step_2():
    """A state that step 2 can reach, and one of them that this seed does not."""
    (episode,) = (e for k, e in st.play(st.UCBVI(MDP.known, episodes=1), MDP, seed=3) if k == 0)
    able = MDP.successors(1, MDP.s1, int(episode.actions[0]))
    return int(episode.states[1]), next(s for s in able.tolist() if s != episode.states[1])


@pytest.mark.parametrize("met", [True, False], ids=["met", "only possible"])
def test_an_action_that_there_is_not_is_refused_where_it_could_be_taken(met):
    there, elsewhere = step_2()

    class Lost(st.UCBVI):
        def plan(self, rng):
            policy = super().plan(rng).copy()
            policy[1, there if met else elsewhere] = MDP.A
            return policy

    with pytest.raises(ValueError, match=r"\[1, \d\] is 3; the actions are 0\.\.2"):
        st.run(Lost(MDP.known, episodes=1), MDP, seed=3)


@pytest.mark.parametrize("row", [[0.5, 0.4, 0.0], [1.5, -0.5, 0.0], [np.nan] * 3])
def test_a_strategy_that_is_none_is_refused(row):
    class Odd(st.SafeNashVI):
        def plan(self, rng):
            mu = super().plan(rng).copy()
            mu[0, GAME.s1] = row
            self.mu = mu
            return mu

    with pytest.raises(ValueError, match="probabilities of actions must be nonnegative"):
        st.run(Odd(GAME.known, episodes=2), GAME, adversary="uniform")

    def odd(game, _mu, _nu):
        nu = np.full((game.H, game.S, game.B), 1 / game.B)
        nu[0, game.s1] = row[:2]
        return nu

    with pytest.raises(ValueError, match=r"nu\[0, \d\] is .*probabilities of actions must be nonn"):
        st.run(st.SafeNashVI(GAME.known, episodes=2), GAME, adversary=odd)


def test_a_budget_that_nobody_can_meet_is_refused_with_the_least_cost():
    with pytest.raises(st.BudgetError, match="the least expected cost of any policy is") as told:
        st.constrained_optimal(MDP, 0.0)
    least = float(str(told.value).split()[-1])
    assert st.constrained_optimal(MDP, least + 1e-4).cost == pytest.approx(least + 1e-4)
    with pytest.raises(st.BudgetError):
        st.constrained_optimal(MDP, least - 1e-4)
