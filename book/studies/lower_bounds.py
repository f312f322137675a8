r"""The study of the lower bounds: many learners in the worlds of both proofs.

``make lower-bounds`` stores it in ``book/data/lower_bounds.npz``.

A *point* is one learner in the two worlds :math:`\tau_1` and :math:`\tau_j` of one size.  It runs
on :math:`\tau_1` with the seeds 0, 1, ...; j is the leaf 2..n in which those runs ended least
often, as the proofs choose it; on :math:`\tau_j` it runs with the seeds 10,000, 10,001, ..., so
that the choice of j tells nothing about what is measured there.  A learner with one policy has
two runs, others 16 to 128; rows are filled up with NaN.

========================================  ======================================================
``about``                                 JSON: the command, the settings of all learners, where
                                          the seeds begin, and a digest of the library
**Violation: V points on violation_tree**
``violation_names`` (V,)                  names of the learners
``violation_families`` (V,)               "published", "cautious", "informed", "commit", "fixed"
``violation_A``, ``violation_depth``      of the tree (V,)
``violation_leaves`` (V,)                 n
``violation_states`` (V,)                 S
``violation_steps`` (V,)                  H', the steps that an episode spends in its leaf
``violation_episodes`` (V,)               K
``violation_kappa`` (V,)                  KH'·gap²/(n-1); ¼ is the paper's
``violation_gap`` (V,)                    Δ
``violation_special`` (V,)                j
``violation_runs`` (V,)                   runs on each of the two worlds
``violation_x`` (V, R)                    on τ_1: share of the episodes that end in another leaf
                                          than leaf 1, C/(KH'Δ), exact for the policies played
``violation_y`` (V, R)                    on τ_j: share that ends in leaf 1, R/(KH'), likewise
``violation_tried`` (V, 32)               on τ_1: mean number t_i of episodes that end in leaf i
``violation_digests`` (V, 2)              SHA-256 of the first run in each world, 16 digits
**Regret: P points on regret_tree**
``regret_names``, ``regret_families``     as above (P,)
``regret_A``, ``regret_depth``, ``regret_leaves``, ``regret_states``, ``regret_steps``,
``regret_episodes``, ``regret_gap``, ``regret_special``, ``regret_runs``   as above (P,)
``regret_unsafe_gap`` (P,)                Δ' = T^((α-1)/2) with T = KH and α = ½
``regret_R1``, ``regret_Rj`` (P, R)       regret on τ_1 and τ_j, against the best safe policy,
                                          exact for the policies played
``regret_C1``, ``regret_Cj`` (P, R)       violation, as it came; expected in the family "fixed"
``regret_safe`` (P, 2)                    value of the best safe policy on τ_1 and τ_j
``regret_best`` (P, 2)                    value of the best policy of all
``regret_floor`` (P,)                     ``bounds.regret_lower_bound``
``regret_tried`` (P, 32)                  on τ_1: mean number of episodes through leaf i by a
                                          branching action
``regret_digests`` (P, 2)                 as above
========================================  ======================================================

The regret against the best policy of all is ``R + K*(best - safe)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from storing import Bench, Study, digest_of, told

import safeteach as st
from safeteach.instances import TreeMDP
from safeteach.learners.contract import Learner
from safeteach.running.loop import Stage, episodes

MOST_LEAVES = 32
ALPHA = 0.5
FIRST_SEED = {1: 0, 2: 10_000}  # on τ_1, on τ_j
SCALE = 3e-3  # on the bonus of SUCBVI and UCBVI, as in the other studies of the book

Maker = Callable[..., Learner]


@dataclass(frozen=True)
class World:
    """The size of a tree, and which of its worlds.

    Attributes
    ----------
    kind : "violation" or "regret"
    A, depth, episodes : int
    kappa : float
        KH'·gap²/(n-1) of a violation tree; the gap of a regret tree is ¼√((n-1)/K).
    j : int or None
    """

    kind: str
    A: int
    depth: int
    episodes: int
    kappa: float = 0.25
    j: int | None = None

    @property
    def leaves(self) -> int:
        """The number n."""
        return int((self.A if self.kind == "violation" else self.A - 1) ** self.depth)

    @property
    def steps(self) -> int:
        """H', from where the reward comes."""
        return 2 * self.depth - (self.kind == "regret")

    @property
    def gap(self) -> float:
        """Δ."""
        if self.kind == "violation":
            return math.sqrt(self.kappa * (self.leaves - 1) / (self.episodes * self.steps))
        return math.sqrt((self.leaves - 1) / self.episodes) / 4

    @property
    def unsafe_gap(self) -> float:
        """Δ' of a regret tree."""
        return float((3 * self.depth * self.episodes) ** ((ALPHA - 1) / 2))

    def tree(self) -> TreeMDP:
        """The world itself."""
        if self.kind == "violation":
            return st.instances.violation_tree(self.A, self.depth, self.gap, self.j)
        return st.instances.regret_tree(self.A, self.depth, self.gap, self.unsafe_gap, self.j)


@dataclass(frozen=True)
class Point:
    """A learner in the two worlds of one size.

    Attributes
    ----------
    name, family : str
    world : World
    runs : int
        On each of the two worlds.
    """

    name: str
    family: str
    world: World
    runs: int

    def learner(self) -> Learner:
        """A new learner; it is told what is the same in all worlds of this size."""
        tree = replace(self.world, j=None).tree()
        make = learners(self.world.kind, tree)[self.name]
        return make(tree.known, episodes=self.world.episodes)

    def at(self, j: int) -> Point:
        """The same on τ_j."""
        return replace(self, world=replace(self.world, j=j))

    def seeds(self) -> range:
        """In this world."""
        first = FIRST_SEED[1 if self.world.j is None else 2]
        return range(first, first + self.runs)


@dataclass(frozen=True)
class Lives:
    """What came of the runs of a point in one world.

    Attributes
    ----------
    value : (runs,) array
        Sum over episodes of what the policy is worth, V_1 at s_1, exact.
    violation : (runs,) array
        As it came; expected, if the learner has one policy.
    ends : (runs, n) int array
        Episodes that end in each leaf, or go through it by a branching action.
    digest : str
        Of the first run.
    """

    value: np.ndarray[Any, Any]
    violation: np.ndarray[Any, Any]
    ends: np.ndarray[Any, Any]
    digest: str


def way_to(tree: TreeMDP, i: int) -> np.ndarray[Any, Any]:
    """The policy that goes to leaf i = 1..n, (H, S).

    Examples
    --------
    >>> tree = World("violation", 2, 2, 100).tree()
    >>> way_to(tree, 3)[0].tolist()
    [1, 0, 0, 0, 0, 0, 0]
    """
    policy = np.zeros((tree.H, tree.S), np.int64)
    s = int(tree.leaves[i - 1])
    while s > 0:
        policy[:, tree.parent(s)] = (s - 1) % tree.degree
        s = tree.parent(s)
    return policy


FAMILIES = {
    "published": ("SUCBVI", "UCBVI", "OptCMDP", "OptPess", "Triple-Q"),
    "cautious": tuple(f"Cautious {c:g}" for c in (0.25, 0.15, 0.1, 0.0, -0.1)),
    "informed": tuple(f"Informed {c:g}" for c in (-1.0, -0.5, 0.0, 0.2, 1.0)),
    "commit": tuple(f"Commit {share:g}" for share in (0.03, 0.1, 0.3)),
    "fixed": ("leaf 1", "leaf 2", "coin", "uniform", "door U", "leaf 1 or U"),
}


def learners(kind: str, tree: TreeMDP) -> dict[str, Maker]:
    """From a name to what is called with ``known`` and ``episodes``.

    Budgets are what a safe episode costs in these worlds; OptPess must be told of more than its
    safe policy costs and gets half of what an unsafe leaf has too much.
    """
    steps = 2 * tree.depth - (kind == "regret")
    home = way_to(tree, 1)
    cost = 0.5 * steps if kind == "violation" else 0.0
    first = int(tree.leaves[0])
    made: dict[str, Maker] = {
        "SUCBVI": partial(st.SUCBVI, bonus_scale=SCALE),
        "UCBVI": partial(st.UCBVI, bonus_scale=SCALE),
        "OptCMDP": partial(st.OptCMDP, budget=cost, clip=True, bonus_scale=3e-4),
        "leaf 1": partial(st.learners.FixedPolicy, policy=home),
        "leaf 2": partial(st.learners.FixedPolicy, policy=way_to(tree, 2)),
        "coin": partial(
            st.learners.FixedPolicy, policy=mixed(tree, home, way_to(tree, len(tree.leaves)), 0.5)
        ),
        "uniform": st.learners.UniformPolicy,
    }
    safe = range(first + 1) if kind == "violation" else range(tree.S - 1)
    for name in FAMILIES["cautious"]:
        made[name] = partial(
            st.learners.Cautious, caution=_number(name), bonus_scale=SCALE, trusted=safe
        )
    for name in FAMILIES["commit"]:
        made[name] = partial(st.learners.ExploreThenCommit, share=_number(name))
    if kind == "violation":
        made["OptPess"] = partial(
            st.OptPess, budget=cost + steps * tree.gap / 2, safe_policy=home, safe_cost=cost,
            bonus_scale=3e-5,
        )  # fmt: skip
        made["Triple-Q"] = partial(st.TripleQ, budget=cost, epsilon=0.0, bonus_scale=3e-5)
        for name in FAMILIES["informed"]:
            made[name] = partial(
                st.learners.Informed, leaves=tree.leaves, gap=tree.gap, caution=_number(name)
            )
    else:
        daring = home.copy()
        daring[:, tree.leaves] = tree.A - 1
        made["door U"] = partial(st.learners.FixedPolicy, policy=daring)
        made["leaf 1 or U"] = partial(_buyer, home=home, daring=daring, steps=steps)
    return made


def mixed(known: Any, one: Any, other: Any, share: float) -> np.ndarray[Any, Any]:
    """Wherever two policies differ, a share goes to the other, (H, S, A)."""
    return (1 - share) * np.eye(known.A)[one] + share * np.eye(known.A)[other]


def _buyer(
    known: st.Known, *, episodes: int, home: Any, daring: Any, steps: int
) -> st.learners.FixedPolicy:
    """Leaf 1, but for as much violation as T^(1-α) through the unsafe door."""
    share = (known.H * episodes) ** (1 - ALPHA) / (steps * episodes)
    policy = mixed(known, home, daring, share)
    return st.learners.FixedPolicy(known, episodes=episodes, policy=policy)


def _number(name: str) -> float:
    return float(name.split()[-1])


BRIEF = (
    "SUCBVI", "UCBVI", "OptCMDP", "OptPess", "Triple-Q", "Cautious 0.25", "Cautious 0.1",
    "Informed 0", "Informed 0.2", "Commit 0.1", "leaf 1", "leaf 2", "coin", "uniform",
)  # fmt: skip
ALL = tuple(
    name for family in FAMILIES.values() for name in family if not name.endswith("U")
)  # of the violation study
REGRET = (
    "SUCBVI", "UCBVI", "OptCMDP", "Cautious 0.25", "Cautious 0", "Commit 0.1", "leaf 1", "leaf 2",
    "uniform", "door U", "leaf 1 or U",
)  # fmt: skip
EPISODES = (100, 316, 1000, 3162, 10_000)
TREES = ((2, 2), (2, 3), (2, 4), (2, 5), (3, 1), (3, 2), (3, 3))
KAPPAS = (0.25, 4.0, 16.0)


def points() -> list[Point]:
    """All of the study, none twice."""
    worlds: dict[World, Sequence[str]] = {}
    for kappa in KAPPAS:
        worlds[World("violation", 2, 3, 1000, kappa)] = ALL
    for K in EPISODES:
        worlds.setdefault(World("violation", 2, 3, K), BRIEF)
    for A, depth in TREES:
        worlds.setdefault(World("violation", A, depth, 1000), BRIEF)
    for K in EPISODES:
        worlds[World("regret", 3, 3, K)] = REGRET
    family = {name: family for family, names in FAMILIES.items() for name in names}
    return [
        Point(name, family[name], world, runs(family[name], world))
        for world, names in worlds.items()
        for name in names
    ]


def runs(family: str, world: World) -> int:
    """How many a point has on each world: most where dials differ, and differ by luck too."""
    if family == "fixed":
        return 2
    if world.episodes > 1000:
        return 16
    return 128 if family != "published" and world.kappa > min(KAPPAS) else 32


def live(point: Point) -> Lives:
    """All runs of a point in its world."""
    tree = point.world.tree()
    first, n = int(tree.leaves[0]), point.world.leaves
    value, violation, ends = [], [], np.zeros((point.runs, n), np.int64)
    digests = []
    for i, seed in enumerate(point.seeds()):
        learner = point.learner()
        stage = Stage(tree, seed, noise=1.0)
        for _k, episode in episodes(learner, stage):
            learner.observe(episode)
            if point.world.kind == "violation" or episode.states[-1] != tree.S - 1:
                ends[i, episode.states[tree.depth] - first] += 1
        value.append(stage.totals[:, 2].sum())
        violation.append(stage.totals[:, 1].sum())
        if isinstance(learner, st.learners.FixedPolicy):
            violation[-1] = len(stage.totals) * st.evaluate(tree, learner.policy).violation
        digests.append(digest_of(*stage.totals.T)[:16])
    return Lives(np.array(value), np.array(violation), ends, digests[0])


def work(point: Point) -> int:
    """How many episodes a point is in one world."""
    return point.world.episodes * point.runs


def least_tried(lives: Lives) -> int:
    """The leaf j = 2..n in which the runs ended least often; the first of several."""
    return 2 + int(lives.ends[:, 1:].sum(axis=0).argmin())


Row = tuple[Point, Lives, Lives]


def common_columns(rows: Sequence[Row]) -> dict[str, Any]:
    """What both studies have."""
    where = [point.world for point, _, _ in rows]
    return {
        "names": [point.name for point, _, _ in rows],
        "families": [point.family for point, _, _ in rows],
        "A": [world.A for world in where],
        "depth": [world.depth for world in where],
        "leaves": [world.leaves for world in where],
        "states": [world.tree().S for world in where],
        "steps": [world.steps for world in where],
        "episodes": [world.episodes for world in where],
        "gap": [world.gap for world in where],
        "special": [world.j for world in where],
        "runs": [point.runs for point, _, _ in rows],
        "tried": padded([one.ends.mean(axis=0) for _, one, _ in rows], MOST_LEAVES),
        "digests": [[one.digest, other.digest] for _, one, other in rows],
    }


def violation_columns(rows: Sequence[Row]) -> dict[str, Any]:
    """Shares: every leaf but leaf 1 pays H', so that V/H' is the chance not to end in leaf 1."""
    most = [point.world.episodes * point.world.steps for point, _, _ in rows]
    return common_columns(rows) | {
        "kappa": [point.world.kappa for point, _, _ in rows],
        "x": padded([one.value / m for (_, one, _), m in zip(rows, most, strict=True)]),
        "y": padded([1 - other.value / m for (_, _, other), m in zip(rows, most, strict=True)]),
    }


def regret_columns(rows: Sequence[Row]) -> dict[str, Any]:
    """Regret against the best safe policy, violation, and the floor of the proof."""
    worlds = [(replace(p.world, j=None).tree(), p.world.tree()) for p, _, _ in rows]
    safe = np.array([[st.safe_optimal(tree).value for tree in pair] for pair in worlds])
    best = np.array([[st.optimal(tree).value for tree in pair] for pair in worlds])
    K = [point.world.episodes for point, _, _ in rows]
    return common_columns(rows) | {
        "unsafe_gap": [point.world.unsafe_gap for point, _, _ in rows],
        "R1": padded([k * v[0] - row[1].value for row, k, v in zip(rows, K, safe, strict=True)]),
        "Rj": padded([k * v[1] - row[2].value for row, k, v in zip(rows, K, safe, strict=True)]),
        "C1": padded([one.violation for _, one, _ in rows]),
        "Cj": padded([other.violation for _, _, other in rows]),
        "safe": safe,
        "best": best,
        "floor": [
            st.bounds.regret_lower_bound(w.leaves, w.steps, w.episodes, w.gap)
            for w in (point.world for point, _, _ in rows)
        ],
    }


def padded(rows: Sequence[np.ndarray[Any, Any]], width: int = 0) -> np.ndarray[Any, Any]:
    """Rows of different lengths in one array, filled up with NaN.

    Examples
    --------
    >>> padded([np.array([1.0, 2.0]), np.array([3.0])]).tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    table = np.full((len(rows), max(width, *map(len, rows))), np.nan)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return table


@dataclass(frozen=True)
class LowerBounds(Study):
    """All points, each in its two worlds."""

    points: Sequence[Point] = tuple(points())

    def arrays(self, bench: Bench) -> dict[str, Any]:
        """Run what has not been run, and tell what the chapters show."""

        def lived(todo: Sequence[Point]) -> list[Lives]:
            longest_first = sorted(todo, key=work, reverse=True)
            found = dict(zip(longest_first, bench.each(live, longest_first, Lives), strict=True))
            return [found[point] for point in todo]

        on_1 = lived(self.points)
        there = [p.at(least_tried(lives)) for p, lives in zip(self.points, on_1, strict=True)]
        on_j = lived(there)
        stored: dict[str, Any] = {}
        for kind, columns in (("violation", violation_columns), ("regret", regret_columns)):
            rows = [row for row in zip(there, on_1, on_j, strict=True) if row[0].world.kind == kind]
            stored |= {f"{kind}_{name}": values for name, values in columns(rows).items()}
        return stored

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        return {
            "noise": 1.0,
            "alpha": ALPHA,
            "seeds": {"on tau_1 from": FIRST_SEED[1], "on tau_j from": FIRST_SEED[2]},
            "special": "the leaf 2..n in which the runs on tau_1 ended least often",
            "learners": {
                f"{point.name} ({point.world.kind}, n = {point.world.leaves}, K = "
                f"{point.world.episodes}, kappa = {point.world.kappa:g})": told(point.learner())
                for point in self.points
            },
        }


STUDY = LowerBounds(
    "lower-bounds",
    "lower-bounds",
    "Does any learner get below the lower bounds, and how near do they come?",
)
