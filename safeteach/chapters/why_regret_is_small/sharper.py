"""Where each of four bounds on the regret of SUCBVI says something.

That by variances is proved on the page *A sharper bound on the regret* of the appendix, which shows
the figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from safeteach.bounds import regret_bound, regret_bound_masks, regret_bound_variances
from safeteach.chapters.why_regret_is_small.figures import first_useful, regret_with_successors
from safeteach.figures.chart import chart
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    ORANGE,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
)

__all__ = ["sharper_bounds", "speaks"]


Bound = Callable[[int, int, int, int, float, int], float]  # of S, A, H, K, δ and b successors
NEW = "by variances"
BOUNDS: dict[str, tuple[Bound, str, object, str]] = {  # bound, colour, dashes, marker
    "every world": (lambda *sizes: regret_bound(*sizes[:5]), BLUE, "solid", "o"),
    "few successors": (regret_with_successors, INK, (0, (1, 1.3)), "s"),
    "few dangerous pairs": (
        lambda *sizes: regret_bound_masks(*sizes[:5]), VERMILION, (0, (5, 2)), "D",
    ),
    NEW: (regret_bound_variances, ORANGE, (0, (6, 1.5, 1, 1.5)), "^"),
}  # fmt: skip


def speaks(name: str, S: int, A: int, H: int, b: int, delta: float = 0.005) -> int:
    """The number of episodes from which on a bound is at most what can be lost, K H.

    Parameters
    ----------
    name : str
        One of ``BOUNDS``.
    S, A, H, b : int
        Numbers of states, actions, steps, and states that can follow a pair.
    delta : float
        Probability with which one event may fail.

    Examples
    --------
    >>> speaks("every world", S=25, A=4, H=12, b=4)
    116169735
    """
    bound = BOUNDS[name][0]
    return first_useful(lambda S, A, H, K, delta: bound(S, A, H, K, delta, b), S, A, H, delta)


def _powers(first: int, last: int) -> tuple[int, ...]:
    return tuple(10**k for k in range(first, last + 1))


TENTH = 10  # of the states can follow a pair, where the number of states changes
STATES, SUCCESSORS, STEPS = _powers(2, 8), _powers(0, 6), _powers(1, 6)
EARLIER, LATER = 3, 7  # powers of ten of K around the first at which a bound speaks


def sharper_bounds(
    S: int = 10**6, A: int = 4, H: int = 10**4, b: int = 10**5, delta: float = 0.005
) -> DescribedFigure:
    """Draw four bounds on the regret of SUCBVI per K H, and from where on they are below 1.

    Parameters
    ----------
    S, A, H, b : int
        Numbers of states, actions, steps, and states that can follow a pair.  One panel is for
        these; in each of three others one of S (and b, a tenth of it), b and H changes.
    delta : float
        Probability with which one event may fail.

    Notes
    -----
    Taught in the chapter *Why regret is small*.

    Examples
    --------
    >>> from safeteach.chapters.why_regret_is_small import sharper
    >>> print(sharper.sharper_bounds().alt)
    What is proved of the regret of SUCBVI, in four panels, for S = 1,000,000, A = 4, H = 10,000 and
    b = 100,000 successors. The first has shares of K H against K; from where on a bound is below 1:
    every world, from K = 6.8e+20; few successors, from K = 9.8e+19; few dangerous pairs, from
    K = 1.3e+25; by variances, from K = 2.3e+19. The others have this K against S, with b = S/10,
    against b, and against H. By variances is the lowest from S = 100, b = 1, H = 10,000 on.
    """
    begin = {name: speaks(name, S, A, H, b, delta) for name in BOUNDS}
    worlds = {
        "S": {n: (n, A, H, n // TENTH) for n in STATES},
        "b": {n: (S, A, H, n) for n in SUCCESSORS if n <= S},
        "H": {n: (S, A, n, b) for n in STEPS},
    }
    useful = {
        letter: {name: [speaks(name, *sizes, delta) for sizes in of.values()] for name in BOUNDS}
        for letter, of in worlds.items()
    }
    figure = DescribedFigure(
        5.7, 6.6,
        f"What is proved of the regret of SUCBVI, in four panels, for S = {S:,}, A = {A}, "
        f"H = {H:,} and b = {b:,} successors. The first has shares of K H against K; from where on "
        f"a bound is below 1: {'; '.join(f'{name}, from K = {begin[name]:.2g}' for name in BOUNDS)}"
        f". The others have this K against S, with b = S/{TENTH}, against b, and against H. "
        f"{NEW.capitalize()} is the lowest {_lowest(useful, worlds)}.",
    )  # fmt: skip
    earliest = math.floor(math.log10(min(begin.values())))
    episodes = _powers(earliest - EARLIER, earliest + LATER)
    labels = ("episodes $K$", f"states $S$, with $b=S/{TENTH}$", "successors $b$", "steps $H$")
    panels = [
        chart(figure, x, "says something from $K$" if i else "bound / $KH$")
        for i, x in enumerate(labels)
    ]
    for i, axes in enumerate(panels):
        axes.set_position((0.145 + 0.5 * (i % 2), 0.53 - 0.45 * (i // 2), 0.335, 0.34))
        axes.set(xscale="log", yscale="log")
    shares, *others = panels
    shares.axhspan(1, 1e9, color=GREY, alpha=0.18, linewidth=0, gid="nothing")
    for name, (bound, *_) in BOUNDS.items():
        _line(shares, name, episodes, [bound(S, A, H, K, delta, b) / (K * H) for K in episodes])
        for axes, letter in zip(others, worlds, strict=True):
            _line(axes, name, tuple(worlds[letter]), useful[letter][name])
    shares.set(xlim=(0.2 * episodes[0], 2.0 * episodes[-1]), ylim=(2e-5, 1e4))
    figure.legend(
        handles=shares.lines, loc="upper center", ncols=2, frameon=False, handlelength=2.6,
        prop={"family": FONT, "size": TEXT},
    )  # fmt: skip
    return figure


def _line(axes: Axes, name: str, x: Sequence[int], y: Sequence[float]) -> None:
    _, color, dashes, marker = BOUNDS[name]
    axes.plot(  # floats: what is counted is too large for numpy's whole numbers
        np.array(x, float), np.array(y, float), color=color, linestyle=dashes, linewidth=2.0,
        marker=marker, markersize=6, markeredgecolor=PAPER, gid=name, label=name,
    )  # fmt: skip


def _lowest(
    useful: Mapping[str, Mapping[str, Sequence[int]]], places: Mapping[str, Collection[int]]
) -> str:
    """From where on the new bound is the first to say something, as each letter grows."""
    found = []
    for letter, of in useful.items():
        first = [min(K) for K in zip(*of.values(), strict=True)]
        wins = [new == K for new, K in zip(of[NEW], first, strict=True)]
        above = [n for i, n in enumerate(places[letter]) if all(wins[i:])]
        found += [f"{letter} = {n:,}" for n in above[:1]]
    return f"from {', '.join(found)} on"
