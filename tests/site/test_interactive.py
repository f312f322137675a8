"""The interactive figures of the built pages, moved with the keyboard, and without a script."""

import itertools
import statistics

import pytest
from built import HTML, PAGES
from moving import walks


@pytest.fixture(scope="module")
def pages():
    """Name the pages that have interactive figures."""
    found = [
        page
        for page in PAGES
        if 'class="interactive"' in (HTML / f"{page}.html").read_text("utf-8")
    ]
    assert found, "no page of the book has an interactive figure"
    return found


def test_every_control_moves_its_picture_and_its_words(pages, chromium, site, capsys):
    milliseconds = []
    for name in pages:
        page = chromium.new_page()
        page.goto(f"{site}/{name}.html")
        for walk in walks(page):
            where = f"{walk.name!r} on {name}"
            assert walk.name, f"a control on {name} has no name"
            assert len(set(walk.shown)) == len(walk.shown) > 1, f"{where} shows {walk.shown}"
            for (src, alt), (next_src, next_alt) in itertools.pairwise(walk.pictures):
                assert src != next_src, f"{where} was moved, its picture was not"
                assert alt != next_alt, f"{where} was moved, its alt text was not"
            assert walk.said == [alt for _, alt in walk.pictures[1:]]
            milliseconds += walk.milliseconds
        page.close()
    with capsys.disabled():
        print(
            f"\n{len(milliseconds)} moves of controls on {len(pages)} pages: median "
            f"{statistics.median(milliseconds):.0f} ms, longest {max(milliseconds):.0f} ms"
        )


def test_the_value_stands_beside_its_slider(pages, chromium, site):
    for name in pages:
        page = chromium.new_page()
        page.goto(f"{site}/{name}.html")
        for slider in page.locator("figure.interactive input").all():
            slider.focus()
            for key in ("Home", "End"):
                page.keyboard.press(key)
                value = slider.locator("xpath=../..").locator("output").text_content()
                assert value == slider.get_attribute("aria-valuetext")
        page.close()


def test_without_a_script_the_first_picture_stands_and_no_dead_control(pages, chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    for name in pages:
        page = context.new_page()
        page.goto(f"{site}/{name}.html")
        for figure in page.locator("figure.interactive").all():
            assert figure.locator("img").is_visible()
            assert figure.locator("img").get_attribute("alt")
            assert not figure.locator("input, select").first.is_visible()
        page.close()
    context.close()


def test_no_page_carries_the_state_of_live_widgets(pages):
    for name in pages:
        text = (HTML / f"{name}.html").read_text("utf-8")
        assert "application/vnd.jupyter.widget" not in text
        assert len(text.encode()) < 2_000_000, f"{name} is too heavy"
