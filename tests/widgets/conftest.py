"""Both versions of an interactive figure, read as a reader's browser and kernel would show them."""

import itertools
import json

import pytest
from bs4 import BeautifulSoup

from safeteach.widgets.interactive import STATIC


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


def live_pictures(widget):
    """Move the live controls through the settings of the page; return the same as for the page."""
    *inputs, shown = widget.live().children
    found = {}
    for setting in itertools.product(*(c.options.items() for c in widget.controls.values())):
        for control, (_, value) in zip(inputs, setting, strict=True):
            control.value = value
        found[tuple(name for name, _ in setting)] = live_picture(shown)
    return found


@pytest.fixture
def read():
    """Hand out the three readers, under short names."""

    class Read:
        static = staticmethod(static_pictures)
        live = staticmethod(live_pictures)
        now = staticmethod(live_picture)

    return Read
