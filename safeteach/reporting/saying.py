"""Numbers and counts as a reader sees them.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

__all__ = ["count", "either", "number", "steps"]


def number(x: float) -> str:
    """A number with six digits, and never a false 1.

    >>> [number(x) for x in (0.0, 0.5, 2 / 3, 1234567.0, 1e-12, 1 - 1e-9)]
    ['0', '0.5', '0.666667', '1,234,567', '1e-12', '1 − 1e-09']
    """
    text = f"{x:,.0f}" if x == int(x) and abs(x) < 1e15 else f"{x:,.6g}"
    return f"1 − {1 - x:.2g}" if text == "1" and x != 1 else text


def count(n: int, thing: str) -> str:
    """A number of things.

    >>> count(1, "state"), count(25_000, "state")
    ('1 state', '25,000 states')
    """
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def steps(ranges: list[tuple[int, int]]) -> str:
    """Steps from first to last.

    >>> steps([(1, 4), (7, 7)])
    '1–4, 7'
    """
    return ", ".join(f"{i:,}" if i == j else f"{i:,}–{j:,}" for i, j in ranges)


def either(x: float | None, otherwise: str) -> str:
    """A number, or what to say where there is none."""
    return otherwise if x is None else number(x)
