"""Ways to ask a figure what is drawn in it."""

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


@pytest.fixture(scope="session")
def drawn():
    """Return the names of a figure's artists of a sort: "state/3/safe" as ("3", "safe")."""

    def parts(figure, sort):
        found = figure.findobj(lambda artist: (artist.get_gid() or "").startswith(sort + "/"))
        return sorted(tuple(artist.get_gid().split("/")[1:]) for artist in found)

    return parts


@pytest.fixture(scope="session")
def written():
    """Return a figure's texts, each with the pixels it covers."""

    def boxes(figure):
        renderer = FigureCanvasAgg(figure).get_renderer()
        texts = [text for text in figure.findobj(Text) if text.get_text()]
        return {text: text.get_window_extent(renderer) for text in texts}

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
