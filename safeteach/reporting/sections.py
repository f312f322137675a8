"""The five sections of a report: the world, the verdict, doom, sensitivity, and what was assumed.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import metadata
from importlib.util import find_spec
from typing import TypeGuard

import numpy as np

from safeteach import figures
from safeteach.exchange.imported import ImportedMDP
from safeteach.figures.card import MOST_STATES
from safeteach.figures.described import DescribedFigure, listing
from safeteach.instances.grids import GridMDP
from safeteach.planning.risk import ROUNDING
from safeteach.reporting.doom import Doom, explain_in_words, find_doom, is_short
from safeteach.reporting.judging import Verdict, is_steady, steps_taken, takes_too_long
from safeteach.reporting.markup import bullets, paragraph, picture, section, table
from safeteach.reporting.saying import count, either, number, steps
from safeteach.reporting.sensitivity import (
    Case,
    by_beginning,
    by_dropping,
    by_horizon,
    by_threshold,
    first_doomed_horizon,
)
from safeteach.safety import witness
from safeteach.worlds.mdp import SafeMDP

__all__ = ["assumptions", "doomed_states", "sensitivity", "the_verdict", "the_world", "verdict_of"]

LETTERS = 240  # of names in a sentence
MOST_LISTED = 40  # doomed states
MOST_WITNESSES = 3
MOST_SENTENCES = 8  # of a witness
MOST_NODES = 10**5  # of a witness, which is written in Python
MOST_ARROWS_DRAWN = 10**7  # times steps, of a world whose frontier is drawn
UNCOMPILED = 100  # times slower, without numba
PARTS = ("safeteach", "numpy", "scipy", "matplotlib", "networkx")


def the_world(world: SafeMDP) -> str:
    """What the world is."""
    start = world.state_name(world.s1)
    unsafe = np.flatnonzero(world.unsafe).tolist()
    names = listing([world.state_name(s) for s in unsafe[:MOST_LISTED]], LETTERS)
    left = len(unsafe) - MOST_LISTED
    more = f" (the first {MOST_LISTED} of them)" if left > 0 else ""
    rows = [
        ["States", f"{world.S:,}"],
        ["Actions", f"{world.A:,}: {_actions(world)}"],
        ["Steps of an episode, H", f"{world.H:,}"],
        ["Threshold of the cost, τ", number(world.tau)],
        ["Start", start],
        ["Unsafe states, whose cost is above τ", f"{len(unsafe):,}: {names}{more}"],
        ["Transitions", f"{_kind(world)}, {steps_taken(world):,} in all steps together"],
    ]
    pieces = [table("The world", ["What", "How much"], rows)]
    figure = _portrait(world)
    if figure is None:
        pieces.append(paragraph("The world is too large for a picture."))
    else:
        pieces.append(picture(*figure))
    return section("world", "1. The world", pieces)


def _actions(world: SafeMDP) -> str:
    return listing([world.action_name(a) for a in range(min(world.A, MOST_LISTED))], LETTERS)


def _kind(world: SafeMDP) -> str:
    return "the same at every step" if world.stationary else "step by step"


def _portrait(world: SafeMDP) -> tuple[DescribedFigure, str] | None:
    if isinstance(world, GridMDP):
        try:
            figure = figures.grid(world)
        except ValueError:  # a map that nobody could read
            return None
        return figure, "The map, and the kinds of its states at step 1."
    if world.S <= MOST_STATES:
        return figures.card(world), "The world on a card."
    return None


def verdict_of(world: SafeMDP, found: Verdict) -> str:
    """The verdict in one sentence."""
    start = world.state_name(world.s1)
    if found.feasible:
        yes = f"Yes: from {start} some policy is safe at every step"
        if not world.unsafe.any():
            yes = "Yes: no state is unsafe, so that every policy is safe"
        if found.safe is None or found.best is None:
            return f"{yes}; what it can earn was not computed, because the world is too large."
        price = price_of_safety(world, found)
        own = " in your own rewards" if _mapped(world) else ""
        safe = _said(world, found.safe) + own
        if not price:
            return f"{yes}, and the best one earns {safe}: safety costs nothing."
        return (
            f"{yes}; the best one earns {safe}, and the best of all policies "
            f"{_said(world, found.best)}, unsafe with probability {either(found.reckless, '')}: "
            f"the price of safety is {_said(world, price, 0)}."
        )
    if world.unsafe[world.s1]:
        return f"No: no policy is safe, because the start, {start}, is unsafe itself."
    no = f"No: whatever is done, from {start} an unsafe state is met with positive probability"
    if found.least is None:
        return f"{no}; how small it can be was not computed, because the world is too large."
    return f"{no}; the least risk there is is {number(found.least)}."


def _said(world: SafeMDP, value: float, over: int | None = None) -> str:
    """A sum of rewards over so many steps, H by default, in those of the outside if there are."""
    return number(float(world.outside(value, over)) if _mapped(world) else value)


def price_of_safety(world: SafeMDP, found: Verdict) -> float | None:
    """What the best policy earns more than the best safe one; differences of rounding are none."""
    if found.safe is None or found.best is None:
        return None
    price = found.best - found.safe
    return price if price > ROUNDING * world.H else 0.0


def the_verdict(world: SafeMDP, found: Verdict) -> str:
    """Whether it can be safe, and what that costs."""
    pieces = [paragraph(verdict_of(world, found), "verdict")]
    if found.best is not None:
        pieces.append(_numbers(world, found))
        pieces.append(
            paragraph(
                "Values are expected sums of rewards from the start. A probability of being unsafe "
                "is that of meeting an unsafe state at any of the steps 1 to H. That of the best "
                "policy is the least among all policies that earn as much."
            )
        )
    if not found.feasible and not world.unsafe[world.s1]:
        if _frontier_takes_too_long(world):
            pieces.append(paragraph("Left out: how much each risk earns, which takes too long."))
        else:
            pieces.append(picture(figures.risk_curve(world), "What each risk can earn."))
    return section("verdict", "2. The verdict", pieces)


def _frontier_takes_too_long(world: SafeMDP) -> bool:
    slower = 1 if find_spec("numba") else UNCOMPILED
    return slower * steps_taken(world) > MOST_ARROWS_DRAWN


def _numbers(world: SafeMDP, found: Verdict) -> str:
    price = price_of_safety(world, found)
    values: list[tuple[str, float | None, int]] = [
        ("Value of the best safe policy", found.safe, world.H),
        ("Value of the best policy, safe or not", found.best, world.H),
        ("Price of safety, the difference of the two", price, 0),
    ]
    risks = [
        ("Probability that the best policy is ever unsafe", found.reckless),
        ("Least probability of ever being unsafe", found.least),
    ]
    columns, none = ["What", "Here"], "there is no safe policy"
    rows = [[what, either(x, none)] for what, x, _ in values]
    rows += [[what, either(x, none)] for what, x in risks]
    if _mapped(world):
        columns.append("In your own rewards")
        for row, (_, x, over) in zip(rows, values, strict=False):
            row.append(none if x is None else number(float(world.outside(x, over))))
        for row in rows[len(values) :]:
            row.append("the same")
    return table("Values and risks, from the start", columns, rows)


def _mapped(world: SafeMDP) -> TypeGuard[ImportedMDP]:
    """Whether it has rewards of the outside that are others."""
    return isinstance(world, ImportedMDP) and (world.low, world.high) != (0.0, 1.0)


def doomed_states(world: SafeMDP) -> str:
    """Which states are doomed, when, and why."""
    return section("doomed", "3. Doomed states", _doomed(world))


def _doomed(world: SafeMDP) -> list[str]:
    doom = find_doom(world)
    doomed = doom.ever & ~world.unsafe
    n, can_be_met = int(doomed.sum()), int((doomed & (doom.met > 0)).sum())
    pieces = [
        paragraph(
            "A state is doomed at a step if from there, whatever is done, an unsafe state is met "
            "with positive probability by the end of the episode. Unsafe states are, at every step."
        )
    ]
    if not n:
        if world.unsafe.any():
            pieces.append(paragraph("No state is doomed but the unsafe ones themselves."))
        else:
            pieces.append(paragraph("No state is doomed, because none is unsafe."))
        return pieces
    pieces.append(
        paragraph(
            f"{count(n, 'state')} of {world.S:,} {'is' if n == 1 else 'are'} doomed at some step "
            f"without being unsafe; {can_be_met:,} of these can be met from the start while it is "
            f"so."
        )
    )
    # First those that an episode meets first, then those that none meets.
    order = sorted(np.flatnonzero(doomed).tolist(), key=lambda s: (doom.met[s] or np.inf, s))
    rows = [
        [world.state_name(s), steps(doom.steps(s)), f"{doom.met[s]:,}" if doom.met[s] else "never"]
        for s in order[:MOST_LISTED]
    ]
    columns = ["State", "Doomed at steps", "First met while doomed, at step"]
    pieces.append(table("Doomed and not unsafe", columns, rows))
    if n > MOST_LISTED:
        pieces.append(
            paragraph(f"Left out: {count(n - MOST_LISTED, 'more state')}, those met last or never.")
        )
    return pieces + _witnesses(world, doom, order)


def _witnesses(world: SafeMDP, doom: Doom, order: Sequence[int]) -> list[str]:
    """Why the first few of these states are doomed, each at one step, in words and drawn."""
    if takes_too_long(world):
        return [paragraph("Left out: why they are doomed, because the world is too large.")]
    pieces = []
    for s in order[:MOST_WITNESSES]:
        times = doom.steps(s)
        choices = int(doom.met[s]) or times[0][0], times[-1][1]
        h = next((h for h in choices if is_short(world, h, MOST_NODES)), 0)
        if not h:
            continue
        name = world.state_name(s)
        pieces.append(paragraph(f"Why {name} is doomed at step {h:,}:"))
        pieces.append(bullets(explain_in_words(world, witness(world, s, h), MOST_SENTENCES)))
        figure, at = _drawn_witness(world, s, (h, choices[1]))
        if figure:
            pieces.append(picture(figure, f"Why {name} is doomed at step {at:,}."))
    return pieces


def _drawn_witness(
    world: SafeMDP, s: int, choices: tuple[int, ...]
) -> tuple[DescribedFigure | None, int]:
    """The picture of the first of these steps from which the argument fits on paper."""
    for h in choices:
        try:
            return figures.witness(world, s, h), h
        except ValueError:  # more nodes than anybody could read
            continue
    return None, 0


def sensitivity(world: SafeMDP) -> str:
    """How the verdict changes."""
    later = [] if is_steady(world) else _beginnings(world)
    pieces = [*_horizons(world), *later, *_thresholds(world), *_dropped(world)]
    return section("sensitivity", "4. What the verdict hangs on", pieces)


def _horizons(world: SafeMDP) -> list[str]:
    pieces = []
    if world.stationary:
        doomed = first_doomed_horizon(world)
        pieces.append(
            "However long an episode is, some policy is safe from the start."
            if doomed is None
            else "However short an episode is, no policy is safe from the start."
            if doomed == 1
            else f"Some policy is safe in episodes of up to {count(doomed - 1, 'step')}, and none "
            f"in longer ones."
        )
    cases = by_horizon(world)
    if not cases:
        pieces.append("Left out: values for other horizons, which take too long.")
        return [*map(paragraph, pieces)]
    if not is_steady(world):
        pieces.append(
            "Transitions or rewards depend on the step, and what comes after the last one is not "
            "known: only shorter episodes are looked at."
        )
    return [
        *map(paragraph, pieces),
        _cases("If H were another", "H", cases, lambda case: [f"{int(case.at):,}"]),
    ]


def _beginnings(world: SafeMDP) -> list[str]:
    """What is left of the schedule of a world that is not the same at every step."""
    doomed = find_doom(world).steps(world.s1)
    which = "none" if doomed == [(1, world.H)] else "all"
    if which == "all" and doomed:
        which = f"all but {steps(doomed)}"
    said = (
        "An episode can also begin later in the same schedule, and end as it does. Steps at which "
        f"some policy is safe from {world.state_name(world.s1)} to the end: {which}."
    )
    cases = by_beginning(world)
    if not cases:
        return [paragraph(f"{said} Left out: values for later beginnings, which take too long.")]
    return [
        paragraph(said),
        _cases("If the episode began later", "At step", cases, lambda case: [f"{int(case.at):,}"]),
    ]


def _thresholds(world: SafeMDP) -> list[str]:
    cases = by_threshold(world)
    return [
        paragraph(
            "The threshold decides which states are unsafe. Only at costs that some state has does "
            "it make a difference; each row holds from its τ up to the next cost."
        ),
        _cases(
            "If the threshold were another",
            "τ from",
            cases,
            lambda case: [number(case.at), f"{case.count:,}"],
            "Unsafe states",
        ),
    ]


def _dropped(world: SafeMDP) -> list[str]:
    pieces = []
    if world.dropped.rows:
        pieces.append(
            f"When this world was made, small probabilities were dropped: at most "
            f"{number(world.dropped.mass)} from each of {count(world.dropped.rows, 'row')}. No "
            f"policy's risk is larger by more than {number(world.hidden_risk)} for that."
        )
    cases = by_dropping(world)
    if len(cases) == 1:
        pieces.append("No transition has a probability so small that it could be ignored.")
        return [*map(paragraph, pieces)]
    pieces.append(
        "A transition counts however improbable it is. If those below a probability were ignored, "
        "the verdict would be this; the last column is by how much that can change the risk of any "
        "policy, at most."
    )
    return [
        *map(paragraph, pieces),
        _cases(
            "If small probabilities were ignored",
            "Below",
            cases,
            lambda case: [number(case.at), f"{case.count:,}"],
            "Ignored",
            hidden=True,
        ),
    ]


def _cases(
    caption: str,
    what: str,
    cases: Sequence[Case],
    head: Callable[[Case], list[str]],
    *more: str,
    hidden: bool = False,
) -> str:
    """A table of verdicts, the world's own marked in words too."""
    values = any(case.verdict.best is not None for case in cases)
    columns = [what, *more, "Safe policy"]
    columns += ["Best safe value", "Best value", "Least risk"] * values
    columns += ["Hidden risk"] * hidden
    rows = []
    for case in cases:
        first, *rest = head(case)
        found = case.verdict
        row = [first + " (this world)" * case.own, *rest, "yes" if found.feasible else "no"]
        if values:
            row += [either(x, "none") for x in (found.safe, found.best, found.least)]
        rows.append(row + [number(case.hidden)] * hidden)
    own = next((i for i, case in enumerate(cases) if case.own), None)
    pieces = table(caption, columns, rows, own)
    if not values:
        pieces += paragraph("Left out: values and risks, which take too long.")
    return pieces


def assumptions(world: SafeMDP) -> str:
    """What the report takes for granted."""
    start = world.state_name(world.s1)
    lines = [
        "The model is taken as given: which states can follow which, and how probably. A "
        "transition that is missing in it is taken to be impossible.",
        f"An episode has H = {world.H:,} steps. What happens after the last of them is not looked "
        f"at: the state after step {world.H:,} may be unsafe without anybody being blamed.",
        f"Danger is in states: a state is unsafe if its cost is above τ = {number(world.tau)}, for "
        f"each of the steps 1 to H that are spent in it, the first included.",
        f"Every episode starts in {start}.",
        "The agent sees the state it is in, and no probability is ever rounded to 0: safe means "
        "that an unsafe state is impossible, not improbable.",
        *_rewards(world),
    ]
    versions = ", ".join(f"{name} {_version(name)}" for name in PARTS)
    return section(
        "assumptions", "5. What was assumed", [bullets(lines), paragraph(f"Made with {versions}.")]
    )


def _rewards(world: SafeMDP) -> list[str]:
    if not isinstance(world, ImportedMDP):
        return ["Rewards are in [0, 1], and values are their sums."]
    lines = ["Rewards are in [0, 1] as they were, and values are their sums."]
    if _mapped(world):
        scale, shift = world.high - world.low, world.low
        lines = [
            f"Rewards were mapped to [0, 1]: {number(world.low)} became 0 and {number(world.high)} "
            f"became 1. A value V over n steps is {number(scale)} · V + n · ({number(shift)}) in "
            f"your own rewards."
        ]
    if len(world.copied):
        lines.append(
            f"{count(len(world.copied), 'pair')} of a state and an action that it does not have "
            f"{'is a copy' if len(world.copied) == 1 else 'are copies'} of an action that it has."
        )
    if (world.stands_for == -1).any():
        lines.append("A first step was added, which draws the start; H counts it.")
    return lines


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # the library may be used without being installed
        return "(not installed)"
