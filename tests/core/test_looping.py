"""A test over many values tries all of them, and says for which it failed."""

import pytest
from looping import each


def test_every_value_is_tried_beside_what_pytest_hands_in():
    tried = []

    @each("a", range(3))
    @each(("b", "c"), [(1, 2), (3, 4)])
    def together(fixture, a, b, c):
        tried.append((fixture, a, b, c))

    together("given")
    assert tried == [("given", a, *rest) for a in range(3) for rest in ((1, 2), (3, 4))]


def test_a_failure_names_its_value():
    @each("seed", range(9))
    def small(seed):
        assert seed < 5

    with pytest.raises(AssertionError) as caught:
        small()
    assert caught.value.__notes__ == ["seed = 5"]


def test_nothing_to_try_is_a_failure():
    with pytest.raises(AssertionError, match="nothing to try"):
        each("seed", [])(lambda seed: seed)()
