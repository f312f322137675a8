"""What all studies share: where they are kept, what they depend on, how numbers are stored."""

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from safeteach.learners.contract import Learner, settings_of
from safeteach.running.closure import digest_of
from safeteach.running.playing import History

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "book" / "data"
RUNS = ROOT / "_build" / "studies"


def code_digest(script: str) -> str:
    """A digest of the code that a study depends on: its script, this file, what both import.

    >>> code_digest(__file__) == code_digest(__file__)
    True
    """
    files = Path(script), Path(__file__)
    hashed = hashlib.sha256(digest_of(*files).encode())
    for file in files:
        hashed.update(file.read_bytes())
    return hashed.hexdigest()


def digest(history: History, seed: int | slice = slice(None)) -> str:
    """SHA-256 of a history's reward, violation and regret, one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> digest(History(np.zeros(2), np.zeros(2), np.ones(2)))[:8]
    'ab288217'
    """
    hashed = hashlib.sha256()
    for array in (history.reward, history.violation, history.regret):
        hashed.update(np.ascontiguousarray(array[seed], np.float64).tobytes())
    return hashed.hexdigest()


def store(file: Path, **arrays: Any) -> None:
    """Write the whole file or nothing."""
    table: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        np.savez_compressed(part, **table)
    Path(part.name).chmod(0o644)
    Path(part.name).replace(file)


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
