"""The three kinds of exercise: a value, a function, a counterexample.

Each is data and a few plain functions.  ``judge`` takes an answer and yields what it finds, the
best finding last, so that a judge who is stopped half-way still leaves one.  No finding shows the
solution, and none of a :class:`Value` shows the value.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from safeteach.classroom.checking.forms import (
    STEPS,
    Expected,
    Misfit,
    close,
    first_difference,
    fitted,
    form_of,
    place,
    shown,
)
from safeteach.classroom.checking.isolation import KEEPS_FROZEN, Called, call
from safeteach.classroom.checking.worlds import plain, smaller
from safeteach.safety import is_feasible
from safeteach.worlds.mdp import SafeMDP

__all__ = [
    "RETURNS_NOTHING",
    "Counterexample",
    "Exercise",
    "Finding",
    "Function",
    "Slip",
    "Value",
    "by_name",
    "feasible_world",
    "not_yet",
    "small_world",
]

MOST_TRIES = 400  # worlds tried in the search for a smaller one
EXACT = 1e-9

Status = Literal["trying", "no answer yet", "not yet", "right"]


@dataclass(frozen=True)
class Finding:
    """What a judge has found so far.

    Attributes
    ----------
    status : "trying", "no answer yet", "not yet" or "right"
    text : str
        What was seen, in a sentence or two.
    instance : object
        What it was seen on; a world can be drawn.
    h : int
        The step at which to draw it.
    printed : str
        The beginning of what the reader's function printed there.
    """

    status: Status
    text: str = ""
    instance: Any = None
    h: int = 1
    printed: str = ""


RETURNS_NOTHING = Finding("no answer yet", "The function returns nothing.")


def not_yet(text: str, world: SafeMDP | None = None, h: int = 1) -> Finding:
    """What an answer lacks, and the world and the step at which that can be seen."""
    return Finding("not yet", text, world, h)


def small_world(
    answer: object,
    states: int,
    steps: int,
    actions: int | None = None,
    expected: str = "a SafeMDP",
) -> SafeMDP | Finding:
    """The world that a reader built, or why it is not one to look at.

    >>> small_world(None, states=4, steps=4).text
    'Expected a SafeMDP, got None.'
    """
    if not isinstance(answer, SafeMDP):
        return not_yet(f"Expected {expected}, got {form_of(answer)}.")
    if states >= answer.S and steps >= answer.H and (actions is None or actions >= answer.A):
        return plain(answer)
    if actions is None:
        has = f"{answer.S} states and {answer.H} steps"
        most = f"{states} states and {steps} steps"
    else:
        has = f"{answer.S} states, {answer.A} actions and {answer.H} steps"
        most = f"{states}, {actions} and {steps}"
    return not_yet(f"It has {has}; {most} are enough, and no more are allowed.")


def feasible_world(answer: object, states: int, actions: int, steps: int) -> SafeMDP | Finding:
    """The world that a reader built, or why it is not one to run a learner in."""
    mdp = small_world(answer, states, steps, actions)
    if isinstance(mdp, SafeMDP) and not is_feasible(mdp):
        return not_yet("No policy is feasible here: Assumption 4.1 is not met.", mdp)
    return mdp


def by_name(*names: str) -> Callable[[Sequence[Any]], Mapping[str, Any]]:
    """The ``arguments`` of a :class:`Function` whose instances are tuples.

    >>> by_name("gap", "delta")((0.5, 0.1))
    {'gap': 0.5, 'delta': 0.1}
    """
    return lambda case: dict(zip(names, case, strict=True))


def _is_missing(answer: object) -> bool:
    return answer is None or answer is ...


@dataclass(frozen=True)
class Slip:
    """A wrong value that many arrive at, and what to say to them.

    Attributes
    ----------
    value : function of nothing
        The wrong value, computed.
    text : str
        Where it comes from.
    """

    value: Callable[[], Expected]
    text: str


@dataclass(frozen=True)
class Value:
    """An exercise whose answer is a number, a tuple, a set of states or an array.

    Attributes
    ----------
    asks : str
        What the answer is, in one line.
    hint : str
        Shown with every answer that is not right yet.
    expected : function of nothing
        The value, computed by the library.
    slips : tuple of Slip
        Wrong values with an explanation of their own.
    tolerance : float
        Relative and absolute, for numbers.

    Examples
    --------
    >>> double = Value("twice 21", "Add it to itself.", expected=lambda: 42)
    >>> [finding.status for finding in double.judge(42)]
    ['right']
    >>> [finding.text for finding in double.judge("42")]
    ['It has the wrong form: expected a number, got a str.']
    """

    asks: str
    hint: str
    expected: Callable[[], Expected]
    slips: tuple[Slip, ...] = ()
    tolerance: float = EXACT

    def judge(self, answer: object) -> Iterator[Finding]:
        """Yield one finding."""
        if _is_missing(answer):
            yield Finding("no answer yet")
            return
        expected = self.expected()
        try:
            got = fitted(expected, answer)
        except Misfit as misfit:
            yield Finding("not yet", f"It has the wrong form: {misfit}.")
            return
        if close(expected, got, self.tolerance):
            yield Finding("right")
            return
        known = (slip.text for slip in self.slips if close(slip.value(), got, self.tolerance))
        yield Finding("not yet", next(known, "The value is another one."))


@dataclass(frozen=True)
class Function:
    """An exercise whose answer is a function, tried against the library's own.

    Attributes
    ----------
    asks : str
        What the answer is, in one line.
    hint : str
        Shown with every answer that is not right yet.
    oracle : function
        What is right, of the same arguments.
    instances : function of nothing
        The things to try it on, the smallest first.
    arguments : function of an instance
        The arguments to call with, by name; they are handed over in this order.  Without it the
        instance is such a dict itself.
    axes : str or tuple of str
        A name for each axis if the result is an array, such as "HSA" or ("H + 1", "S").

    Examples
    --------
    >>> double = Function("double(n), twice n", "Add.", oracle=lambda n: n + n,
    ...                   instances=lambda: range(3), arguments=lambda n: {"n": n})
    >>> list(double.judge(lambda n: 2 * n))[-1].text
    'Tried on 3 cases.'
    >>> list(double.judge(lambda n: n * n))[-1].text
    'It returns 1; right is 2.'
    """

    asks: str
    hint: str
    oracle: Callable[..., Expected]
    instances: Callable[[], Iterable[Any]]
    arguments: Callable[[Any], Mapping[str, Any]] = dict
    axes: Sequence[str] = ""

    def judge(self, answer: object) -> Iterator[Finding]:
        """Yield the instance before each try, then the verdict, then smaller failures."""
        if _is_missing(answer):
            yield Finding("no answer yet")
            return
        if not callable(answer):
            yield Finding(
                "not yet",
                f"Expected a function, got {form_of(answer)}: hand over the function itself, "
                f"without calling it.",
            )
            return
        tried = 0
        for instance in self.instances():
            yield Finding("trying", instance=instance)
            found = self._try(answer, instance, may_be_stub=tried == 0)
            if found:
                yield found
                if found.status == "not yet":
                    yield from self._shrink(answer, found)
                return
            tried += 1
        yield Finding("right", f"Tried on {tried} {'worlds' if _is_world(instance) else 'cases'}.")

    def _try(
        self, answer: Callable[..., Any], instance: Any, may_be_stub: bool = False
    ) -> Finding | None:
        """Find what is wrong with an answer on one instance, if anything."""
        # The answer may do what it likes to its arguments: what is right is computed before it
        # is called, and what the reader is shown is a copy.
        kept = pickle.loads(pickle.dumps(instance, KEEPS_FROZEN))
        expected = self.oracle(*self.arguments(instance).values())
        arguments = self.arguments(instance)
        before = {name: _fingerprint(value) for name, value in arguments.items()}
        called = call(answer, *arguments.values())
        if may_be_stub and _is_stub(called):
            return RETURNS_NOTHING
        changed = [name for name, value in arguments.items() if _fingerprint(value) != before[name]]
        if called.error is not None:
            text = f"It raises {called.complaint}."
        elif changed:
            text = f"It changes its argument {changed[0]}; work on a copy instead."
        else:
            text, h = self._compare(expected, called.value, kept)
            return Finding("not yet", text, kept, h, called.printed) if text else None
        return Finding("not yet", text, kept, printed=called.printed)

    def _compare(self, expected: Expected, value: object, instance: Any) -> tuple[str, int]:
        """Say how a result differs from the right one, if it does, and at which step."""
        try:
            got = fitted(expected, value, self.axes)
        except Misfit as misfit:
            return f"It returns the wrong form: {misfit}.", 1
        if close(expected, got, EXACT):
            return "", 1
        if not isinstance(expected, np.ndarray):
            return f"It returns {shown(got)}; right is {shown(expected)}.", 1
        got = np.asarray(got)
        index = first_difference(expected, got, EXACT)
        assert index is not None
        where = place(self.axes, index, instance)
        text = f"It says {shown(got[index])} {where}; right is {shown(expected[index])}."
        h = index[0] + 1 if self.axes[0] in STEPS else 1
        return text, min(h, instance.H) if _is_world(instance) else 1

    def _shrink(self, answer: Callable[..., Any], found: Finding) -> Iterator[Finding]:
        """Yield ever smaller worlds on which the answer fails too."""
        candidates = _smaller(found.instance)
        for _ in range(MOST_TRIES):
            candidate = next(candidates, None)
            if candidate is None:
                return
            better = self._try(answer, candidate)
            if better:
                yield better
                candidates = _smaller(better.instance)


def _is_stub(called: Called) -> bool:
    if called.error is None:
        return _is_missing(called.value)
    return isinstance(called.error, NotImplementedError)


def _is_world(instance: object) -> bool:
    return isinstance(instance, SafeMDP)


def _smaller(instance: object) -> Iterator[SafeMDP]:
    # A grid with a cell less is no grid, and its map says more than a smaller graph.
    return smaller(instance) if type(instance) is SafeMDP else iter(())


def _fingerprint(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        return b""  # the answer put something into it that cannot be pickled


@dataclass(frozen=True)
class Counterexample:
    """An exercise whose answer is anything that breaks a claim.

    Attributes
    ----------
    asks : str
        What the answer is, in one line.
    hint : str
        Shown with every answer that is not right yet.
    missing : function of an answer
        What the answer lacks, None if it breaks the claim.  It must stand any answer at all.

    Examples
    --------
    >>> def missing(n):
    ...     if not isinstance(n, int):
    ...         return Finding("not yet", f"Expected a whole number, got {form_of(n)}.")
    ...     return None if n % 2 == 0 else Finding("not yet", "That prime is odd.")
    >>> even = Counterexample("a prime that is not odd", "Start low.", missing)
    >>> [finding.text for finding in even.judge(3)]
    ['That prime is odd.']
    """

    asks: str
    hint: str
    missing: Callable[[Any], Finding | None]

    def judge(self, answer: object) -> Iterator[Finding]:
        """Yield one finding."""
        if _is_missing(answer):
            yield Finding("no answer yet")
        else:
            yield self.missing(answer) or Finding("right")


Exercise = Value | Function | Counterexample
