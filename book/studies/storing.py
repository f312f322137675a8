"""What all studies share: what a study is, what it depends on, how numbers are stored."""

import hashlib
import inspect
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from safeteach.learners.contract import Learner, settings_of
from safeteach.running.closure import digest_with_own
from safeteach.running.playing import History

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "book" / "data"


class Bench(Protocol):
    """Where a study is run.

    Attributes
    ----------
    folder : Path
        Where what is finished is kept.
    """

    folder: Path

    def each(self, call: Callable[[Any], Any], cases: Sequence[Any], kind: type) -> list[Any]:
        """``call(case)`` of every case, begun in this order; each gives a ``kind``."""


@dataclass(frozen=True)
class Study:
    """An experiment whose outcome is stored small in ``book/data``.

    Attributes
    ----------
    name : str
    target : str
        What ``make`` is asked for.
    question : str
        What it is to answer.
    """

    name: str
    target: str
    question: str

    @property
    def file(self) -> Path:
        """Where its outcome is stored."""
        return DATA / f"{self.name.replace('-', '_')}.npz"

    def arrays(self, bench: Bench) -> dict[str, Any]:
        """Run what has not been run, and tell what the chapters show."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        raise NotImplementedError

    def about(self) -> dict[str, Any]:
        """The same with the question, the command and a digest of the code that made it."""
        told = {"question": self.question, "made by": f"make {self.target}"}
        return told | self.facts() | {"code": code_digest(inspect.getfile(type(self)))}


def code_digest(script: str) -> str:
    """A digest of the code that a study depends on: its script and all that this imports.

    >>> code_digest(__file__) == code_digest(__file__)
    True
    """
    return digest_with_own({Path(script).stem: Path(script)})[0]


def digest(history: History, seed: int | slice = slice(None)) -> str:
    """SHA-256 of a history's reward, violation and regret, one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> digest(History(np.zeros(2), np.zeros(2), np.ones(2)))[:8]
    'ab288217'
    """
    return digest_of(history.reward[seed], history.violation[seed], history.regret[seed])


def digest_of(*arrays: np.ndarray[Any, Any]) -> str:
    """SHA-256 of arrays, one after the other."""
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(np.ascontiguousarray(array, np.float64).tobytes())
    return hashed.hexdigest()


def store(file: Path, **arrays: Any) -> None:
    """Write the whole file or nothing."""
    table: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    content = io.BytesIO()
    np.savez_compressed(content, **table)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    try:
        part.write_bytes(content.getbuffer())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def points_of(episodes: int, points: int) -> np.ndarray[Any, Any]:
    """After how many episodes the points of a curve are taken, from 0 on."""
    return np.unique(np.linspace(0, episodes, points + 1).round().astype(int))


def so_far(values: np.ndarray[Any, Any], ends: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Sums of the first ``ends`` values of each row.

    Examples
    --------
    >>> so_far(np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 3])).tolist()
    [[0.0, 1.0, 7.0]]
    """
    return np.pad(np.cumsum(values, axis=1), ((0, 0), (1, 0)))[:, ends]


def told(learner: Learner) -> dict[str, Any]:
    """Class and settings of a learner, as JSON can say them."""
    return {"class": type(learner).__name__} | {
        name: plain(value) for name, value in settings_of(learner).items()
    }


def plain(value: Any) -> Any:
    """A setting as JSON can say it."""
    if isinstance(value, np.ndarray):
        return (
            f"array of shape {value.shape}, SHA-256 {hashlib.sha256(value.tobytes()).hexdigest()}"
        )
    return value
