"""The Sphinx extension behind the editions: the same pages with or without solutions and rubrics.

A variable of the environment names the edition, see :mod:`editions`.  Without it the pages are the
reader's.  In the student's, solutions are taken out before anything is written: neither page nor
search index knows of them.  In the instructor's, each solution is followed by its rubric.

An edition is written from what the reader's build has read and run.  Should a page have to be read
again, the build stops, since that would execute its notebook a second time.
"""

import os
from pathlib import Path
from typing import Any

import solutions
from docutils import nodes
from docutils.utils import new_document
from editions import EDITION
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import sphinx_domains
from sphinx_exercise.nodes import solution_node  # type: ignore[import-untyped]

# They lead to the repository and to Binder, where the solutions are.
LINKS = ("launch_buttons", "repository_url", "use_issues_button", "use_repository_button")


def edition() -> str:
    """Which edition is being built; empty for the reader's."""
    return os.environ.get(EDITION, "")


class EditSolutions(SphinxPostTransform):
    """Take solutions out of a page, or put their rubrics behind them."""

    default_priority = 1  # before references are resolved, so that those in a rubric are too

    def run(self, **_: Any) -> None:
        """Do what the edition asks for."""
        if edition() == "student":
            for solution in list(self.document.findall(solution_node)):
                solution.parent.remove(solution)
        elif edition() == "instructor":
            rubrics = solutions.rubrics_of(Path(self.env.docname), Path(self.env.srcdir))
            for solution in list(self.document.findall(solution_node)):
                at = solution.parent.index(solution) + 1
                solution.parent[at:at] = self.read(rubrics[solution["target_label"]])

    def read(self, rubric: solutions.Rubric) -> list[nodes.Node]:
        """Read a rubric as a part of the page."""
        document = new_document(self.document["source"], self.document.settings)
        with sphinx_domains(self.env):  # they know the roles, {prf:ref} and all
            MystParser().parse(solutions.as_markdown(rubric), document)
        return list(document.children)


def stay(_app: Sphinx, config: Config) -> None:
    """Link a student's page to nothing that holds solutions."""
    if edition() == "student":
        for name in LINKS:
            config.html_theme_options.pop(name, None)


def read_nothing(_app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
    """Stop where an edition would read a page again."""
    if edition() and docnames:
        raise ExtensionError(
            f"the {edition()}'s edition is written from the reader's, and {sorted(docnames)[0]} "
            f"has changed since that was built: run `make book` first"
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    app.add_post_transform(EditSolutions)
    app.connect("config-inited", stay, priority=900)  # after the book has set its buttons
    app.connect("env-before-read-docs", read_nothing, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
