r"""Figures that can describe themselves, and the one vocabulary that all of them draw with.

A figure of the book is a :class:`DescribedFigure`: a matplotlib figure with a text computed from
the same data, which the page shows to those who cannot see the picture.  Every figure tells the
three kinds of state apart by colour, by shape and by filling:

=====================  ===============  ============  ==========================================
kind at step h         colour           shape         filling
=====================  ===============  ============  ==========================================
safe                   blue             circle        plain
doomed                 orange           square        hatched; in U_h, not in U
unsafe                 vermilion        octagon       full, with a cross whose middle is open
=====================  ===============  ============  ==========================================

The colours are those of Okabe and Ito, which stay distinct for every common kind of colour
blindness.  The background is opaque paper, so a figure reads as a card on a dark page too.
Nothing here touches ``matplotlib.pyplot``: a figure nobody holds is gone.

Taught in the chapter *MDPs you can run*.
"""

from __future__ import annotations

import base64
import functools
import io
import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import number, string
from safeteach.extras import extra
from safeteach.safety import potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

with extra("figures"):
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, FancyBboxPatch, Patch, PathPatch, Polygon, RegularPolygon
    from matplotlib.path import Path
    from matplotlib.patheffects import withStroke
    from matplotlib.textpath import TextPath
    from matplotlib.ticker import NullLocator
    from PIL import Image

__all__ = ["DescribedFigure"]

PAPER, INK, GREY, LINE = "#fdfcf8", "#1a1a1a", "#555555", "#bdbdbd"
BLUE, SKY, ORANGE, VERMILION = "#0072b2", "#56b4e9", "#e69f00", "#d55e00"
PALE_BLUE, PALE_SKY, PALE_ORANGE = "#e4f1f9", "#d9edf9", "#fdf1d6"

WIDEST = 7.5  # inches; a figure any wider would be shrunk on the page, its text with it
TEXT = 11.0  # points, everywhere
HALF_LETTER = 0.05  # inches from the baseline to the middle of a letter of that size
FONT = "DejaVu Sans"  # comes with matplotlib, so the same on every machine; it has ↑ ↓ ← →
CSS_PIXELS = 96  # an inch
COLUMN = 688  # CSS pixels of the page's text; what is nearly as wide is shown as wide as that
NEARLY = 480
SHARPNESS = 2  # pixels of the picture for a CSS pixel
COLOURS = 64  # of a picture; figures have a dozen and the shades between them
MOST_INCHES = 2**16 / (CSS_PIXELS * SHARPNESS)  # or matplotlib cannot draw it
LONGEST_ALT = 600  # letters; longer than this nobody listens

Point = tuple[float, float] | NDArray[np.float64]


class DescribedFigure(Figure):
    """A matplotlib figure with a description, shown in notebooks as a sharp PNG with alt text.

    Parameters
    ----------
    width, height : float
        Inches; a CSS pixel is 1/96 of one.
    alt : str
        The description.

    Examples
    --------
    >>> from safeteach.figures import DescribedFigure
    >>> figure = DescribedFigure(3, 2, alt="An empty sheet.")
    >>> data, metadata = figure._repr_mimebundle_()
    >>> data["text/plain"], metadata["image/png"]
    ('An empty sheet.', {'alt': 'An empty sheet.', 'width': 288, 'height': 192})
    """

    def __init__(self, width: float, height: float, alt: str) -> None:
        number(width, "width", 0, MOST_INCHES)
        number(height, "height", 0, MOST_INCHES)
        super().__init__(figsize=(width, height), facecolor=PAPER)
        self.alt = string(alt, "alt")

    def image(self) -> Image.Image:
        """The picture in few colours, at two pixels for a CSS pixel."""
        for axes in self.axes:
            _join_minor_ticks(axes.xaxis)
            _join_minor_ticks(axes.yaxis)
        dpi = CSS_PIXELS * SHARPNESS
        pixels = io.BytesIO()
        self.savefig(pixels, format="raw", dpi=dpi)  # quicker than a PNG that is read at once
        width, height = (int(side * dpi) for side in self.get_size_inches())
        full = Image.frombytes("RGBA", (width, height), pixels.getvalue()).convert("RGB")
        return full.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)

    def png(self) -> bytes:
        """The picture as a PNG, a fraction of the size that all its colours would take."""
        buffer = io.BytesIO()
        self.image().save(buffer, format="PNG", optimize=True)
        return buffer.getvalue()

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,  # noqa: ARG002, IPython itself picks from both
        exclude: Collection[str] | None = None,  # noqa: ARG002
    ) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        width, height = shown_size(*(side * CSS_PIXELS for side in self.get_size_inches()))
        picture = base64.b64encode(self.png()).decode("ascii")
        return (
            {"text/plain": self.alt, "image/png": picture},
            {"image/png": {"alt": self.alt, "width": width, "height": height}},
        )


def shown_size(width: float, height: float) -> tuple[int, int]:
    """The CSS pixels that a picture takes in page and lab: all of the column, or what it has.

    >>> shown_size(288, 192), shown_size(547, 336)
    ((288, 192), (688, 423))
    """
    scale = COLUMN / width if NEARLY <= width < COLUMN else 1.0
    return round(width * scale), round(height * scale)


def _join_minor_ticks(axis: Axis) -> None:
    """Make one artist of the minor ticks, with the same pixels, if none of them has a label.

    For matplotlib each is five; on a logarithmic axis they would take longer than all the rest.
    """
    places = axis.get_minorticklocs()
    low, high = sorted(axis.get_view_interval())
    places = places[(low <= places) & (places <= high)]
    if not places.size or any(axis.get_minor_formatter().format_ticks(places.tolist())):
        return
    (tick,) = axis.get_minor_ticks(1)
    joined = Line2D([], [])
    joined.update_from(tick.tick1line)
    foot = np.zeros(places.size)
    joined.set_data(*((places, foot) if axis is axis.axes.xaxis else (foot, places)))
    axis.axes.add_artist(joined)
    joined.set(clip_on=False, zorder=axis.get_zorder(), transform=tick.tick1line.get_transform())
    axis.set_minor_locator(NullLocator())


def sheet(width: float, height: float, alt: str) -> tuple[DescribedFigure, Axes]:
    """A figure whose one drawing area is measured in inches from the bottom left corner."""
    figure = DescribedFigure(width, height, alt)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(0, height))
    return figure, axes


@dataclass(frozen=True)
class Kind:
    """How one kind of state looks."""

    name: str
    face: str
    edge: str
    hatch: str | None
    outline: Callable[[Point, float], Patch]


def _circle(xy: Point, radius: float) -> Patch:
    return Circle((xy[0], xy[1]), radius)


def _square(xy: Point, radius: float) -> Patch:
    side = 1.72 * radius  # with its round corners it fits the same ring as the other two shapes
    return FancyBboxPatch(
        (xy[0] - side / 2, xy[1] - side / 2),
        side,
        side,
        boxstyle=f"round,pad=0,rounding_size={0.2 * side}",
    )


def _octagon(xy: Point, radius: float) -> Patch:
    return RegularPolygon((xy[0], xy[1]), 8, radius=1.06 * radius, orientation=np.pi / 8)


SAFE = Kind("safe", PALE_BLUE, BLUE, None, _circle)
DOOMED = Kind("doomed", PALE_ORANGE, ORANGE, "////", _square)
UNSAFE = Kind("unsafe", VERMILION, INK, None, _octagon)
KINDS = (SAFE, DOOMED, UNSAFE)


def kinds_at(mdp: SafeMDP, h: int) -> list[Kind]:
    """The kind of each state at step ``h`` = 1..H."""
    U_h = potentially_unsafe(mdp)[mdp.check_step(h) - 1]
    return [
        KINDS[int(doomed) + int(unsafe)] for doomed, unsafe in zip(U_h, mdp.unsafe, strict=True)
    ]


def draw_state(
    axes: Axes,
    xy: Point,
    kind: Kind,
    radius: float,
    label: str = "",
    gid: str | None = None,
    alpha: float = 1.0,
) -> None:
    """Draw one state; everything of it stays within 1.08 radii of ``xy``."""
    body = kind.outline(xy, radius)
    body.set(facecolor=kind.face, edgecolor=kind.edge, linewidth=1.6, zorder=4, gid=gid)
    body.set(hatch=kind.hatch, hatch_linewidth=0.9, alpha=alpha)
    axes.add_artist(body)
    if kind is UNSAFE:
        diagonals = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])[:, None]
        strokes = xy + diagonals * radius * np.array([[0.42 if label else 0.0], [0.68]])
        cross = PathPatch(Path(strokes.reshape(-1, 2), [Path.MOVETO, Path.LINETO] * 4))
        cross.set(fill=False, edgecolor=INK, linewidth=1.6, zorder=5, alpha=alpha)
        axes.add_artist(cross)
    if label:
        write(axes, xy, label, halo=kind.face, alpha=alpha)


def ring(axes: Axes, xy: Point, kind: Kind, radius: float, gid: str | None = None) -> None:
    """Draw the mark of a state that has just entered U_h: a heavy line around it."""
    line = kind.outline(xy, 1.34 * radius)
    line.set(fill=False, edgecolor=INK, linewidth=2.2, zorder=4, gid=gid)
    axes.add_artist(line)


def draw_box(axes: Axes, xy: Point, label: str) -> None:
    """Draw an action: its name (one or more lines) in a small box."""
    width, height = box_size(label)
    box = FancyBboxPatch(
        (xy[0] - width / 2, xy[1] - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.07",
    )
    box.set(facecolor=PAPER, edgecolor=GREY, linewidth=1.0, zorder=5)
    axes.add_artist(box)
    write(axes, xy, label)


def box_size(label: str) -> tuple[float, float]:
    """Width and height in inches of an action's box."""
    width, height = text_size(label)
    return max(width, 0.09) + 0.11, height + 0.06


def write(
    axes: Axes,
    xy: Point,
    text: str,
    align: str = "center",
    math: bool = False,
    halo: str | None = None,
    alpha: float = 1.0,
) -> None:
    """Write in the one font and size; ``$`` is mathematics only in the figures' own words."""
    line = "\n" not in text  # a single line stands on its baseline, whatever letters it has
    axes.text(
        xy[0],
        xy[1] - (HALF_LETTER if line else 0),
        text,
        fontsize=TEXT,
        fontfamily=FONT,
        color=INK,
        ha=align,
        va="baseline" if line else "center",
        linespacing=1.1,
        parse_math=math,
        zorder=6,
        alpha=alpha,
        path_effects=[withStroke(linewidth=3.5, foreground=halo)] if halo else None,
    )


def arrow(
    axes: Axes,
    start: Point,
    end: Point,
    color: str = GREY,
    dashed: bool = False,
    bend: float = 0.0,
    gap: tuple[float, float] = (0.0, 0.0),
    head: bool = True,
    width: float = 1.2,
    alpha: float = 1.0,
    gid: str | None = None,
) -> None:
    """Draw an arrow that leaves ``gap`` inches free around its ends; see :func:`bow`."""
    points = bow(np.asarray(start), np.asarray(end), np.array(bend), ON_PAPER)
    clear = np.hypot(*(points - start).T) >= gap[0]
    points = points[clear & (np.hypot(*(points - end).T) >= gap[1])]
    if head:
        size = min(0.1 + 0.02 * width, 0.7 * np.hypot(*(points[-1] - points[0])))
        back = points[np.hypot(*(points - points[-1]).T) >= size]
        base = back[-1]
        way = (points[-1] - base) / np.hypot(*(points[-1] - base))
        aside = np.array([way[1], -way[0]]) * 0.4 * size
        tip = Polygon([points[-1], base + aside, base - aside], closed=True)
        tip.set(facecolor=color, edgecolor="none", zorder=3.5, alpha=alpha)
        axes.add_artist(tip)
        points = back
    line = PathPatch(Path(points), fill=False, edgecolor=color, linewidth=width, alpha=alpha)
    line.set(linestyle=(0, (3.2, 1.8)) if dashed else "solid", capstyle="butt")
    line.set(zorder=3 if dashed else 2, gid=gid)
    axes.add_artist(line)


ON_PAPER = np.linspace(0, 1, 81)


def bow(
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    bend: NDArray[np.float64],
    along: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Points on arrows that bend to the right of their way (to the left for bends below 0).

    Parameters
    ----------
    start, end : (..., 2) arrays
    bend : (...) array
        The height of the bow is half of this share of its length.
    along : (k,) array in [0, 1]
        Where on the way.

    Returns
    -------
    (..., k, 2) array
    """
    way = end - start
    aside = np.stack([way[..., 1], -way[..., 0]], axis=-1)
    control = (start + end) / 2 + bend[..., None] * aside
    u = along[:, None]
    return (
        (1 - u) ** 2 * start[..., None, :]
        + 2 * u * (1 - u) * control[..., None, :]
        + u**2 * end[..., None, :]
    )


@dataclass(frozen=True)
class Entry:
    """One line of a legend: what to draw in a box of 0.36 inches around a point, and a text."""

    draw: Callable[[Axes, Point], None]
    text: str


def kind_entries() -> list[Entry]:
    """The legend of the three kinds."""
    return [
        Entry(lambda axes, xy, kind=kind: draw_state(axes, xy, kind, 0.13), kind.name)  # type: ignore[misc]
        for kind in KINDS
    ]


LEGEND_LINE, LEGEND_GAP = 0.34, 0.24


def legend_lines(entries: Sequence[Entry], width: float) -> list[list[Entry]]:
    """Break a legend into as few lines of equal numbers of entries as fit this width."""
    for count in range(1, len(entries) + 1):
        cuts = np.linspace(0, len(entries), count + 1).round().astype(int)[::-1]
        cuts = len(entries) - cuts  # the longer lines come first
        lines = [list(entries[i:j]) for i, j in itertools.pairwise(cuts)]
        if max(map(_line_width, lines)) <= width - 0.2:
            break
    return lines


def legend_height(entries: Sequence[Entry], width: float) -> float:
    """The inches that :func:`draw_legend` takes at the bottom of a figure of this width."""
    return LEGEND_LINE * len(legend_lines(entries, width)) + 0.12


def draw_legend(axes: Axes, entries: Sequence[Entry], width: float) -> None:
    """Draw a legend along the bottom of a sheet, centred."""
    lines = legend_lines(entries, width)
    for i, line in enumerate(lines):
        y = 0.06 + LEGEND_LINE * (len(lines) - i - 0.5)
        x = (width - _line_width(line)) / 2
        for entry in line:
            entry.draw(axes, (x + 0.18, y))
            write(axes, (x + 0.39, y), entry.text, align="left", math=True)
            x += _entry_width(entry)


def _entry_width(entry: Entry) -> float:
    return 0.39 + text_size(entry.text, math=True)[0] + LEGEND_GAP


def _line_width(line: Sequence[Entry]) -> float:
    return sum(map(_entry_width, line)) - LEGEND_GAP


@functools.cache
def text_size(text: str, math: bool = False) -> tuple[float, float]:
    """Width and height in inches of a text as :func:`write` sets it."""
    lines = text.split("\n")
    font = FontProperties(family=FONT)
    widths = []
    for line in lines:
        letters = line if math else line.replace("$", r"\$")
        box = TextPath((0, 0), letters or " ", size=TEXT, prop=font).get_extents()
        widths.append(max(float(box.width), 0.0) / 72)
    return max(widths), len(lines) * TEXT * 1.1 / 72


def shorten(text: str, most: int = 10) -> str:
    """A name short enough to be written into a state; the alt text has it in full."""
    return text if len(text) <= most else text[: most - 1] + "…"


def state_radius(labels: Sequence[str]) -> float:
    """The radius at which the longest of these labels fits into every kind of state."""
    return max(0.25, 0.58 * max(text_size(label)[0] for label in labels) + 0.045)


def listing(names: Sequence[str], most: int = 90, comma: str = ", ") -> str:
    """The names in one phrase of about ``most`` letters: "x, y and 7 more", or "none"."""
    if not names:
        return "none"
    phrase, shown = names[0], 1
    while shown < len(names) and len(phrase) + len(comma) + len(names[shown]) <= most:
        phrase, shown = phrase + comma + names[shown], shown + 1
    left = len(names) - shown
    return phrase if not left else f"{phrase} and {left} more"


def full_name(mdp: SafeMDP, s: int) -> str:
    """The name of a state for an alt text, cut only if it is a sentence of its own."""
    return shorten(mdp.state_name(s), 30)


def describe_kinds(mdp: SafeMDP, kinds: Sequence[Kind], most: int = 90) -> str:
    """Which states are unsafe, doomed and safe, in words."""
    named = {
        kind: listing([full_name(mdp, s) for s in range(mdp.S) if kinds[s] is kind], most)
        for kind in KINDS
    }
    return (
        f"Unsafe: {named[UNSAFE]}. Doomed but not unsafe: "
        f"{named[DOOMED]}. Safe: {named[SAFE]}."
    )
