"""Say which extra to install where a library is missing that only some of this one needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["extra"]


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Around imports of what the extra brings.

    Examples
    --------
    >>> with extra("games"):
    ...     import a_library_that_there_is_not
    Traceback (most recent call last):
    ModuleNotFoundError: a_library_that_there_is_not is not installed; say pip install
    "safeteach[games]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "safeteach"):  # a mistake of ours, which no installation mends
            raise
        raise ModuleNotFoundError(
            f'{missing} is not installed; say pip install "safeteach[{name}]"', name=error.name
        ) from None
