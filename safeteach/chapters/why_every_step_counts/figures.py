"""The pictures of the chapter *Why every step counts*."""

from __future__ import annotations

from safeteach.classroom.drawing.steps import ledgers, steps

__all__ = ["ledgers", "steps"]
