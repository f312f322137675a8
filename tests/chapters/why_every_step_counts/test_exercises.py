"""Right answers written in different ways pass, plausible wrong ones do not."""

import numpy as np
import pytest
from classroom.answers import TriedAnswers, said_of

from safeteach.chapters import why_every_step_counts as chapter


def share(p):
    """A policy for the road that drives fast with probability p, always."""
    return np.tile([1 - p, p], (10, 20, 1))


def fast_at_the_school_only(p):
    policy = np.tile([1.0, 0.0], (10, 20, 1))
    policy[4] = [1 - p, p]
    return policy


RIGHT = {
    "two-sums": [(0.0, 0.6), [0, 0.6], np.array([0.3 - 0.3, 0.4 + 0.2])],
    "ledger": [
        lambda costs, tau: np.cumsum(np.maximum(costs - tau, 0).sum(axis=1)),
        lambda costs, tau: np.cumsum([sum(c - tau for c in row if c > tau) for row in costs]),
        lambda costs, tau: np.array(
            [
                np.where(costs[: k + 1] > tau, costs[: k + 1] - tau, 0).sum()
                for k in range(len(costs))
            ]
        ),
    ],
    "find-the-bug": [
        lambda costs, tau: sum(max(c - tau, 0) for c in costs),
        lambda costs, tau: float(np.clip(np.array(costs) - tau, 0, None).sum()),
        lambda costs, tau: sum((c - tau) * (c > tau) for c in costs),
    ],
    "legal-average": [[1] * 5 + [0] * 5, np.tile([0.0, 1.0], 5), (0, 0, 1, 1, 0, 1, 0, 1, 1, 0)],
    "how-often": [
        lambda C0, C1, budget: min(1.0, (budget - C0) / (C1 - C0)),
        lambda C0, C1, budget: 1.0 if budget >= C1 else (budget - C0) / (C1 - C0),
    ],
    "budget-for-every-step": [
        share(0.4),
        fast_at_the_school_only(4 / 9),
        fast_at_the_school_only(1e-3),
    ],
}

WRONG = {
    "two-sums": [
        (0.6, 0.0), (0, 0), (2.5, 1.6), 0.6, (0.6,), (0.0, 0.6, 0.0), "0 and 0.6", (0, -0.5),
    ],
    "ledger": [
        lambda costs, tau: np.maximum(costs - tau, 0).sum(axis=1),  # no running total
        lambda costs, tau: np.maximum((costs - tau).sum(axis=1), 0).cumsum(),  # credit in episodes
        lambda costs, tau: np.maximum((costs - tau).sum(axis=1).cumsum(), 0),  # and across them
        lambda costs, tau: np.maximum(costs - tau, 0).sum(),  # the last total only
        lambda costs, tau: (costs > tau).sum(axis=1).cumsum().astype(float),  # counts steps
        lambda costs, tau: np.maximum(costs - tau, 0).cumsum(axis=1),
    ],
    "find-the-bug": [
        lambda costs, tau: max(sum(costs) - tau * len(costs), 0),  # the bug itself
        lambda costs, tau: sum(abs(c - tau) for c in costs),
        lambda costs, tau: sum(c for c in costs if c > tau),
        lambda costs, tau: max(max(c - tau, 0) for c in costs),
    ],
    "legal-average": [
        [0.5] * 10, [1] * 10, [1] * 4 + [0] * 6, [1] * 5, [2] * 2 + [0] * 8, "ten",
        [0.1, 0.4, 0.4, 0.4, 0.4, 1.0, 0.4, 0.4, 0.4, 0.4],
    ],
    "how-often": [
        lambda C0, C1, budget: (budget - C0) / (C1 - C0),  # above 1 where there is room
        lambda _C0, C1, budget: min(1.0, budget / C1),
        lambda C0, C1, budget: min(1.0, (C1 - budget) / (C1 - C0)),
        lambda C0, C1, budget: min(1.0, (budget - C0) / C1),
    ],
    "budget-for-every-step": [
        share(0.0), share(1.0), share(0.5), fast_at_the_school_only(0.45), np.ones((10, 20), int),
        np.zeros((10, 20), int), share(0.4)[:9], [[0.6, 0.4]], "fast",
    ],
}


class TestAnswers(TriedAnswers):
    slug, right, wrong = "why_every_step_counts", RIGHT, WRONG


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        ("two-sums", (0.6, 0.0), "in the other order"),
        ("two-sums", (2.5, 1.6), "Subtract the threshold"),
        ("legal-average", [1] * 10, "add up to 10"),
        (
            "legal-average",
            [0.1, 0.4, 0.4, 0.4, 0.4, 1.0, 0.4, 0.4, 0.4, 0.4],
            "A budget can hide more",
        ),
        ("budget-for-every-step", share(0.5), "At step 6 the expected cost is 0.55"),
        ("budget-for-every-step", share(0.0), "never races past the school"),
    ],
)
def test_feedback_says_what_is_wrong(number, answer, said):
    assert said in said_of(chapter, number, answer)


def test_the_sums_are_not_given_away():
    for answer in [(1, 2), 3, "x", (0.6, 0.0)]:
        assert "0.6" not in chapter.check("two-sums", answer).text
