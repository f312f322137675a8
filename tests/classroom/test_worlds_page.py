"""The appendix shows the very worlds that the chapters compute with, and all that the library has.

A world that a chapter builds in its text is rebuilt on the page.  Here the chapter's cell is run,
down to the line that has it, and the two are compared: a number that changes in one place only is
a failing test.
"""

import ast
import re

import notebooks
import numpy as np
import pytest

import safeteach as st

PAGE = notebooks.BOOK / "appendix" / "the-worlds-of-this-book.ipynb"
CELLS = notebooks.read(PAGE).cells
CARD = re.compile(r"st\.figures\.card\((\w+)\)")

# The name on the page: the chapter, what its cell binds last, and what is meant of that.
BUILT = {
    "boat": ("model/mdps-you-can-run", "boat", "boat"),
    "lanes": ("model/mdps-you-can-run", "lanes", "lanes"),
    "coast": ("model/mdps-you-can-run", "ring", "ring"),
    "corridors": ("model/costs-thresholds-violation", "corridors", "corridors"),
    "lake": ("model/danger-ahead", "lake", "lake"),
    "walk": ("model/danger-ahead", "walk", "walk"),
    "trap": ("model/danger-ahead", "trap", "trap"),
    "pier": ("sucbvi/why-regret-is-small", "pier", "pier"),
    "gate": ("sucbvi/why-violation-is-small", "gate", "gate()"),
    "faint": ("sucbvi/why-violation-is-small", "faint", "faint(0.05)"),
    "on_the_edge": ("sucbvi/why-violation-is-small", "quay", "quay"),
    "bridge": ("sucbvi/why-violation-is-small", "bridge", "bridge(0.01)"),
    "shore": ("sucbvi/what-the-constants-really-do", "shore", "shore"),
    "two_doors": ("sucbvi/what-the-constants-really-do", "doors", "doors"),
    "gold_house": ("reward-free/the-problem-and-rf-ucrl", "vault_of_gold", "vault_of_gold()"),
    "tiny": ("reward-free/the-problem-and-rf-ucrl", "tiny", "tiny"),
    "brook": ("reward-free/the-reward-free-experiments", "brook", "brook(0.6)"),
    "raft": ("reward-free/why-the-output-is-safe", "harbour", "harbour(0.05)"),
    "staircase": ("reward-free/the-reward-free-experiments", "staircase", "staircase()"),
    "plank": ("games/safe-zero-sum-games", "plank", "plank"),
    "rope": ("games/safe-zero-sum-games", "rope", "rope"),
    "doors": ("games/learning-to-play-safely", "doors", "doors"),
}
RANDOM = {"random_mdp", "random_game", "grid_from_map"}  # these make any number of worlds


@pytest.fixture(scope="module")
def page():
    """Return what the page's cells bind."""
    found = {}
    for cell in CELLS:
        if cell.cell_type == "code" and not CARD.fullmatch(cell.source):
            exec(cell.source, found)
    return found


def bound(statement):
    """Return the names that a statement binds: by an assignment or a definition."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name)}


def built(chapter, name, wanted):
    """Run the first cell of a chapter that makes a world and binds the name, as far as that."""
    for cell in notebooks.read(notebooks.BOOK / f"{chapter}.ipynb").cells:
        if cell.cell_type == "code" and re.search(r"SafeMDP|SafeGame|instances", cell.source):
            statements = ast.parse(cell.source).body
            ends = [i for i, x in enumerate(statements) if name in bound(x)]
            if ends:
                found = {"np": np, "st": st}
                part = ast.Module(statements[: ends[0] + 1], [])
                exec(compile(part, chapter, "exec"), found)
                return eval(wanted, found)
    raise AssertionError(f"{chapter} builds no {name}")


@pytest.mark.parametrize("name", BUILT)
def test_a_world_of_the_page_is_the_chapters(name, page):
    mine, theirs = page[name], built(*BUILT[name])
    assert (mine.tau, mine.H, mine.s1) == (theirs.tau, theirs.H, theirs.s1)
    assert np.array_equal(mine.c, theirs.c)
    assert np.array_equal(mine.r, theirs.r)
    for own, other in zip(mine.all_rows(), theirs.all_rows(), strict=True):
        assert np.array_equal(own, other)


def test_the_pool_is_the_brook(page):
    pool = built("reward-free/srf-ucrl", "tiny", "tiny")
    assert np.array_equal(pool.P, page["brook"].P)
    assert np.array_equal(pool.c, page["brook"].c)
    assert (pool.tau, pool.H, pool.s1) == (page["brook"].tau, page["brook"].H, page["brook"].s1)


def test_every_world_of_the_library_is_there():
    makers = {name for name in st.instances.__all__ if name.islower()} - RANDOM
    told = "\n".join(cell.source for cell in CELLS if cell.cell_type == "code")
    missing = sorted(name for name in makers if f"instances.{name}(" not in told)
    assert missing == [], "show it in book/appendix/the-worlds-of-this-book.ipynb"


def test_each_section_says_where_its_world_is_used_and_shows_its_card(page):
    sections = [i for i, cell in enumerate(CELLS) if cell.source.startswith("### ")]
    shown = [CARD.fullmatch(CELLS[i + 1].source) for i in sections]
    assert all(shown)
    assert len({card[1] for card in shown}) == len(sections) >= 30
    assert set(BUILT) <= {card[1] for card in shown}
    assert all("{doc}`/book/" in CELLS[i].source for i in sections)
    assert all(hasattr(page[card[1]], "known") for card in shown)
