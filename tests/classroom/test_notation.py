"""The page *Notation and semantics*: its names exist, with their shapes, and its links lead there.

The third column of a table of letters holds Python between backticks.  ``mdp.P`` with
``$(H, S, A, S)$`` behind it is tried on small worlds and has that shape; ``.Q`` after
``plan.V`` is ``plan.Q``; ``0..S-1`` is a range and no Python.
"""

import inspect
import re

import numpy as np
import pytest
import yaml
from classroom.statements import NAMED, ROOT, broken_links, parts, prose, statements, tables
from looping import each

import safeteach as st

PAGE = ROOT / "book/appendix/notation.md"
TEXT = PAGE.read_text()
PARTS = tables(TEXT, level=3)
TWICE = PARTS.pop("Letters with two meanings, until these chapters are rewritten")[1:]
LETTERS = [row for rows in PARTS.values() for row in rows[1:]]
CODE = re.compile(r"`(?P<code>[^`]+)`(?: \$\((?P<shape>[^$]*)\)\$)?")
RANGE = re.compile(r"\d\.\.\S+")
ARGUMENT = re.compile(r"argument `(\w+)` of `(st\.[\w.]+)`")
SIZES = {"S": 6, "A": 3, "H": 4, "B": 2, "K": 7, "n": 9}
MACROS = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["mathjax3_config"][
    "tex"
]["macros"]


@pytest.fixture(scope="module")
def names():
    """What the page says that the names of the third column stand for."""
    S, A, H, B, K = (SIZES[letter] for letter in "SAHBK")
    mdp = st.instances.random_mdp(S=S, A=A, H=H, seed=0)
    game = st.instances.random_game(S, A, B, H, seed=1)
    assert mdp.unsafe.any() and st.is_feasible(mdp) and st.is_feasible(game)
    learner = st.SUCBVI(mdp.known, episodes=K)
    rf, srf = st.RFUCRL(mdp.known), st.SRFUCRL(mdp.known, epsilon=1)
    plan = st.safe_optimal(game)
    st.explore(rf, mdp, episodes=K)
    return SIZES | {
        "st": st, "mdp": mdp, "game": game, "learner": learner, "rf": rf, "srf": srf,
        "policy": st.safe_optimal(mdp).policy, "mu": plan.mu, "nu": plan.nu,
        "history": st.run(learner, mdp), "exploration": st.explore(srf, mdp, episodes=K),
        "audit": st.audit(st.SUCBVI(mdp.known, episodes=K), mdp),
        "nash": st.SafeNashVI(game.known, episodes=K),
        "tree": st.instances.violation_tree(A=3, depth=2, gap=0.1),
        "h": 1, "s": 0, "a": 0, "b": 0, "r": mdp.r, "matrix": np.eye(2),
    }  # fmt: skip


def tried(cell):
    """(expression, shape that is promised or None) of the code in a cell."""
    whole = None
    for found in CODE.finditer(cell):
        code = found["code"]
        if RANGE.fullmatch(code):
            continue
        whole = f"{whole.rpartition('.')[0]}{code}" if code.startswith(".") else code
        yield whole, found["shape"]


def test_every_part_has_its_table():
    assert [*PARTS] == [*parts()]
    heads = {tuple(rows[0]) for rows in PARTS.values()}
    assert heads == {("letter", "meaning", "in `safeteach`", "defined")}
    assert all(len(row) == 4 for row in LETTERS) and all(len(row) == 3 for row in TWICE)


def test_every_name_is_there_and_has_its_shape(names):
    shapes = 0
    for letter, _meaning, cell, _where in LETTERS:
        arguments = ARGUMENT.findall(cell)
        for name, function in arguments:
            assert name in inspect.signature(eval(function, names)).parameters, letter
        for code, shape in tried(ARGUMENT.sub("", cell)):
            value = eval(code, names)
            if shape is not None:
                expected = eval(f"({shape.replace(chr(92) + 'cdot', '*')})", dict(SIZES))
                assert np.shape(value) == expected, f"{letter}: {code}"
                shapes += 1
    assert shapes > 40


def test_names_of_the_library_outside_the_tables_are_there():
    for name in re.findall(r"`(st(?:\.\w+)+)[^`]*`", TEXT):
        assert eval(name, {"st": st}) is not None


def test_every_link_leads_somewhere():
    assert broken_links(PAGE, TEXT) == []


def plain(formula):
    """A formula as the chapters write it, with macros written out and no spaces."""
    for name, written in MACROS.items():
        formula = re.sub(rf"\\{name}(?![A-Za-z])", lambda _, to=written: to, formula)
    return re.sub(r"\s|\\,|\\!", "", formula)


def linked(cell):
    """The text of the chapters that a cell links to."""
    pages = [statements()[label].page for label in NAMED.findall(cell)]
    pages += re.findall(r"\{doc\}`/([^`]+)`", cell)
    return "".join(plain(prose(page)) for page in pages)


@each("row", LETTERS)
def test_a_letter_stands_where_it_is_said_to_be_defined(row):
    letter, _meaning, _code, where = row
    text = linked(where)
    for formula in re.findall(r"\$([^$]+)\$", letter):
        assert plain(formula) in text, formula


@each("row", TWICE)
def test_a_letter_with_two_meanings_has_the_other_one_there(row):
    letter, _mostly, also = row
    text = linked(also)
    assert any(plain(formula) in text for formula in re.findall(r"\$([^$]+)\$", letter))
    assert NAMED.search(also) or "{doc}" in also


def test_letters_that_were_once_missed_are_there():
    letters = " ".join(row[0] for row in LETTERS)
    for letter in (r"\varepsilon", r"\overline{W}", r"\gamma(n)", "M(n)", "E_h(s,a)", r"\Pi^k",
                   r"\mathcal{E}_4", r"\mathcal{E}_{\mathrm{cnt}}"):  # fmt: skip
        assert letter in letters
