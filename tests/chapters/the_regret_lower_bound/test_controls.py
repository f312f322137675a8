"""The price of safety with controls: every setting says what the corollary says."""

import itertools

import pytest

from safeteach.chapters.the_regret_lower_bound import controls


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.price_of_safety(depth=3), settings=48)


def test_every_setting_says_whether_the_floor_stands():
    widget = controls.price_of_safety(depth=3)
    H, behind = 9, 5
    said = {"more": 0, "less": 0}
    for K, n, alpha in itertools.product(*(c.values for c in widget.controls.values())):
        alt = widget.figure(K=K, n=n, alpha=alpha).alt
        floor, T = behind * ((n - 1) * K) ** 0.5 / 32, H * K
        repaired = T ** ((1 - alpha) / 2)
        printed = repaired + H / (6 * (H - 1)) * T ** (1 - alpha)
        for term, tree in ((repaired, "repaired tree, "), (printed, "printed one, ")):
            word = "more" if term >= floor else "less"
            assert f"{tree}{word} than the floor" in alt
            said[word] += 1
    assert min(said.values()) > 10


def test_the_leaves_are_those_of_trees_of_this_depth():
    assert list(controls.price_of_safety(depth=2).controls["n"].values) == [4, 9, 16]
