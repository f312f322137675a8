"""The three kinds of exercise: a value, a function, a counterexample.

Each is data and a few plain functions.  ``judge`` takes an answer and yields what it finds, the
best finding last, so that a judge who is stopped half-way still leaves one.  No finding shows the
solution, and none of a :class:`Value` shows the value.

A finding is made of numbers and text alone, since it comes from another process.  It says where the
case that it is about can be found, and ``case`` makes that case anew.
"""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from safeteach.classroom.checking.forms import (
    STEPS,
    Expected,
    Misfit,
    close,
    difference,
    first_difference,
    fitted,
    form_of,
    place,
    shown,
    wrong_parts,
)
from safeteach.classroom.checking.isolation import Called, call
from safeteach.classroom.checking.seeing import seen_of
from safeteach.classroom.checking.worlds import plain, smaller
from safeteach.safety import is_feasible
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

__all__ = [
    "RETURNS_NOTHING",
    "Counterexample",
    "Exercise",
    "Finding",
    "Function",
    "Property",
    "Slip",
    "Value",
    "by_name",
    "feasible_world",
    "first_world",
    "not_yet",
    "small_world",
]

MOST_TRIES = 400  # worlds tried in the search for a smaller one
FRESH = 12  # instances drawn anew in each check
KINDS_OF_SIZES = 60  # of what is drawn; see random_world
EXACT = 1e-9
KEEPS_FROZEN = 5  # the protocol of pickle under which a read-only array stays one

Status = Literal["trying", "no answer yet", "not yet", "right"]


@dataclass(frozen=True)
class Finding:
    """What a judge has found so far.

    Attributes
    ----------
    status : "trying", "no answer yet", "not yet" or "right"
    text : str
        What was seen, in a sentence or two.
    at : tuple of int or None
        Where the exercise finds the case again on which it was seen; None if there is none.
    fresh : bool
        Whether that case was drawn anew for this check.
    h : int
        The step at which to draw its world.
    printed : str
        The beginning of what the reader's function printed there.
    """

    status: Status
    text: str = ""
    at: tuple[int, ...] | None = None
    fresh: bool = False
    h: int = 1
    printed: str = ""


RETURNS_NOTHING = Finding("no answer yet", "The function returns nothing.")
OWN: tuple[int, ...] = ()  # where a reader's own world is found


def not_yet(text: str, world: SafeMDP | None = None, h: int = 1) -> Finding:
    """What an answer lacks, and the reader's world and the step at which that can be seen."""
    return Finding("not yet", text, at=None if world is None else OWN, h=h)


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
        The wrong value, computed; an entry of a tuple that may be anything is nan.
    text : str
        Where it comes from.
    """

    value: Callable[[], Expected]
    text: str

    def is_made(self, got: Expected, tolerance: float) -> bool:
        """Whether an answer is this wrong value.

        >>> Slip(lambda: (1.0, math.nan), "One.").is_made((1.0, 7.0), tolerance=1e-9)
        True
        """
        value = self.value()
        if isinstance(value, tuple) and isinstance(got, tuple):
            pairs = zip(value, got, strict=True)
            value = tuple(x if math.isnan(y) else y for y, x in pairs)
        return close(value, got, tolerance)


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
    >>> [finding.status for finding in double.judge(42, seed=0)]
    ['right']
    >>> [finding.text for finding in double.judge("42", seed=0)]
    ['It has the wrong form: expected a number, got a str.']
    """

    asks: str
    hint: str
    expected: Callable[[], Expected]
    slips: tuple[Slip, ...] = ()
    tolerance: float = EXACT

    def judge(self, answer: object, seed: int) -> Iterator[Finding]:  # noqa: ARG002, draws nothing
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
        known = (slip.text for slip in self.slips if slip.is_made(got, self.tolerance))
        yield Finding("not yet", next(known, difference(expected, got, self.tolerance)))


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
        The things to try it on, the same in every check, the smallest first.
    draw : function of a number and a numpy Generator
        Draws one more, of a size that depends on the number, 0 .. 59; some are drawn anew in each
        check.
    arguments : function of an instance
        The arguments to call with, by name; they are handed over in this order.  Without it the
        instance is such a dict itself.
    axes : str or tuple of str
        A name for each axis if the result is an array, such as "HSA" or ("H + 1", "S").

    Examples
    --------
    >>> double = Function("double(n), twice n", "Add.", oracle=lambda n: n + n,
    ...                   instances=lambda: range(3), arguments=lambda n: {"n": n},
    ...                   draw=lambda k, rng: int(rng.integers(100)))
    >>> list(double.judge(lambda n: 2 * n, seed=0))[-1].text
    'Tried on 15 cases.'
    >>> list(double.judge(lambda n: n * n, seed=0))[-1].text
    'It returns 1; right is 2.'
    """

    asks: str
    hint: str
    oracle: Callable[..., Any]
    instances: Callable[[], Iterable[Any]]
    draw: Callable[[int, np.random.Generator], Any]
    arguments: Callable[[Any], Mapping[str, Any]] = dict
    axes: Sequence[str] = ""

    def judge(self, answer: object, seed: int) -> Iterator[Finding]:
        """Yield where the instance is before each try, then the verdict, then smaller failures."""
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
        tried, worlds = 0, False
        for instance, fresh in self._tried_on(seed):
            trying = Finding("trying", at=(tried,), fresh=fresh)
            yield trying
            found = self._try(answer, instance, trying)
            if found:
                yield found
                if found.status == "not yet":
                    yield from self._shrink(answer, instance, found)
                return
            tried, worlds = tried + 1, isinstance(instance, SafeMDP)
        yield Finding("right", f"Tried on {tried} {'worlds' if worlds else 'cases'}.")

    def case(self, _answer: object, at: tuple[int, ...], seed: int) -> Mapping[str, Any]:
        """The arguments with which something was found."""
        which, *less = at
        instance, _ = next(itertools.islice(self._tried_on(seed), which, None))
        for i in less:
            instance = next(itertools.islice(smaller(instance), i, None))
        return self.arguments(instance)

    def _tried_on(self, seed: int) -> Iterator[tuple[Any, bool]]:
        """The instances, and whether each is drawn anew."""
        for instance in self.instances():
            yield instance, False
        rng = np.random.default_rng(seed)
        for _ in range(FRESH):
            yield self.draw(int(rng.integers(KINDS_OF_SIZES)), rng), True

    def _try(self, answer: Callable[..., Any], instance: Any, trying: Finding) -> Finding | None:
        """Find what is wrong with an answer on one instance, if anything."""
        # The answer may do what it likes to its arguments: it gets a copy.
        arguments = self.arguments(pickle.loads(pickle.dumps(instance, KEEPS_FROZEN)))
        before = {name: seen_of(value) for name, value in arguments.items()}
        called = call(answer, *arguments.values())
        if trying.at == (0,) and _is_stub(called):
            return RETURNS_NOTHING
        changed = [name for name, value in arguments.items() if seen_of(value) != before[name]]
        h = 1
        if called.error is not None:
            text = f"It raises {called.complaint}."
        elif changed:
            text = f"It changes its argument {changed[0]}; work on a copy instead."
        else:
            text, h = self._compare(called.value, self.arguments(instance))
        if not text:
            return None
        return replace(trying, status="not yet", text=text, h=h, printed=called.printed)

    def _compare(self, value: object, arguments: Mapping[str, Any]) -> tuple[str, int]:
        """Say how a result differs from the right one, if it does, and at which step."""
        expected: Expected = self.oracle(*arguments.values())
        try:
            got = fitted(expected, value, self.axes)
        except Misfit as misfit:
            return f"It returns the wrong form: {misfit}.", 1
        if close(expected, got, EXACT):
            return "", 1
        if isinstance(expected, tuple) and isinstance(got, tuple):
            wrong = wrong_parts(expected, got, EXACT)
            differs = f"the {' and the '.join(wrong)} differ{'s' * (len(wrong) == 1)}"
            return f"It returns {shown(got)}; right is {shown(expected)}: {differs}.", 1
        if not isinstance(expected, np.ndarray):
            return f"It returns {shown(got)}; right is {shown(expected)}.", 1
        got = np.asarray(got)
        index = first_difference(expected, got, EXACT)
        assert index is not None
        world = first_world(arguments)
        where = place(self.axes, index, world)
        text = f"It says {shown(got[index])} {where}; right is {shown(expected[index])}."
        h = index[0] + 1 if self.axes[0] in STEPS else 1
        return text, 1 if world is None else min(h, world.H)

    def _shrink(
        self, answer: Callable[..., Any], instance: Any, found: Finding
    ) -> Iterator[Finding]:
        """Yield ever smaller worlds on which the answer fails too."""
        candidates = enumerate(_smaller(instance))
        for _ in range(MOST_TRIES):
            i, candidate = next(candidates, (0, None))
            if candidate is None:
                return
            assert found.at is not None
            better = self._try(answer, candidate, replace(found, at=(*found.at, i)))
            if better:
                yield better
                found, candidates = better, enumerate(_smaller(candidate))


@dataclass(frozen=True)
class Property(Function):
    """The same where many results are right: what counts is that a result has some property.

    The oracle takes the result and then the arguments, and says what the result lacks, "" if
    nothing.

    Examples
    --------
    >>> divisor = Property("divisor(n)", "1 divides all.", instances=lambda: range(6, 9),
    ...                    oracle=lambda d, n: "" if n % d == 0 else f"{d} does not divide {n}.",
    ...                    arguments=lambda n: {"n": n},
    ...                    draw=lambda k, rng: int(rng.integers(6, 100)))
    >>> list(divisor.judge(lambda n: n, seed=0))[-1].text
    'Tried on 15 cases.'
    >>> list(divisor.judge(lambda n: 2, seed=0))[-1].text
    '2 does not divide 7.'
    """

    def _compare(self, value: object, arguments: Mapping[str, Any]) -> tuple[str, int]:
        return self.oracle(value, *arguments.values()), 1


def _is_stub(called: Called) -> bool:
    if called.error is None:
        return _is_missing(called.value)
    return isinstance(called.error, NotImplementedError)


def first_world(case: Mapping[str, Any]) -> SafeMDP | SafeGame | None:
    """The world among the arguments of an exercise, if there is one."""
    worlds = (value for value in case.values() if isinstance(value, SafeMDP | SafeGame))
    return next(worlds, None)


def _smaller(instance: object) -> Iterator[SafeMDP]:
    # A grid with a cell less is no grid, and its map says more than a smaller graph.
    return smaller(instance) if type(instance) is SafeMDP else iter(())


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
    >>> [finding.text for finding in even.judge(3, seed=0)]
    ['That prime is odd.']
    """

    asks: str
    hint: str
    missing: Callable[[Any], Finding | None]

    def judge(self, answer: object, seed: int) -> Iterator[Finding]:  # noqa: ARG002, draws nothing
        """Yield one finding."""
        if _is_missing(answer):
            yield Finding("no answer yet")
        else:
            yield self.missing(answer) or Finding("right")

    def case(self, answer: Any, *_where: Any) -> Mapping[str, Any]:
        """The reader's own world, which comes alone or first."""
        return {"mdp": plain(answer if isinstance(answer, SafeMDP) else answer[0])}


Exercise = Value | Function | Counterexample
