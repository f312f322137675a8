"""A number in the text is computed above it: the build asks the kernel as it goes down the page."""

import ast
import builtins
import re

import notebooks
import pytest

EVAL = re.compile(r"\{eval\}(`+)(.+?)\1(?!`)", re.DOTALL)
KNOWN = frozenset(dir(builtins))


def bound(code):
    """The names that a cell binds, wherever in it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def too_early(cells):
    """Yield what the text evaluates and no cell above it has bound."""
    above = set(KNOWN)
    for cell in cells:
        if cell.cell_type == "code":
            above |= set(bound(cell.source))
        else:
            for _, expression in EVAL.findall(cell.source):
                own = {*bound(expression.strip())}
                used = (n.id for n in ast.walk(ast.parse(expression.strip())) if hasattr(n, "id"))
                yield from (f"{name} in {expression}" for name in used if name not in above | own)


@pytest.mark.parametrize("path", notebooks.find(), ids=lambda path: path.stem)
def test_what_the_text_evaluates_is_bound_above_it(path):
    assert [*too_early(notebooks.read(path).cells)] == []


def test_what_is_bound_below_is_found():
    from nbformat.v4 import new_code_cell, new_markdown_cell

    cells = [
        new_code_cell("import numpy as np\ntotal = sum(range(4))"),
        new_markdown_cell("{eval}`total`, {eval}`` f'{np.pi + late:.2f}' ``"),
        new_markdown_cell("{eval}`[x for x in 'a']`"),
        new_code_cell("def late(): ..."),
        new_markdown_cell("{eval}`late()`"),
    ]
    assert [*too_early(cells)] == ["late in  f'{np.pi + late:.2f}' "]
