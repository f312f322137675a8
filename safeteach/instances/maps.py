"""Maps as text: what grids and pursuits have in common."""

from __future__ import annotations

from collections.abc import Sequence

from safeteach.arguments import shown

__all__ = ["check_text", "read_rows"]


def check_text(text: str) -> str:
    """``text`` if it is one, else an error that says so."""
    if not isinstance(text, str):
        raise TypeError(f"text is {shown(text)}; expected a map, a str with a line for each row")
    return text


def read_rows(rows: Sequence[str]) -> tuple[str, ...]:
    """The rows of a map, each a str of the same length."""
    if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
        raise TypeError(f"map is {shown(rows)}; expected its rows, each a str")
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"map is {shown(rows)}; expected rows of the same length")
    return tuple(rows)
