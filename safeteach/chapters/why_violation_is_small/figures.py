"""The pictures of the chapter *Why violation is small*.

- Every unsafe step of a run, sorted by two questions; one field is empty.
- When a run was unsafe, and for which of the two reasons.
- When a learner fell that knows the danger, and meets it once more.
- The lines of the proof, evaluated on runs.
- What one unsafe state costs before it is flagged, against how far above the threshold it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.bounds import beta
from safeteach.figures.chart import CHART, chart
from safeteach.figures.described import (
    BLUE,
    FONT,
    INK,
    LINE,
    PALE_BLUE,
    PALE_ORANGE,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
    sheet,
    write,
)

__all__ = ["accidents", "falls", "fields", "gap_price", "ladder"]

HALO = [withStroke(linewidth=3.5, foreground=PAPER)]
REASONS = {  # colour, marker, pale colour, and what it is called
    False: (BLUE, "o", PALE_BLUE, "not yet flagged"),
    True: (VERMILION, "s", PALE_ORANGE, "flagged, after a surprise"),
}
QUESTIONS = ("no surprise\nbefore", "after a\nsurprise")


# sorted by two questions -----------------------------------------------------------------------

FIELD, GUTTER, NAMES, FOOT, EDGE = (1.02, 0.72), 0.28, 1.05, 0.12, 0.06


def fields(counts: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw the unsafe steps of two learners, each as a table of two questions.

    Parameters
    ----------
    counts : dict of two (2, 2) arrays
        By the learner's name; rows: not flagged, flagged; columns: without, and after a surprise.

    Examples
    --------
    >>> from safeteach.chapters.why_violation_is_small.figures import fields
    >>> print(fields({"A": [[3, 1], [0, 2]], "B": [[1, 1], [5, 0]]}).alt)
    Unsafe steps by two questions. A: not flagged, no surprise before 3; not flagged, after a
    surprise 1; flagged, no surprise before 0; flagged, after a surprise 2. B: not flagged, no
    surprise before 1; not flagged, after a surprise 1; flagged, no surprise before 5; flagged,
    after a surprise 0.
    """
    rows = ("not flagged", "flagged")
    tables = {name: np.asarray(table, int) for name, table in counts.items()}
    asked = [question.replace("\n", " ") for question in QUESTIONS]
    said = [
        f"{name}: "
        + "; ".join(f"{rows[i]}, {asked[j]} {n[i, j]:,}" for i in (0, 1) for j in (0, 1))
        for name, n in tables.items()
    ]
    width = NAMES + 4 * FIELD[0] + GUTTER + EDGE
    height = FOOT + 2 * FIELD[1] + 0.85
    figure, axes = sheet(width, height, f"Unsafe steps by two questions. {'. '.join(said)}.")
    for i, row in enumerate(rows):
        write(axes, (EDGE, FOOT + (1.5 - i) * FIELD[1]), row, align="left")
    for number, (name, n) in enumerate(tables.items()):
        left = NAMES + number * (2 * FIELD[0] + GUTTER)
        _write_bold(axes, (left + FIELD[0], height - 0.18), name, TEXT)
        for j, question in enumerate(QUESTIONS):
            write(axes, (left + (j + 0.5) * FIELD[0], height - 0.55), question)
            for i in (0, 1):
                corner = (left + j * FIELD[0], FOOT + (1 - i) * FIELD[1])
                _field(axes, corner, int(n[i, j]), bool(i), f"field/{name}/{i}/{j}")
    return figure


def _field(axes: Axes, corner: tuple[float, float], n: int, flagged: bool, gid: str) -> None:
    color, marker, pale, _ = REASONS[flagged]
    width, height = FIELD
    box = FancyBboxPatch(
        (corner[0] + 0.04, corner[1] + 0.04), width - 0.08, height - 0.08,
        boxstyle="round,pad=0,rounding_size=0.07",
    )  # fmt: skip
    box.set(facecolor=pale if n else PAPER, edgecolor=color if n else INK, gid=gid)
    box.set(linewidth=1.2 if n else 2.2, linestyle="solid" if n else (0, (3, 2)))
    axes.add_artist(box)
    middle = (corner[0] + width / 2, corner[1] + height / 2)
    _write_bold(axes, middle, f"{n:,}", 15)
    if n:
        axes.plot(
            [corner[0] + 0.17], [corner[1] + height - 0.17],
            color=color, marker=marker, markersize=7, markeredgecolor=PAPER,
        )  # fmt: skip


def _write_bold(axes: Axes, xy: tuple[float, float], text: str, size: float) -> None:
    axes.text(
        *xy, text, fontsize=size, fontfamily=FONT, fontweight="bold", color=INK,
        ha="center", va="center", zorder=6,
    )  # fmt: skip


# when a run was unsafe -------------------------------------------------------------------------


def accidents(
    k: ArrayLike, violation: ArrayLike, flagged: ArrayLike, episodes: int
) -> DescribedFigure:
    """Draw the running violation of a run as two layers, one for each reason.

    Parameters
    ----------
    k, violation, flagged : (n,) arrays
        Of each unsafe step, as it came: the episode, c(s) - tau, and whether s was flagged.
    episodes : int
        Of the run.

    Examples
    --------
    >>> from safeteach.chapters.why_violation_is_small.figures import accidents
    >>> print(accidents([1, 2, 2, 9], [0.5] * 4, [0, 0, 0, 1], episodes=20).alt)
    Running violation of 20 episodes. In states not yet flagged: 1.5 in 3 steps, the last in
    episode 2. Flagged, after a surprise: 0.5 in 1 step, in episode 9.
    """
    when, known = np.asarray(k, int), np.asarray(flagged, bool)
    paid = np.asarray(violation, float)
    ends = {reason: _steps(when[known == reason], paid[known == reason]) for reason in REASONS}
    figure = DescribedFigure(
        *CHART,
        f"Running violation of {episodes:,} episodes. In states not yet flagged: {ends[False]}. "
        f"Flagged, after a surprise: {ends[True]}.",
    )
    axes = chart(figure, "episodes", "violation so far")
    axes.set_position((0.125, 0.165, 0.825, 0.8))
    at = np.concatenate([[0], when, [episodes]])
    floor = np.zeros(at.size)
    for reason, (color, marker, pale, name) in REASONS.items():
        mine = known == reason
        top = floor + np.concatenate([[0], np.cumsum(paid * mine), [(paid * mine).sum()]])
        axes.fill_between(
            at, floor, top, step="post", facecolor=pale, edgecolor=color, linewidth=0,
            hatch="////" if reason else None,
        )  # fmt: skip
        axes.plot(at, top, color=color, linewidth=1.6, drawstyle="steps-post", gid=name)
        if mine.any():
            end, last = top[-1], when[mine][-1]
            axes.plot(
                [last], [end], color=color, marker=marker, markersize=8, markeredgecolor=PAPER,
                linestyle="none", clip_on=False, zorder=5, gid=f"{name}, last",
            )  # fmt: skip
            axes.annotate(
                f"{name}: {end - floor[-1]:,.4g},\nthe last time in episode {last:,}",
                (episodes * 0.97, end), xytext=(0, 10 if reason else -14),
                textcoords="offset points", ha="right", va="bottom" if reason else "top",
                fontsize=TEXT, fontfamily=FONT, color=color, zorder=6,
            )  # fmt: skip
        floor = top
    axes.set(xlim=(0, episodes), ylim=(0, 1.25 * max(paid.sum(), 1)))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure


def _steps(when: NDArray[np.int_], violation: NDArray[np.float64]) -> str:
    if when.size == 0:
        return "none"
    many = f"{when.size:,} steps, the last" if when.size > 1 else "1 step,"
    return f"{violation.sum():,.4g} in {many} in episode {when[-1]:,}"


# a danger that is known ------------------------------------------------------------------------


def falls(
    runs: Mapping[str, Sequence[tuple[ArrayLike, bool]]], known: int, episodes: int
) -> DescribedFigure:
    """Draw the episodes in which learners fell, a line a run; those after ``known`` stand out.

    A line without such a fall says whether it is still to come.

    Parameters
    ----------
    runs : dict of lists of (array, bool)
        By what is written beside a group, of each of its runs the episodes with a fall, and
        whether a fall is still to come.
    known : int
        The episode from which on the danger is known in all of them.
    episodes : int
        Of each run.

    Examples
    --------
    >>> from safeteach.chapters.why_violation_is_small.figures import falls
    >>> print(falls({"p = 0.1": [([1, 2, 9], False), ([1, 3], True)]}, known=3, episodes=20).alt)
    Episodes with a fall, up to episode 20. p = 0.1: after episode 3 in run 1 episode 9, in run 2
    none yet.
    """
    said = []
    for name, several in runs.items():
        late = [_late(np.asarray(k, int), known, pending) for k, pending in several]
        told = ", ".join(f"in run {i} {text}" for i, text in enumerate(late, 1))
        said.append(f" {name}: after episode {known:,} {told}.")
    figure = DescribedFigure(
        5.7, 3.6, f"Episodes with a fall, up to episode {episodes:,}." + "".join(said)
    )
    axes = chart(figure, "episodes (logarithmic)", "")
    axes.set_position((0.24, 0.16, 0.72, 0.66))
    y = 0.0
    for name, several in runs.items():
        _beside(axes, y - (len(several) - 1) / 2, name)
        for episodes_of, pending in several:
            k = np.asarray(episodes_of, int)
            axes.plot([1, episodes], [y, y], color=LINE, linewidth=0.8, zorder=1)
            early, last = k[k <= known], k[k > known]
            axes.plot(
                early, np.full(early.size, y), "|", color=BLUE, markersize=9, gid="early",
            )  # fmt: skip
            axes.plot(
                last, np.full(last.size, y), "s", color=VERMILION, markersize=9,
                markeredgecolor=PAPER, markeredgewidth=0.6, gid="late",
            )  # fmt: skip
            if pending or not last.size:
                text = "still to come" if pending else "none: it broke before"
                axes.text(
                    episodes, y, text, ha="right", va="center", fontsize=TEXT, fontfamily=FONT,
                    color=VERMILION if pending else INK, path_effects=HALO,
                    gid="pending" if pending else "none",
                )  # fmt: skip
            y -= 1
        y -= 0.7
    axes.set(xscale="log", xlim=(0.9, episodes * 1.15), ylim=(y + 0.9, 0.8))
    axes.axvline(known, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    axes.text(
        known, 1.01, f"episode {known:,}: the pit is flagged", transform=axes.get_xaxis_transform(),
        ha="center", va="bottom", fontsize=TEXT, fontfamily=FONT, color=INK,
    )  # fmt: skip
    legend = (
        ("left", 0, BLUE, "| a fall before the flag"),
        ("right", 1, VERMILION, "■ the fall after it"),
    )
    for side, x, color, text in legend:
        axes.text(
            x, 1.13, text, transform=axes.transAxes, ha=side, va="bottom", fontsize=TEXT,
            fontfamily=FONT, color=color, gid="legend",
        )  # fmt: skip
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_locator(NullLocator())
    axes.spines["left"].set_visible(False)
    return figure


def _late(k: NDArray[np.int_], known: int, pending: bool) -> str:
    late = ", ".join(f"{one:,}" for one in k[k > known])
    return f"episode {late}" if late else "none yet" if pending else "none"


def _beside(axes: Axes, y: float, text: str) -> None:
    """Write to the left of the axes, at a height of the data."""
    axes.text(
        -0.03, y, text, transform=axes.get_yaxis_transform(), ha="right", va="center",
        fontsize=TEXT, fontfamily=FONT, color=INK,
    )  # fmt: skip


# the lines of the proof ------------------------------------------------------------------------

LOW, HIGH = 0.6, 1e5


SPOKEN = {
    r"\sqrt": "√", r"\Lambda": "Λ", r"\tau": "τ", r"\beta": "β", r"\Sigma_s": "Σ", r"\,": " ",
    r"\min": "min", "$": "", "{": "(", "}": ")",
}  # fmt: skip


def ladder(
    halves: Sequence[Mapping[str, Sequence[float]]], worlds: Sequence[str]
) -> DescribedFigure:
    """Draw what each line of the proof is on two runs; every line is at least the one above.

    Parameters
    ----------
    halves : list of dicts
        Of each half of the proof, by what its lines say, the values in the two worlds.
    worlds : list of two names

    Examples
    --------
    >>> from safeteach.chapters.why_violation_is_small.figures import ladder
    >>> print(ladder([{"paid": (1, 0), "at most": (5, 2)}], ["pond", "faint"]).alt)
    The lines of the proof, in two worlds. pond: paid 1; at most 5. faint: paid 0; at most 2.
    """
    said = []
    for i, world in enumerate(worlds):
        lines = [f"{line} {v[i]:,.4g}" for half in halves for line, v in half.items()]
        said.append(f" {world}: {_spoken('; '.join(lines))}.")
    count = sum(map(len, halves))
    height = 1.15 + 0.34 * (count + len(halves) - 1)
    figure = DescribedFigure(5.7, height, "The lines of the proof, in two worlds." + "".join(said))
    axes = chart(figure, "violation", "")
    axes.set_position((0.475, 0.6 / height, 0.495, 1 - 0.95 / height))
    y = 0.0
    for half in halves:
        rows = -np.arange(len(half)) + y
        for line, row in zip(half, rows, strict=True):
            _beside(axes, row, line)
        for i, world in enumerate(worlds):
            color, marker, _, _ = REASONS[bool(i)]
            values = np.array([v[i] for v in half.values()])
            axes.plot(
                np.maximum(values, LOW), rows, color=color, marker=marker, markersize=8,
                markeredgecolor=PAPER, linewidth=1.6, linestyle=(0, (5, 2)) if i else "solid",
                clip_on=False, gid=world,
            )  # fmt: skip
            for value, row in zip(values, rows, strict=True):
                if value < LOW:
                    axes.text(
                        LOW * 1.5, row, "0", color=color, ha="left", va="center",
                        fontsize=TEXT, fontfamily=FONT,
                    )  # fmt: skip
        y -= len(half) + 1
    for i, world in enumerate(worlds):
        axes.text(
            i, 1.0, f"{'●■'[i]} {world}", transform=axes.transAxes, ha="right" if i else "left",
            va="bottom", fontsize=TEXT, fontfamily=FONT, color=REASONS[bool(i)][0],
        )  # fmt: skip
    axes.set(xscale="log", xlim=(LOW, HIGH), ylim=(y + 1.4, 0.6), xticks=(1, 100, 10_000))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_major_locator(NullLocator())
    axes.spines["left"].set_visible(False)
    return figure


def _spoken(text: str) -> str:
    for written, spoken in SPOKEN.items():
        text = text.replace(written, spoken)
    return text


# the price of a gap ----------------------------------------------------------------------------

GAPS = np.geomspace(0.01, 1, 121)
LOWEST, HIGHEST = 5.0, 1e4  # violation
SIDES = {  # colour, dashes, marker, where on the paper its name stands
    "at most": (BLUE, "solid", "o", (0.97, 0.93)),
    "exact estimate": (VERMILION, (0, (5, 2)), "s", (0.97, 0.84)),
    "measured": (INK, "none", "D", (0.97, 0.75)),
}


def gap_price(
    gap: float, S: int, delta: float, visits: int, measured: Mapping[float, float]
) -> DescribedFigure:
    r"""Draw the violation in one unsafe state that is visited for as long as it may be.

    On the event :math:`E_1'` the state is flagged once :math:`2\beta(n) < g`, where g = c(s) - tau
    is its gap.  With an exact estimate it is flagged once :math:`\beta(n) < g`.

    Parameters
    ----------
    gap : float
        c(s) - tau of the state to mark, in [.01, 1].
    S : int
        Number of states, at least 2.
    delta : float
        Probability with which the event may fail.
    visits : int
        The most visits that there are.
    measured : dict
        Violation that was measured, by the gap.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The two sides of the hill are the two bounds of Theorem 4.2 of the paper.  Taught in the
    chapter *Why violation is small*.

    Examples
    --------
    >>> from safeteach.chapters.why_violation_is_small import figures
    >>> hill = figures.gap_price(0.5, S=25, delta=0.005, visits=100_000, measured={0.5: 80.5})
    >>> print(hill.alt)
    An unsafe state 0.5 above the threshold, S = 25, δ = 0.005, at most 100,000 visits.
    Flagged for sure after 692 visits, violation 346; exact estimate after 149 visits, violation
    74.5. Violation is largest at a gap of about 0.05: 5,012. Measured: 80.5 at 0.5.
    """
    if not GAPS[0] <= gap <= GAPS[-1]:
        raise ValueError(f"gap is {gap}; from {GAPS[0]:g} to {GAPS[-1]:g} it is drawn")
    if S < 2 or visits < 1:
        raise ValueError(f"S is {S} and visits {visits}; at least 2 and 1 are expected")
    width = beta(np.arange(1, visits + 1), S, delta)  # decreasing, since S is at least 2
    widths = {"at most": 2 * width, "exact estimate": width}
    said = []
    for side, needed in zip(("for sure", "exact estimate"), widths.values(), strict=True):
        n = int(_visits(needed, gap))
        when = "after" if n < visits else "not within"
        said.append(f"{side} {when} {n:,} visits, violation {gap * n:,.4g}")
    most = GAPS * _visits(2 * width, GAPS)
    worst = GAPS[most.argmax()]
    found = ", ".join(f"{paid:,.4g} at {g:g}" for g, paid in measured.items())
    figure = DescribedFigure(
        *CHART,
        f"An unsafe state {gap:g} above the threshold, S = {S}, δ = {delta:g}, at most {visits:,} "
        f"visits. Flagged {'; '.join(said)}. Violation is largest at a gap of about {worst:.2g}: "
        f"{most.max():,.4g}. Measured: {found or 'nothing'}.",
    )
    axes = chart(figure, r"gap $c(s) - \tau$", "violation")
    axes.set_position((0.155, 0.165, 0.815, 0.8))  # its numbers are long
    axes.axvline(gap, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    for name, needed in widths.items():
        color, dashes, mark, _ = SIDES[name]
        axes.plot(
            GAPS, GAPS * _visits(needed, GAPS),
            color=color, linestyle=dashes, linewidth=2.0, gid=name,
        )  # fmt: skip
        axes.plot(
            [gap], [gap * _visits(needed, gap)],
            color=color, marker=mark, markersize=8, markeredgecolor=PAPER, gid=f"{name}, here",
        )  # fmt: skip
    color, _, mark, _ = SIDES["measured"]
    axes.plot(
        [*measured], [*measured.values()], linestyle="none",
        color=color, marker=mark, markersize=7, markeredgecolor=PAPER, gid="measured",
    )  # fmt: skip
    for name, (color, _, mark, spot) in SIDES.items():
        axes.text(
            *spot, f"{name} {MARKS[mark]}", transform=axes.transAxes, ha="right", va="center",
            fontsize=TEXT, fontfamily=FONT, color=color, path_effects=HALO,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(GAPS[0], GAPS[-1]), ylim=(LOWEST, HIGHEST))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:,g}")
    return figure


MARKS = {"o": "●", "s": "■", "D": "◆"}


def _visits(width: NDArray[np.float64], gap: ArrayLike) -> NDArray[np.float64]:
    """The first n with width(n) < gap, or as many as there are."""
    n = width.size - np.searchsorted(width[::-1], gap) + 1
    return np.minimum(n, width.size).astype(float)
