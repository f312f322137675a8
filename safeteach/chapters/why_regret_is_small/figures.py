r"""The pictures of the chapter *Why regret is small*.

- The regret of a run as far as somebody has watched it, and when the danger was flagged.
- Where exaggeration comes from: bonuses, model errors, luck and cap, summed over the episodes.
- How a bonus adds up that shrinks when it is met: for one pair, and over a run.
- What the theorems say of regret at each number of episodes, and from where on they say something.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.bounds import regret_bound, regret_bound_masks
from safeteach.figures.chart import CHART, chart
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    ORANGE,
    PALE_BLUE,
    PAPER,
    SKY,
    TEXT,
    VERMILION,
    DescribedFigure,
)

if TYPE_CHECKING:
    from safeteach.running.auditing import Audit

__all__ = ["decomposition", "looks", "regret_bounds", "trial"]

HALO = [withStroke(linewidth=3, foreground=PAPER)]
THOUSANDS = FuncFormatter(lambda x, _: f"{x:,.0f}".replace("-", "−"))


def _say(axes: Axes, x: float, y: float, text: str, colour: str = INK, **where: Any) -> None:
    """Write beside the data; the middle of the text's left end is at (x, y), or as ``where`` says.

    Everything is told apart by these words and by dashes, and not by colour alone.
    """
    style: dict[str, Any] = {"ha": "left", "va": "center", "zorder": 6, **where}
    axes.text(x, y, text, color=colour, fontsize=TEXT, fontfamily=FONT, path_effects=HALO, **style)


def _few_episodes(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(THOUSANDS)


# a run ----------------------------------------------------------------------------------------


def trial(regret: ArrayLike, watched: int, flagged: int) -> DescribedFigure:
    """Draw the regret of a run up to the episode until which somebody has watched it.

    Parameters
    ----------
    regret : (K,) array
        Of each episode; the axes have room for the whole run.
    watched : int
        The number of episodes that are drawn.
    flagged : int
        The first episode that is planned with an unsafe state flagged; it has a mark.

    Examples
    --------
    >>> from safeteach.chapters.why_regret_is_small.figures import trial
    >>> print(trial([1, 1, -0.5, 1], watched=3, flagged=4).alt)
    Regret of a run in its first 3 episodes: 2 after 2, the highest; 1.5 after 3.
    """
    total = np.cumsum(np.asarray(regret, float))
    if not 1 <= watched <= total.size:
        raise ValueError(f"watched is {watched}; the run has {total.size} episodes")
    seen = total[:watched]
    best, end = int(seen.argmax()) + 1, f"{seen[-1]:,.4g} after {watched:,}"
    high = f"{seen.max():,.4g} after {best:,}, the highest; {end}" if best < watched else end
    mark = f" The water is flagged from episode {flagged:,} on." if flagged <= watched else ""
    figure = DescribedFigure(
        *CHART, f"Regret of a run in its first {watched:,} episodes: {high}.{mark}"
    )
    axes = chart(figure, "episodes", "regret so far")
    axes.set_position((0.14, 0.165, 0.83, 0.79))
    axes.plot(np.arange(1, watched + 1), seen, color=BLUE, linewidth=2.6, gid="regret")
    axes.plot([watched], [seen[-1]], "o", color=BLUE, markersize=7, gid="end", clip_on=False)
    top = 1.12 * total.max()
    if flagged <= watched:
        axes.axvline(flagged, ymax=0.9, color=INK, linewidth=1.4, linestyle=(0, (1, 1.5)),
                     gid="flagged")  # fmt: skip
        _say(axes, flagged, 0.95 * top, f" water flagged, episode {flagged:,} ",
             ha="left" if flagged < total.size / 2 else "right")  # fmt: skip
    axes.set(xlim=(0, 1.02 * total.size), ylim=(0, top))
    _few_episodes(axes)
    axes.yaxis.set_major_formatter(THOUSANDS)
    return figure


LOOKS = {  # colour, dashes, width
    "bonuses": (BLUE, "solid", 2.0),
    "exaggeration": (INK, "solid", 3.2),
    "regret": (VERMILION, (0, (6, 1.5, 1, 1.5)), 2.2),
    "cut by the cap": (ORANGE, (0, (5, 2)), 2.2),
    "model errors": (ORANGE, "solid", 1.8),
    "luck": (SKY, (0, (2, 1)), 2.4),
}
SMALL = ("model errors", "luck")  # they lie on the axis, and have an inset of their own


def decomposition(audit: Audit, best: float) -> DescribedFigure:
    """Draw the running sums of the parts of the exaggeration, their total, and the regret.

    Parameters
    ----------
    audit : Audit
        As :func:`safeteach.audit` returns it; its arrays ``bonus``, ``model``, ``luck``, ``cap``,
        ``gap`` and ``value`` are read.
    best : float
        V*_1(s_1), with which the value is compared.

    Notes
    -----
    The exact form of the decomposition in the proof of Theorem 4.2 of the paper.  Taught in the
    chapter *Why regret is small*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.why_regret_is_small import figures
    >>> mdp = st.instances.union_counterexample()
    >>> a = st.audit(st.SUCBVI(mdp.known, episodes=200, bonus_scale=0.01), mdp, seed=0)
    >>> figures.decomposition(a, st.safe_optimal(mdp).value).alt[:42]
    'Running sums over 200 episodes: bonuses 74'
    """
    parts = (audit.bonus, audit.gap, best - audit.value, -audit.cap, audit.model, audit.luck)
    sums = {name: np.cumsum(part) for name, part in zip(LOOKS, parts, strict=True)}
    episodes = audit.gap.size
    figure = DescribedFigure(5.7, 4.3, _describe(sums))
    axes = chart(figure, "episodes", "running sum")
    axes.set_position((0.16, 0.13, 0.58, 0.84))
    axes.axhline(0, color=INK, linewidth=0.8)
    inset = axes.inset_axes((0.4, 0.33, 0.58, 0.24), facecolor=PAPER)
    inset.axhline(0, color=INK, linewidth=0.8)
    for name, total in sums.items():
        color, dashes, width = LOOKS[name]
        (inset if name in SMALL else axes).plot(
            np.arange(1, episodes + 1), total, color=color, linestyle=dashes, linewidth=width,
            gid=name,
        )  # fmt: skip
        if name not in SMALL:
            _say(axes, 1.03 * episodes, float(total[-1]), name, clip_on=False)
    for drawn in (axes, inset):
        drawn.set_xlim(0, episodes + 1)
        drawn.yaxis.set_major_formatter(THOUSANDS)
    _few_episodes(axes)
    low = min(0.0, *(sums[name].min() for name in SMALL))
    high = max(0.0, *(sums[name].max() for name in SMALL))
    spread = (high - low) or 1.0  # nothing is off where nothing is random
    inset.set_ylim(low - 0.8 * spread, high + 0.1 * spread)  # words below
    inset.set_yticks(sorted({0.0, low if low < -high else high}))
    inset.set_xticks([])
    inset.tick_params(labelsize=TEXT, colors=INK)
    for row, name in enumerate(SMALL):
        inset.text(0.97, 0.28 - 0.18 * row, f"{name}{' (dashes)' * row}", ha="right", va="center",
                   transform=inset.transAxes, fontsize=TEXT, fontfamily=FONT, color=INK,
                   path_effects=HALO)  # fmt: skip
    return figure


def _describe(sums: dict[str, NDArray[np.float64]]) -> str:
    episodes = sums["bonuses"].size
    stops = sorted({max(1, episodes // 10), episodes})
    said = [
        f"{name} " + ", ".join(f"{total[n - 1]:,.4g} after {n:,}" for n in stops)
        for name, total in sums.items()
    ]
    return f"Running sums over {episodes:,} episodes: {'; '.join(said)}."


# counting -------------------------------------------------------------------------------------


def looks(sums: ArrayLike, S: int, A: int, H: int, visits: int = 16) -> DescribedFigure:
    """Draw how 1/√N adds up: for one triple that is visited some times, and along a run.

    Parameters
    ----------
    sums : (K,) array
        The sum of 1/√N over the visits with N ≥ 1 in the first k = 1 .. K episodes of a run.
    S, A, H : int
        Sizes of the world of the run.
    visits : int
        The number of bars for one triple.

    Examples
    --------
    >>> from safeteach.chapters.why_regret_is_small.figures import looks
    >>> print(looks([0, 2, 3.4], S=1, A=1, H=2, visits=4).alt)
    Above: 4 bars, the nth from n - 1 to n, of heights 1, 0.707, 0.577, 0.5, with the sum 2.78,
    below the curve 1/√x, whose area is 4. Below, after 3 episodes: sum over the run 3.4; 2√(SAHT)
    is 6.93, 2√(SAT) 4.9.
    """
    run = np.asarray(sums, float)
    k = np.arange(1, run.size + 1)
    proved, fewer = 2 * np.sqrt(S * A * H * H * k), 2 * np.sqrt(S * A * H * k)
    bars = 1 / np.sqrt(np.arange(1, visits + 1))
    heights = ", ".join(f"{height:.3g}" for height in bars[:4])
    figure = DescribedFigure(
        5.7, 5.6,
        f"Above: {visits} bars, the nth from n - 1 to n, of heights {heights}"
        f"{', …' * (visits > 4)}, with the sum {bars.sum():.3g}, below the curve 1/√x, "
        f"whose area is {2 * math.sqrt(visits):.3g}. "
        f"Below, after {run.size:,} episodes: sum over the run {run[-1]:,.3g}; 2√(SAHT) is "
        f"{proved[-1]:,.3g}, 2√(SAT) {fewer[-1]:,.3g}.",
    )  # fmt: skip
    above = chart(figure, "$x$; bar $n$ is met after $n$ visits to one triple", "$1/\\sqrt{x}$")
    above.set_position((0.165, 0.635, 0.805, 0.345))
    middles = np.arange(visits) + 0.5
    above.bar(middles, bars, width=1, color=PALE_BLUE, edgecolor=BLUE, linewidth=1.2, gid="bars")
    x = np.linspace(0.2, visits, 400)
    above.plot(x, 1 / np.sqrt(x), color=INK, linewidth=2.0, gid="curve")
    said = f"bars: 1 + 1/√2 + … + 1/√{visits} = {bars.sum():.2f}"
    _say(above, 0.3 * visits, 1.45, f"area below the curve: 2√{visits} = {2 * visits**0.5:.0f}")
    _say(above, 0.3 * visits, 1.05, said, BLUE)
    for n in range(1, visits + 1, max(visits // 8, 1)):
        _say(above, n - 0.5, 0.12, f"{n}", BLUE, ha="center")
    above.set(xlim=(0, visits), ylim=(0, 1.9), xticks=range(0, visits + 1, max(visits // 4, 1)))
    below = chart(figure, "episodes", "sum over a run")
    below.set_position((0.165, 0.105, 0.605, 0.4))
    for name, line, color, dashes in (
        ("2√(SAHT)", proved, INK, "solid"),
        ("the run", run, BLUE, "solid"),
        ("2√(SAT)", fewer, VERMILION, (0, (5, 2))),
    ):
        below.plot(k, line, color=color, linestyle=dashes, linewidth=2.2, gid=name)
        _say(below, 1.02 * run.size, float(line[-1]), name, color, clip_on=False)
    below.set(xlim=(0, run.size), ylim=(0, None))
    _few_episodes(below)
    below.yaxis.set_major_formatter(THOUSANDS)
    return figure


# the bounds -----------------------------------------------------------------------------------

FIRST, LAST = 3, 20  # powers of ten of K
LOWEST, HIGHEST = 1e-4, 1e4  # shares
PLAYED = 20_000  # episodes of the book's experiments
SUCCESSORS = 4  # a cell of ice leads to four others


def regret_with_successors(S: int, A: int, H: int, K: int, delta: float, b: int) -> float:
    """What is proved of SUCBVI's regret where no pair has more than b successors.

    >>> from safeteach.bounds import regret_bound
    >>> regret_with_successors(25, 4, 12, 20_000, 0.005, b=25) == regret_bound(25, 4, 12, 20_000,
    ...                                                                        0.005)
    True
    """
    visits = H / 2 * 2 * math.sqrt(S * A * H * H * K)
    rest = math.log(S * A * H * K / delta)
    all_states, few = (math.sqrt(2 * (n * math.log(2) + rest)) for n in (S, b))
    return regret_bound(S, A, H, K, delta) - visits * (all_states - few)


Bound = Callable[[int, int, int, int, float], float]


def _few(S: int, A: int, H: int, K: int, delta: float) -> float:
    return regret_with_successors(S, A, H, K, delta, min(S, SUCCESSORS))


BOUNDS: dict[str, tuple[Bound, str, object, str]] = {  # bound, colour, dashes, marker
    "every world": (regret_bound, BLUE, "solid", "o"),
    f"{SUCCESSORS} successors": (_few, INK, (0, (1, 1.3)), "s"),
    "few dangerous pairs": (regret_bound_masks, VERMILION, (0, (5, 2)), "D"),
}


def first_useful(bound: Bound, S: int, A: int, H: int, delta: float = 0.005) -> int:
    """The least number of episodes from which on a bound is at most what can be lost, K H.

    >>> f"{first_useful(regret_bound, S=25, A=4, H=12):,}"
    '116,169,735'
    """
    low, high = 1, 2
    while bound(S, A, H, high, delta) > H * high:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        useless = bound(S, A, H, middle, delta) > H * middle
        low, high = (middle, high) if useless else (low, middle)
    return high


def regret_bounds(S: int, A: int, H: int, delta: float = 0.005) -> DescribedFigure:
    """Draw the bounds on the regret of SUCBVI per K H, against K, and where they get below 1.

    Parameters
    ----------
    S, A, H : int
        Numbers of states, actions and steps.
    delta : float
        Probability with which one event may fail.

    Notes
    -----
    The bounds are repairs of Theorem 4.2 of the paper.  Taught in the chapter *Why regret is
    small*.

    Examples
    --------
    >>> from safeteach.chapters.why_regret_is_small import figures
    >>> print(figures.regret_bounds(S=25, A=4, H=12).alt)
    What is proved of the regret of SUCBVI, as a share of K H, for S = 25, A = 4, H = 12. From
    where on it is below 1: every world, from K = 1.16e+08; 4 successors, from K = 1.12e+08; few
    dangerous pairs, from K = 6.1e+09. At K = 20,000 the shares are 65.8, 64.2 and 2.83e+04.
    """
    episodes = np.logspace(FIRST, LAST, 12 * (LAST - FIRST) + 1)
    begin = {name: first_useful(of[0], S, A, H, delta) for name, of in BOUNDS.items()}
    now = [of[0](S, A, H, PLAYED, delta) / (PLAYED * H) for of in BOUNDS.values()]
    said = "; ".join(f"{name}, from K = {K:.3g}" for name, K in begin.items())
    figure = DescribedFigure(
        5.7, 4.3,
        f"What is proved of the regret of SUCBVI, as a share of K H, for S = {S:,}, A = {A}, "
        f"H = {H}. From where on it is below 1: {said}. At K = {PLAYED:,} the shares are "
        f"{now[0]:.3g}, {now[1]:.3g} and {now[2]:.3g}.",
    )  # fmt: skip
    axes = chart(figure, "episodes $K$", "bound / $KH$")
    axes.set_position((0.125, 0.135, 0.845, 0.635))
    axes.axhspan(1, HIGHEST, color=GREY, alpha=0.18, linewidth=0, gid="nothing")
    axes.axhline(1, color=INK, linewidth=1.6, gid="trivial")
    axes.axvline(PLAYED, color=INK, linewidth=1.0, linestyle=(0, (1, 1.5)), gid="played")
    for name, (bound, color, dashes, marker) in BOUNDS.items():
        share = [bound(S, A, H, int(K), delta) / (int(K) * H) for K in episodes]
        axes.plot(episodes, share, color=color, linestyle=dashes, linewidth=2.2, gid=name)
        axes.plot(
            [begin[name]], [1], marker, color=color, markersize=9, markeredgecolor=PAPER,
            label=f"{name}: from {_power(begin[name])} episodes on", gid=f"from/{name}", zorder=5,
        )  # fmt: skip
    _say(axes, 10.0**LAST / 2, HIGHEST / 4, "says nothing", ha="right")
    _say(axes, PLAYED * 1.4, LOWEST * 3, f"{PLAYED:,} episodes")
    axes.set(xscale="log", yscale="log")
    axes.set(xlim=(10.0**FIRST, 10.0**LAST), ylim=(LOWEST, HIGHEST))
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), frameon=False, handlelength=1.2,
        prop={"family": FONT, "size": TEXT},
    )  # fmt: skip
    return figure


def _power(K: int) -> str:
    exponent = math.floor(math.log10(K))
    return f"${K / 10**exponent:.1f}\\cdot 10^{{{exponent}}}$"
