"""Settings that all tests share, and ways to ask a figure what is drawn in it."""

import itertools
import json
import os
import signal
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from coverage import Coverage
from hypothesis import settings
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from safeteach import widgets
from safeteach.widgets import STATIC, Slider

# The same examples in every run: a failure on one machine is a failure on all.
settings.register_profile("book", derandomize=True, deadline=None)
settings.load_profile("book")

# What `make check` leaves to `make test`: statements, pictures, hostile answers and calls, reports
# and processes, whose tests take two thirds of the time and whose code changes seldom.  Who works
# on these runs their folder.
SHOWN = (
    "tests/chapters/*/test_*figure*.py",
    "tests/chapters/*/test_controls.py",
    "tests/classroom/drawing/*.py",
    "tests/classroom/checking/test_bad_answers.py",
    "tests/classroom/checking/test_isolation.py",
    "tests/core/figures/*.py",
)
LEFT = (
    *SHOWN,
    "tests/chapters/*/test_statements*.py",
    "tests/classroom/checking/test_fresh_cases.py",
)
# And these, which `make oldest` runs.
LEFT_BY_CHECK = (
    "tests/chapters/*/test_lesson.py",
    "tests/classroom/test_editions.py",
    "tests/core/planning/test_within_risk.py",
    "tests/core/reporting/*.py",
    "tests/core/running/test_jobs.py",
    "tests/core/running/test_keying.py",
    "tests/core/test_command.py",
    "tests/core/test_packaging.py",
    "tests/core/test_wrong_calls.py",
    "tests/playground/*.py",
)
# Which lines are reached is not noted while these run, nor the slow tests of what is shown, nor the
# second and later cases of slow tests of the core, nor while test files are read: it takes half as
# long again, and they reach none that others do not.  The library is read before, and noted.
UNNOTED = (
    "tests/chapters/*/test_lab_notes.py",
    "tests/chapters/*/test_statements*.py",
    "tests/chapters/*/test_stored*.py",
    "tests/classroom/checking/test_fresh_cases.py",
    "tests/classroom/test_book_and_rooms.py",
    "tests/core/learners/test_doom.py",
    "tests/core/planning/test_planning.py",
    "tests/core/running/test_cluster.py",
    "tests/core/test_house.py",
    "tests/core/test_kernels.py",
    "tests/core/test_wrong_calls.py",
    "tests/errata/*.py",
    "tests/playground/*.py",
)
UNMEASURED = pytest.StashKey[bool]()
TESTS = Path(__file__).parent


def pytest_configure():
    """Let interrupts interrupt: in the background of a script they are ignored, by children too."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_among(path, patterns):
    return any(path.match(pattern) for pattern in patterns)


def pytest_ignore_collect(collection_path):
    """What would be left out anyhow is not even read; None lets others decide."""
    checking = "SAFETEACH_CHECK" in os.environ
    return (checking and is_among(collection_path, (*LEFT, *LEFT_BY_CHECK))) or None


def pytest_collection_modifyitems(items):
    tests = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        again = test in tests and item.path.is_relative_to(TESTS / "core")
        tests.add(test)
        slow = item.get_closest_marker("slow") and (again or is_among(item.path, SHOWN))
        item.stash[UNMEASURED] = bool(slow) or is_among(item.path, UNNOTED)
        if is_among(item.path, LEFT):
            item.add_marker(pytest.mark.slow)


@contextmanager
def unmeasured():
    """Note no lines meanwhile, if they are noted at all, nor in processes that are started."""
    measuring, asked = Coverage.current(), os.environ.pop("COVERAGE_PROCESS_START", None)
    if measuring:
        measuring.stop()
    yield
    if measuring:
        measuring.start()
    if asked:
        os.environ["COVERAGE_PROCESS_START"] = asked


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    if collector.path.is_relative_to(TESTS):
        with unmeasured():
            return (yield)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    if item.stash.get(UNMEASURED, False):
        with unmeasured():
            return (yield)
    return (yield)


@pytest.fixture(scope="session")
def drawn():
    """Return the names of a figure's artists of a sort: "state/3/safe" as ("3", "safe")."""

    def parts(figure, sort):
        found = figure.findobj(lambda artist: (artist.get_gid() or "").startswith(sort + "/"))
        return sorted(tuple(artist.get_gid().split("/")[1:]) for artist in found)

    return parts


def beyond_its_ends(axes):
    """The labels of ticks that matplotlib has made and does not draw."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


@pytest.fixture(scope="session")
def written():
    """Return a figure's texts, each with the pixels it covers."""

    def boxes(figure):
        figure.draw_without_rendering()  # axes put their labels in place then, and not before
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        unseen = {label for axes in figure.axes for label in beyond_its_ends(axes)}
        renderer = FigureCanvasAgg(figure).get_renderer()
        return {text: text.get_window_extent(renderer) for text in texts if text not in unseen}

    return boxes


@pytest.fixture(scope="session")
def legible(written):
    """Fail if a figure is too wide, a text too small, off the paper or over another text."""

    def check(figure):
        boxes = written(figure)
        width, height = figure.get_size_inches()
        assert width <= 7.5
        for text, box in boxes.items():
            assert text.get_fontsize() >= 10
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= width * figure.dpi
            assert box.y1 <= height * figure.dpi
        for (text, box), (other, its_box) in itertools.combinations(boxes.items(), 2):
            apart = box.x1 <= its_box.x0 or its_box.x1 <= box.x0
            apart |= box.y1 <= its_box.y0 or its_box.y1 <= box.y0
            assert apart, f"{text.get_text()!r} and {other.get_text()!r} overlap"

    return check


@pytest.fixture(scope="session")
def on_paper():
    """Fail if a figure is too wide, anything in it is off the paper or a text too small."""

    def check(figure):
        box = figure.get_tightbbox()  # of all that is drawn, in inches
        width, height = figure.get_size_inches()
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= width <= 7.5
        assert box.y1 <= height
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        assert min(text.get_fontsize() for text in texts) >= 10

    return check


@pytest.fixture(scope="session")
def apart(on_paper):
    """Fail if the words in the only axes of a figure are not on paper or lie on each other."""

    def check(figure):
        figure.draw_without_rendering()
        on_paper(figure)
        (axes,) = figure.axes
        texts = [*axes.texts, *axes.get_xticklabels(), *axes.get_legend().get_texts()]
        renderer = FigureCanvasAgg(figure).get_renderer()
        boxes = {text: text.get_window_extent(renderer) for text in texts}
        for one, other in itertools.combinations(texts, 2):
            assert not boxes[one].overlaps(boxes[other]), (one.get_text(), other.get_text())

    return check


@pytest.fixture
def building(monkeypatch):
    """Pretend that the book is being built."""
    monkeypatch.setenv(STATIC, "1")


def static_pictures(page):
    """Return {what each control shows: (src, alt)} of the version for the page."""
    data = json.loads(BeautifulSoup(page, "html.parser").script.string)
    settings = itertools.product(*data["shown"])
    pictures = [data["pictures"][i][:2] for i in data["states"]]
    return {setting: tuple(picture) for setting, picture in zip(settings, pictures, strict=True)}


def live_picture(shown):
    """Return (src, alt) of the picture that a kernel shows."""
    image = BeautifulSoup(shown.value, "html.parser").img
    return image["src"], image["alt"]


def live_pictures(widget, settings=None):
    """Move the live controls through settings, by default all of the page; return the same."""
    *inputs, shown = widget.live().children
    options = [control.options for control in widget.controls.values()]
    found = {}
    for setting in itertools.product(*options) if settings is None else settings:
        for control, values, name in zip(inputs, options, setting, strict=True):
            control.value = values[name]
        found[setting] = live_picture(shown)
    return found


@pytest.fixture
def read():
    """Hand out the three readers, under short names."""

    class Read:
        static = staticmethod(static_pictures)
        live = staticmethod(live_pictures)
        now = staticmethod(live_picture)

    return Read


def ends_and_start(control):
    """A control with three of its settings at most."""
    names, values = list(control.options), list(control.options.values())
    kept = sorted({0, values.index(control.start), len(values) - 1})
    if isinstance(control, Slider):
        return replace(control, values=[values[i] for i in kept])
    return replace(control, options={names[i]: values[i] for i in kept})


@pytest.fixture(params=["some", pytest.param("all", marks=pytest.mark.thorough)])
def page_of(building, request, monkeypatch):  # noqa: ARG001, only a page being built has pictures
    """Let pages have some of their settings, three a control at most, or all; say which."""
    if request.param == "some":
        whole = widgets.static_page

        def thin(figure, controls, first):
            return whole(figure, {n: ends_and_start(c) for n, c in controls.items()}, first)

        monkeypatch.setattr(widgets, "static_page", thin)
    return request.param


@pytest.fixture
def check_both(page_of):
    """Compare what a kernel shows with the page, some or all of it; {setting: (src, alt)}."""

    def check(widget, settings=None, every_move_shows=True):
        static = static_pictures(widget.page)
        assert static == live_pictures(widget, static)
        if page_of == "all":
            assert settings in (None, len(static))
        if every_move_shows:  # no setting looks or reads like another
            assert len({src for src, _ in static.values()}) == len(static)
            assert len({alt for _, alt in static.values()}) == len(static)
        return static

    return check
