"""A report in a real browser: from the disk, on a phone, in the dark, on paper."""

import numpy as np
import pytest
from looking import AXE, LAID_OUT

import safeteach as st

LONG = st.SafeMDP(
    np.eye(3)[[[0, 1], [2, 2], [2, 2]]], np.zeros((3, 2)), [0, 0, 1], 0.5, 3,
    state_names=["<script>alert(1)</script>", "a" * 300, "water"],
)  # fmt: skip
WORLDS = {
    "pond": st.instances.grid(),
    "no safe policy": st.instances.random_mdp(30, 3, 8, 4, successors=5, unsafe=0.4),
    "long names": LONG,
}
COLOURS = (
    "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
)
CUT = (
    "() => [...document.querySelectorAll('.wide')].filter(box => box.scrollWidth > box.clientWidth)"
)


@pytest.fixture(params=WORLDS)
def file(request, tmp_path):
    path = tmp_path / "report.html"
    st.report(WORLDS[request.param], path)
    return path.as_uri()


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1100)])
def test_axe_finds_nothing_and_nothing_is_too_wide(new_page, file, theme, width):
    page, asked, complaints = new_page(), [], []
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: complaints.append(said.text))
    page.goto(file)
    page.wait_for_function(LAID_OUT, arg=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert {url for url in asked if not url.startswith("data:")} == {file} and complaints == []
    page.evaluate(AXE)
    found = page.evaluate("axe.run().then(run => run.violations)")
    assert [(one["id"], node["html"][:150]) for one in found for node in one["nodes"]] == []
    page.close()


def test_it_is_dark_in_the_dark_and_white_on_paper(new_page, file):
    page = new_page(color_scheme="dark")
    page.goto(file)
    assert page.evaluate(COLOURS) == ["rgb(23, 24, 26)", "rgb(236, 236, 236)"]
    page.emulate_media(media="print")
    assert page.evaluate(COLOURS) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    page.close()
