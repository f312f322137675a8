"""Draw the picture of the README and the landing page: the pond and the best safe way around it."""

from pathlib import Path

import safeteach as st
from safeteach.chapters.danger_ahead.figures import terrain

PICTURE = Path(__file__).resolve().parents[1] / "_static" / "pond.png"


def draw() -> bytes:
    """Return the picture as a PNG."""
    pond = st.instances.grid()
    return terrain(pond, h=1, routes={"the best safe way": st.safe_optimal(pond).policy}).png()


if __name__ == "__main__":
    PICTURE.write_bytes(draw())
