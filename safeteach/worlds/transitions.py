"""Read transitions, dense or sparse, and check them before any compiled code follows an index."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import floats, frozen, number, real_array, shown
from safeteach.worlds.reading import ROW_SUM_TOLERANCE
from safeteach.worlds.rows import Rows

__all__ = ["Dropped", "read_drop_below", "read_transitions"]

ROUNDED = 1e-3  # a sum that is closer to 1 than this was 1 before somebody rounded


class Dropped(NamedTuple):
    """What ``drop_below`` has removed from the transitions of a world.

    Attributes
    ----------
    mass : float
        The largest probability that was removed from a row, all of its arrows together.
    rows : int
        From how many rows something was removed.
    """

    mass: float = 0.0
    rows: int = 0


class _Stored(NamedTuple):
    """Sparse rows as scipy stores them."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]


def read_drop_below(value: float | None) -> float:
    """The probability below which arrows are dropped; 0 if none are."""
    if value is None:
        return 0.0
    rule = "expected a probability in (0, 1), or None"
    return float(number(value, "drop_below", 0, 1, rule=rule))


def read_transitions(
    P: Any, r: ArrayLike, H: int, letters: str, drop_below: float
) -> tuple[tuple[int, ...], tuple[Rows, ...], Dropped]:
    """Check P in any of its forms: the sizes that ``letters`` name, the rows of each step.

    Of a sparse P of a game, r says what A and B are.  Also what was dropped.
    """
    if _is_sparse(P):
        shape, stored = _sparse_shape(P, "P", letters, r), [_stored(P, "P")]
        places = [_places(shape, None)]
    elif isinstance(P, list | tuple) and any(map(_is_sparse, P)):
        shape, stored = _sparse_steps(P, H, letters, r)
        places = [_places(shape, i) for i in range(H)]
    else:
        shape, stepwise, dense = _dense_shape(P, H, letters)
        stored = [_nonzero(step) for step in dense]
        places = [_places(shape, i if stepwise else None) for i in range(len(dense))]
    steps, dropped = [], Dropped()
    for i, place in enumerate(places):
        rows = _checked(stored[i], place)
        rows, here = _without_small(rows, drop_below, place) if drop_below else (rows, Dropped())
        dropped = Dropped(max(dropped.mass, here.mass), dropped.rows + here.rows)
        steps.append(Rows(*map(frozen, rows)))
    return shape, tuple(steps), dropped


def _places(shape: tuple[int, ...], i: int | None) -> Callable[[int], str]:
    """What errors call a row; ``i`` is h - 1, or None where P is the same at every step."""

    def place(row: int) -> str:
        pair = ", ".join(map(str, np.unravel_index(row, shape)))
        return f"P[{pair}]" if i is None else f"P[{i}, {pair}]"

    return place


def _dense_shape(
    P: ArrayLike, H: int, letters: str
) -> tuple[tuple[int, ...], bool, NDArray[np.float64]]:
    """The sizes, whether P says each step, and P as (1 or H, rows, S)."""
    dense = floats(P, "P")
    d = len(letters) + 1  # axes of one step
    if dense.ndim not in (d, d + 1) or dense.shape[-1] != dense.shape[-d] or 0 in dense.shape:
        sizes = ", ".join(letters)
        raise ValueError(f"P has shape {dense.shape}; expected ({sizes}, S) or (H, {sizes}, S)")
    if dense.ndim > d and len(dense) != H:
        raise ValueError(f"P has shape {dense.shape}; its first axis must be H = {H}")
    shape = dense.shape[-d:-1]
    return shape, dense.ndim > d, dense.reshape(-1, math.prod(shape), dense.shape[-1])


def _nonzero(step: NDArray[np.float64]) -> _Stored:
    # NaN compares unequal to 0, so it stays among the entries and is refused with them.
    row, successors = np.nonzero(step)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(step)))])
    return _Stored(indptr, successors, step[row, successors])


def _is_sparse(P: object) -> bool:
    return hasattr(P, "tocsr")


def _sparse_steps(
    P: list[Any] | tuple[Any, ...], H: int, letters: str, r: ArrayLike
) -> tuple[tuple[int, ...], list[_Stored]]:
    if len(P) != H:
        raise ValueError(f"P is a sequence of {len(P)} sparse matrices; expected H = {H}")
    for i, step in enumerate(P):
        if not _is_sparse(step):
            raise ValueError(f"P[{i}] is {shown(step)}; expected a sparse matrix, as others are")
    shape = _sparse_shape(P[0], "P[0]", letters, r)
    for i, step in enumerate(P):
        if getattr(step, "shape", None) != P[0].shape:
            raise ValueError(f"P[{i}] has shape {shown(step.shape)}, but P[0] {P[0].shape}")
    return shape, [_stored(step, f"P[{i}]") for i, step in enumerate(P)]


def _sparse_shape(P: Any, name: str, letters: str, r: ArrayLike) -> tuple[int, ...]:
    product = "*".join(letters)
    given: Any = getattr(P, "shape", None)
    wrong = f"{name} is sparse with shape {shown(given)}"
    whole = isinstance(given, tuple) and all(isinstance(n, int | np.integer) for n in given)
    if not whole or len(given) != 2 or min(given) < 1 or given[0] % given[1]:
        raise ValueError(f"{wrong}; expected ({product}, S)")
    rows, S = map(int, given)
    if letters == "SA":
        return S, rows // S
    told = real_array(r, "r").shape
    sizes = told[-len(letters) :]
    if len(told) - len(letters) not in (0, 1) or sizes[0] != S or math.prod(sizes) != rows:
        listed = ", ".join(letters)
        raise ValueError(
            f"{wrong}, and r has shape {told}; expected ({product}, S) of P and ({listed}) or "
            f"(H, {listed}) of r, which says what A and B are"
        )
    return sizes


def _stored(P: Any, name: str) -> _Stored:
    """The rows of a sparse matrix: sorted, without duplicates and zeros, and nobody else's."""
    try:
        csr = _as_csr(P, name)
    except Exception as error:  # scipy's, of an object that is not what it claims to be, or ours
        raise ValueError(f"{name} cannot be read as a sparse matrix ({error})") from None
    n = csr.indptr[-1]
    indptr, indices = np.array(csr.indptr), np.array(csr.indices[:n])
    data = np.array(csr.data[:n], np.float64)
    rising = indices[1:] > indices[:-1]
    starts = indptr[1:-1]
    rising[starts[(starts > 0) & (starts < n)] - 1] = True
    if not rising.all():
        from scipy.sparse import csr_array

        ordered = csr_array((data, indices, indptr), shape=P.shape)
        ordered.sum_duplicates()
        indptr, indices, data = ordered.indptr, ordered.indices, ordered.data
    there = data != 0
    if not there.all():
        indptr = np.concatenate([[0], np.cumsum(there)])[indptr]
        indices, data = indices[there], data[there]
    return _Stored(indptr, indices, data)


def _as_csr(P: Any, name: str) -> _Stored:
    """The arrays of P as compressed rows.

    Scipy's conversions read and write where the indices say, so that these are looked at first.
    """
    kind, (rows, S) = getattr(P, "format", None), P.shape
    if kind == "csc":
        _check_stored(P, name, major=S, minor=rows)
    elif kind == "bsr":
        height, width = P.blocksize
        _check_stored(P, name, rows // height, S // width, (height, width))
    elif kind != "csr":
        if kind == "lil" and [*map(len, P.rows)] != [*map(len, P.data)]:
            raise ValueError(f"{name}.rows and {name}.data differ in their lengths")
        if kind == "dia":
            width = P.data.shape[-1]
            diagonals = _check_data(P.data, f"{name}.data", width)
            _check_indices(P.offsets, f"{name}.offsets", S, len(diagonals), first=1 - rows)
        P = P.tocoo()
        data = _check_data(P.data, f"{name}.data")
        _check_indices(P.row, f"{name}.row", rows, len(data))
        _check_indices(P.col, f"{name}.col", S, len(data))
    if kind != "csr":
        P = P.astype(np.float64, copy=False).tocsr()  # which adds up what is stored twice
    return _check_stored(P, name, major=rows, minor=S)


def _check_stored(
    P: Any, name: str, major: int, minor: int, block: tuple[int, ...] = ()
) -> _Stored:
    indptr, indices = np.asarray(P.indptr), np.asarray(P.indices)
    data = _check_data(P.data, f"{name}.data", *block)
    _check_indices(indices, f"{name}.indices", minor, len(data))
    _check_indices(indptr, f"{name}.indptr", len(indices) + 1, major + 1)
    if indptr[0] != 0:
        raise ValueError(f"{name}.indptr[0] is {indptr[0]}; expected 0")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        i = falls[0]
        raise ValueError(
            f"{name}.indptr[{i + 1}] is {indptr[i + 1]}; it must be at least {name}.indptr[{i}] = "
            f"{indptr[i]}"
        )
    return _Stored(indptr, indices, data)


def _check_data(data: Any, name: str, *block: int) -> NDArray[Any]:
    """Refuse what is not a row of real numbers, or of blocks of them."""
    data = np.asarray(data)
    if data.dtype.kind not in "biuf" or data.ndim != 1 + len(block) or data.shape[1:] != block:
        raise ValueError(
            f"{name} holds {data.dtype} in shape {data.shape}; expected real numbers in shape "
            f"{('n', *block)}".replace("'", "")
        )
    return data


def _check_indices(indices: Any, name: str, n: int, length: int, first: int = 0) -> None:
    """Refuse what is not so many whole numbers from ``first`` to n - 1."""
    indices = np.asarray(indices)
    if indices.shape != (length,) or indices.dtype.kind not in "iu":
        raise ValueError(
            f"{name} holds {indices.dtype} in shape {indices.shape}; expected whole numbers in "
            f"shape {(length,)}"
        )
    if length and not (indices.min() >= first and indices.max() < n):
        i = np.flatnonzero((indices < first) | (indices >= n))[0]
        raise ValueError(f"{name}[{i}] is {indices[i]}; expected one of {first}..{n - 1}")


def _checked(stored: _Stored, place: Callable[[int], str]) -> _Stored:
    """The rows, once each holds positive numbers that sum to 1."""
    indptr, successors, probability = stored
    empty = np.flatnonzero(indptr[1:] == indptr[:-1])
    if probability.size and not (probability.min() > 0 and probability.max() < np.inf):
        bad = np.flatnonzero(~(np.isfinite(probability) & (probability > 0)))[0]
        row = int(np.searchsorted(indptr, bad, side="right")) - 1
        raise ValueError(
            f"{place(row)} gives state {successors[bad]} probability {probability[bad]}; "
            f"probabilities must be finite and nonnegative"
        )
    if empty.size:
        raise ValueError(f"{place(int(empty[0]))} sums to 0; each row must sum to 1")
    total = np.add.reduceat(probability, indptr[:-1])
    off = np.flatnonzero(np.abs(total - 1) > ROW_SUM_TOLERANCE)
    if off.size:
        told = total[off[0]]
        advice = "; if it was rounded: P = P.astype(float), then P / P.sum(-1, keepdims=True)"
        raise ValueError(
            f"{place(int(off[0]))} sums to {told:.12g}; each row must sum to 1"
            + (advice if abs(told - 1) < ROUNDED else "")
        )
    return stored


def _without_small(
    stored: _Stored, below: float, place: Callable[[int], str]
) -> tuple[_Stored, Dropped]:
    """The rows without arrows of a smaller probability; what they lose, the others share."""
    indptr, successors, probability = stored
    small = probability < below
    if not small.any():
        return stored, Dropped()
    starts = indptr[:-1]
    kept = np.add.reduceat(~small, starts, dtype=np.int64)
    if not kept.all():
        raise ValueError(
            f"drop_below is {below:g}, and no probability of {place(int(np.argmin(kept)))} is as "
            f"large; it would be empty"
        )
    total = np.add.reduceat(probability, starts)
    lost = np.add.reduceat(np.where(small, probability, 0.0), starts) / total
    indptr = np.concatenate([[0], np.cumsum(kept)])
    successors, probability = successors[~small], probability[~small]
    touched = np.repeat(lost > 0, kept)
    left = np.repeat(np.add.reduceat(probability, indptr[:-1]), kept)
    np.divide(probability, left, out=probability, where=touched)
    return _Stored(indptr, successors, probability), Dropped(
        float(lost.max()), int(np.count_nonzero(lost))
    )
