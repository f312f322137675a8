"""Pages that are read two at a time come out as if they had been read one after another."""

from pathlib import Path

import booksite
import pytest
from building import build

PAGES = range(1, 8)
CONFIG = f"""
title: A book of seven pages
only_build_toc_files: true
execute: {{execute_notebooks: "off"}}
parse: {{myst_enable_extensions: [dollarmath, colon_fence]}}
sphinx:
  recursive_update: true
  extra_extensions: [sphinx_proof, sphinx_exercise]
  config: {{book_jobs: JOBS}}
  local_extensions: {{booksite: {Path(booksite.__file__).parent}}}
"""
PAGE = """# Page {n}

$$ x = {n} $$ (eq-{n})

:::{{prf:theorem}} Of page {n}
:label: thm-{n}
See {{prf:ref}}`thm-{other}`, {{eq}}`eq-{other}` and {{ref}}`ex-{other}`.
:::

:::{{exercise}}
:label: ex-{n}
Prove {{prf:ref}}`thm-{n}`.
:::

(sec-{n})=
## A section

It is far from the exercise. See [](sec-{other}) and [](page{other}).
"""


def build_with(folder, jobs):
    (folder / "_config.yml").write_text(CONFIG.replace("JOBS", str(jobs)))
    return build(folder)


@pytest.fixture
def folder(tmp_path):
    chapters = "".join(f"  - file: page{n}\n" for n in PAGES)
    toc = f"format: jb-book\nroot: index\noptions: {{numbered: true}}\nchapters:\n{chapters}"
    (tmp_path / "_toc.yml").write_text(toc)
    (tmp_path / "index.md").write_text("# Start\n\nText.\n")
    (tmp_path / "requirements.txt").touch()
    for n in PAGES:
        (tmp_path / f"page{n}.md").write_text(PAGE.format(n=n, other=n % len(PAGES) + 1))
    return tmp_path


def test_the_pages_are_the_same(folder):
    html = []
    for jobs in (1, 2):
        passed, log = build_with(folder, jobs)
        assert passed, log
        files = (folder / "_build" / "html").rglob("*.html")
        kept = (folder / "_build" / ".doctrees" / "environment.pickle").read_bytes()
        assert b"Prove" in kept and b"far from the exercise" not in kept, "a page is kept with it"
        html.append({path.name: path.read_text("utf-8") for path in files})
        (folder / "_build").rename(folder / f"_built{jobs}")
    assert "Theorem 3.1" in html[0]["page3.html"] and "Exercise 4.1" in html[0]["page3.html"]
    assert html[0] == html[1]


MORE = [pytest.param(label, marks=pytest.mark.thorough) for label in ("thm-6", "eq-6")]


@pytest.mark.parametrize("label", ["ex-6", "sec-6", *MORE])
def test_a_label_on_two_pages_fails_the_build(folder, label):
    twin = folder / "page7.md"
    twin.write_text(twin.read_text().replace(label.replace("6", "7"), label))
    other = folder / "page5.md"
    other.write_text(other.read_text().replace(label, label.replace("6", "4")))
    passed, log = build_with(folder, 2)
    assert not passed
    assert f" {label}, also in page" in log
