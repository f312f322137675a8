"""The mechanism: one figure, two versions, and a clear word where neither can be."""

import subprocess
import sys

import numpy as np
import pytest
from bs4 import BeautifulSoup

from safeteach.figures import DescribedFigure
from safeteach.widgets import Choice, Slider, interactive

VIEW = "application/vnd.jupyter.widget-view+json"


def sheet(x, y=0):
    """Draw two numbers as the length of a bar and the darkness of the sheet."""
    figure = DescribedFigure(2, 1, alt=f"x is {x} <and> y is {y}.")
    figure.add_axes((0, 0.4, 0.1 + 0.4 * x, 0.2), facecolor=str(0.9 - 0.1 * y)).set_axis_on()
    return figure


X = Slider("the x", [0, 0.5, 1], start=0.5)
Y = Choice("the y & co", {"none": 0, "<more>": 1}, start=1)


@pytest.mark.usefixtures("building")
def test_both_versions_show_the_same_for_every_setting(read):
    widget = interactive(sheet, x=X, y=Y)
    static = read.static(widget.page)
    assert set(static) == {(x, y) for x in ("0", "0.5", "1") for y in ("none", "<more>")}
    assert len(set(static.values())) == 6
    assert static["0", "<more>"][1] == "x is 0 <and> y is 1."
    assert static == read.live(widget)


@pytest.mark.usefixtures("building")
def test_the_start_stands_in_the_page_without_any_script(read):
    page = interactive(sheet, x=X, y=Y).page
    soup = BeautifulSoup(page, "html.parser")
    assert (soup.img["src"], soup.img["alt"]) == read.static(page)["0.5", "<more>"]
    assert soup.select_one(".interactive-controls").has_attr("hidden")
    assert soup.input["value"] == "1"
    assert soup.input["max"] == "2"
    assert soup.output.string == soup.input["aria-valuetext"] == "0.5"
    assert [o.string for o in soup.select("option")] == ["none", "<more>"]
    assert soup.select_one("option[selected]").string == "<more>"
    assert [label.find(string=True).strip() for label in soup.select("label")] == [
        "the x",
        "the y & co",
    ]


@pytest.mark.usefixtures("building")
def test_nothing_in_the_page_ends_its_script_early():
    widget = interactive(
        lambda x: DescribedFigure(1, 1, alt=f"</script><b>{x}"), x=Slider("x", [1, 2], start=1)
    )
    soup = BeautifulSoup(widget.page, "html.parser")
    assert soup.b is None
    assert soup.img["alt"] == "</script><b>1"


def test_a_notebook_gets_one_version_and_the_same_words(monkeypatch):
    live = interactive(sheet, x=X, y=Y)._repr_mimebundle_()
    monkeypatch.setenv("SAFETEACH_STATIC", "1")
    static = interactive(sheet, x=X, y=Y)._repr_mimebundle_()
    assert set(live) == {"text/plain", VIEW}
    assert set(static) == {"text/plain", "text/html"}
    assert live["text/plain"] == static["text/plain"]
    assert static["text/plain"] == (
        "Interactive figure. Controls: the x (0 to 1, at 0.5); the y & co (none, <more>, at "
        "<more>). x is 0.5 <and> y is 1."
    )


def test_a_kernel_may_move_in_finer_steps(read):
    widget = interactive(sheet, x=Slider("x", [0, 1], start=0, fine=[0, 0.25, 0.5, 1]))
    slider, shown = widget.live().children
    assert [value for _, value in slider.options] == [0, 0.25, 0.5, 1]
    slider.value = 0.25
    assert read.now(shown)[1] == "x is 0.25 <and> y is 0."


def test_live_controls_have_their_names():
    slider, buttons, _ = interactive(sheet, x=X, y=Y).live().children
    assert (slider.description, slider.label) == ("the x", "0.5")
    assert (buttons.description, buttons.label) == ("the y & co", "<more>")


def fragile(x):
    if x == 2:
        raise ZeroDivisionError("two is <b>bad</b>")
    return sheet(x / 4)


def test_an_error_is_one_line_and_the_controls_go_on(read):
    slider, shown = interactive(fragile, x=Slider("x", [1, 2, 3], start=1)).live().children
    slider.value = 2
    soup = BeautifulSoup(shown.value, "html.parser")
    assert soup.select_one("[role=alert]").string == (
        "No picture at this setting. ZeroDivisionError: two is <b>bad</b>"
    )
    slider.value = 3
    assert read.now(shown)[1].startswith("x is 0.75")


@pytest.mark.usefixtures("building")
def test_an_error_while_the_book_is_built_fails_the_cell():
    with pytest.raises(ZeroDivisionError):
        interactive(fragile, x=Slider("x", [1, 2, 3], start=1))


@pytest.mark.usefixtures("building")
def test_equal_pictures_are_held_once():
    page = interactive(lambda x: sheet(min(x, 2) / 4), x=Slider("x", range(9), start=0)).page
    assert page.count("data:image/webp") == 3 + 1  # and the one that stands there at first


@pytest.mark.usefixtures("building")
def test_too_many_settings_are_refused_with_their_number():
    with pytest.raises(ValueError, match=r"have 61 settings together; a page holds at most 60"):
        interactive(sheet, x=Slider("x", range(61), start=0))


def test_a_kernel_has_no_such_limit(read):
    slider, shown = interactive(sheet, x=Slider("x", range(1000), start=0)).live().children
    slider.value = 1
    assert read.now(shown)[1].startswith("x is 1 ")


def noise(x):
    figure = DescribedFigure(5, 5, alt=f"Noise {x}.")
    figure.figimage(np.random.default_rng(x).random((480, 480)))
    return figure


@pytest.mark.usefixtures("building")
def test_too_many_bytes_are_refused_with_their_number():
    with pytest.raises(ValueError, match=r"takes [\d,]+ bytes; a page holds at most 1,000,000"):
        interactive(noise, x=Slider("x", range(8), start=0))


@pytest.mark.parametrize("dead", ["x", "y"])
@pytest.mark.usefixtures("building")
def test_a_control_that_changes_nothing_is_refused(dead):
    controls = {"x": Slider("x", [0, 1], start=1), "y": Slider("y", [0, 1], start=1)}
    with pytest.raises(ValueError, match=f"the control '{dead}' changes nothing"):
        interactive(lambda x, y: sheet(y if dead == "x" else x), **controls)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Slider(" ", [1, 2], start=1), "needs a label"),
        (lambda: Slider("x", [], start=1), "values of 'x' has 0 of them; expected at least two"),
        (lambda: Slider("x", [1], start=1), "values of 'x' has 1 of them; expected at least two"),
        (lambda: Slider("x", [1, 2], start=3), "start of 'x' is 3, none of 1, 2"),
        (lambda: Slider("x", [1, 1 + 1e-9], start=1), "'x' shows two of its values alike, as 1"),
        (lambda: Slider("x", [1, 2], start=1, fine=[1, 3]), "fine of 'x' lacks 2"),
        (lambda: Choice("x", {"a": 1}, start=1), "options of 'x' has 1 of them"),
        (lambda: Choice("x", {"a": 1, "b": 2}, start="a"), "start of 'x' is 'a', none of a, b"),
        (lambda: interactive(sheet), "0 controls; a figure has one to 3"),
        (lambda: interactive(sheet, **dict.fromkeys("abcd", X)), "4 controls"),
    ],
)
def test_bad_controls_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_ipywidgets_is_loaded_with_the_widgets_alone():
    code = (
        "import sys, safeteach, safeteach.figures; assert 'ipywidgets' not in sys.modules; "
        "safeteach.widgets; assert 'ipywidgets' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
