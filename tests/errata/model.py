"""Slips in what the paper says of the model: Section 3, Section 4.1 and Appendix E.

A class is an entry of ``book/appendix/errata.toml``: ``LeafSteps`` belongs to ``leaf-steps``.
``printed`` says whether what the paper prints holds on the worlds that are tried, ``corrected``
whether what the entry puts in its place does.  Nobody makes an instance.
"""

import numpy as np
from oracles.brute_force import all_policies, meets_unsafe

import safeteach as st


def small_worlds():
    """Worlds with few policies, their transitions free to change with the step."""
    return [
        st.instances.random_mdp(3, 2, 3, seed, unsafe=0.4, stationary=False) for seed in range(150)
    ]


def doomed_by_trying(mdp, h):
    """(S,) bool: whether every policy, from s at step h, can meet an unsafe state."""
    policies = all_policies(mdp)
    return np.array(
        [meets_unsafe(mdp, policies, h, one).all() for one in np.eye(mdp.S, dtype=bool)]
    )


class FirstReward:
    """Q^π(s, a): what is earned by taking a at step 1 and following π from then on."""

    def is_what_that_earns(first_reward):
        mdp = st.instances.random_mdp(4, 3, 3, seed=1, stationary=False)
        pi = np.random.default_rng(0).integers(mdp.A, size=(mdp.H, mdp.S))
        V = [0.0] * mdp.S
        for i in (2, 1):
            V = [mdp.r[i, s, pi[i, s]] + mdp.P[i, s, pi[i, s]] @ V for s in range(mdp.S)]
        for a in range(mdp.A):
            changed = pi.copy()
            changed[0, mdp.s1] = a
            Q = first_reward(mdp, pi, a) + mdp.P[0, mdp.s1, a] @ V
            if not np.isclose(Q, st.evaluate(mdp, changed).value):
                return False
        return True

    def printed():
        return FirstReward.is_what_that_earns(lambda mdp, pi, _: mdp.r[0, mdp.s1, pi[0, mdp.s1]])

    def corrected():
        return FirstReward.is_what_that_earns(lambda mdp, _, a: mdp.r[0, mdp.s1, a])


class Union:
    """U_h is the set of the states from which no policy is safe."""

    def is_that_set(recursion):
        return all(
            (st.potentially_unsafe(mdp, recursion=recursion)[h - 1] == doomed_by_trying(mdp, h))
            .all()
            for mdp in small_worlds()
            for h in (1, 2, 3)
        )  # fmt: skip

    def printed():
        return Union.is_that_set("paper")

    def corrected():
        return Union.is_that_set("exact")


class Equivalence:
    """s_1 is outside U_1 exactly where a feasible policy exists; of each world, from every state.

    The crossing at the moment when the tracks are free is one of the worlds.
    """

    def holds(recursion):
        crossing = st.instances.union_counterexample()
        free = st.SafeMDP(crossing.P[1:], crossing.r[1:], crossing.c, crossing.tau, H=3, s1=1)
        return all(
            st.potentially_unsafe(mdp, recursion=recursion)[0, mdp.s1]
            == meets_unsafe(mdp, all_policies(mdp), 1, np.eye(mdp.S, dtype=bool)[mdp.s1]).all()
            for mdp in [free, *small_worlds()]
        )

    def printed():
        return Equivalence.holds("paper")

    def corrected():
        return Equivalence.holds("exact")


class OffThePath:
    """A feasible policy takes a safe action in every state outside U_h; or where it can come."""

    def holds(everywhere):
        for mdp in small_worlds()[:40]:
            U, safe = st.potentially_unsafe(mdp), st.safe_actions(mdp)
            policies = all_policies(mdp)
            start = np.eye(mdp.S, dtype=bool)[mdp.s1]
            for pi in policies[~meets_unsafe(mdp, policies, 1, start)]:
                here = start
                for i in range(mdp.H - 1):
                    looked_at = ~U[i] if everywhere else here
                    if not safe[i, np.arange(mdp.S), pi[i]][looked_at].all():
                        return False
                    here = (mdp.P[i, np.arange(mdp.S), pi[i]] > 0)[here].any(axis=0)
        return True

    def printed():
        return OffThePath.holds(everywhere=True)

    def corrected():
        return OffThePath.holds(everywhere=False)
