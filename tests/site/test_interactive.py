"""The interactive figures of the built pages, where no script and no kernel runs."""

import pytest
from built import HTML, INTERACTIVE


def test_the_book_has_interactive_figures():
    assert INTERACTIVE, "no page of the book has an interactive figure"


def test_without_a_script_the_first_picture_stands_and_no_dead_control(new_page, site):
    page = new_page(java_script_enabled=False)
    for name in INTERACTIVE:
        page.goto(f"{site}/{name}.html", wait_until="domcontentloaded")
        for figure in page.locator("figure.interactive").all():
            assert figure.locator("img").is_visible()
            assert figure.locator("img").get_attribute("alt")
            assert not figure.locator("input, select").first.is_visible()
    page.close()


@pytest.mark.parametrize("page", INTERACTIVE)
def test_no_page_carries_the_state_of_live_widgets(page):
    text = (HTML / f"{page}.html").read_text("utf-8")
    assert "application/vnd.jupyter.widget" not in text
    assert len(text.encode()) < 2_000_000, "too heavy"
