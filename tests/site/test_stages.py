"""The table at the end of `make test`: what ran, how long, and what must not be overlooked."""

import sys

import pytest
import stages
from looping import many


def stage(code, **settings):
    settings = {"count": r"(\d+ passed)", "budget": 600} | settings
    return stages.Stage("some", f'{sys.executable} -c "{code}"', **settings)


def test_a_stage_that_passes_is_counted():
    result = stages.run(stage("print('3 passed')"))
    assert result.line().startswith("some        ok")
    assert result.line().endswith("  3 passed")
    assert " over" not in result.line()


def test_a_stage_that_fails_and_one_over_its_budget_are_shown():
    result = stages.run(stage("raise SystemExit(1)", budget=0))
    assert "FAILED" in result.line() and " over" in result.line()


def test_a_stage_sees_its_own_variables():
    look = "import os; print(os.environ['SOME'], 'passed')"
    result = stages.run(stage(look, environment={"SOME": "7"}))
    assert result.count == "7 passed"


def test_a_stage_keeps_what_it_compiles(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    result = stages.run(stage("import sys; print(int(not sys.dont_write_bytecode), 'passed')"))
    assert result.count == "1 passed"


def test_a_missing_browser_is_said_again():
    result = stages.run(stage("print('1 passed'); print('NO BROWSER: 4 tests skipped')"))
    assert result.loud == ("NO BROWSER: 4 tests skipped",)


@pytest.mark.parametrize(("which", "seconds"), [("quick", 60), ("all", 720)])
def test_the_budgets_add_up(which, seconds):
    assert sum(one.budget for one in stages.stages(which)) == seconds


def test_what_a_run_leaves_out():
    for which, left_out in [("quick", {"slow", "thorough"}), ("all", {"thorough"})]:
        commands = " ".join(one.command for one in stages.stages(which))
        assert {word for word in ("slow", "thorough") if f"not {word}" in commands} == left_out
    assert not any("not " in one.command for one in stages.stages("thorough"))


def test_make_thorough_alone_tries_all_examples(monkeypatch):
    for which in ("quick", "all", "thorough"):
        (unit,) = [one for one in stages.stages(which) if one.name == "unit tests"]
        for name in stages.THOROUGH:
            monkeypatch.delenv(name, raising=False)
        for name, value in unit.environment.items():
            monkeypatch.setenv(name, value)
        assert many(3, 7) == (7 if which == "thorough" else 3)
