"""The pictures of the chapter *The problem and RF-UCRL*."""

from __future__ import annotations

from safeteach.classroom.drawing.laboratory import laboratory

__all__ = ["laboratory"]
