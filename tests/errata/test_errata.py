"""Each slip of the errata page fails as the paper prints it and passes as the book corrects it."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = ("model", "sucbvi", "violation", "lower_bounds", "reward_free", "games")


def name_of(pair):
    """The id that a class belongs to: LeafSteps to leaf-steps."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", pair.__name__).lower()


PAIRS = {
    (name, name_of(pair)): pair
    for name in MODULES
    for pair in vars(importlib.import_module(f"errata.{name}")).values()
    if hasattr(pair, "printed")
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=[name for _, name in PAIRS])
def test_the_printed_fails_and_the_corrected_passes(pair):
    assert not pair.printed()
    assert pair.corrected()
