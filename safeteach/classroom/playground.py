"""The playground in a chapter: in the page a map to paint on, with a kernel the usual controls.

What it does there is in ``book/playground``, for every page.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence

from safeteach.figures import DescribedFigure
from safeteach.instances import GridMDP, grid_from_map
from safeteach.widgets import (
    Choice,
    Interactive,
    Picture,
    Slider,
    first_picture,
    image,
    page_is_built,
)

__all__ = ["playground"]

SLIP = 0.2  # that of grid_from_map


def playground(
    figure: Callable[..., DescribedFigure],
    worlds: Mapping[str, GridMDP],
    tools: Sequence[str],
    step: int,
    **controls: Slider | Choice,
) -> Interactive:
    """An interactive figure that is a playground in the page, and its first picture on paper.

    Parameters
    ----------
    figure : function
        As of :func:`safeteach.widgets.interactive`: what a kernel shows.
    worlds : dict of GridMDP
        What the reader may begin with, by names; the first one is there at first.
    tools : sequence of str
        What the reader can do: paint, why, walk, agents, learn or share.
    step : int
        At which step the doomed cells are shown at first.
    **controls : Slider or Choice

    Examples
    --------
    >>> import safeteach as st
    >>> corridor = st.instances.ice_corridor()
    >>> widget = playground(
    ...     lambda h: st.figures.grid(corridor, h=h), {"corridor": corridor}, ["paint", "why"], 10,
    ...     h=Slider("step h", values=range(10, 0, -1), start=10),
    ... )
    >>> widget.page is None                                           # there is a kernel
    True
    """
    first = first_picture(figure, controls)
    page = _page(worlds, tools, step, first) if page_is_built() else None
    return Interactive(figure, controls, first, page)


def _page(
    worlds: Mapping[str, GridMDP], tools: Sequence[str], step: int, first: Picture
) -> str:
    """The place of the playground; without a script the first picture stands there."""
    told = json.dumps({name: _told(name, mdp) for name, mdp in worlds.items()})
    return (
        f'<div class="playground" data-tools="{html.escape(" ".join(tools))}" '
        f'data-step="{step}" data-worlds="{html.escape(told)}">{image(first)}</div>'
    )


def _told(name: str, mdp: GridMDP) -> dict[str, object]:
    if mdp != grid_from_map("\n".join(mdp.map), H=mdp.H, slip=SLIP, tau=mdp.tau):
        raise ValueError(f"{name!r} is not the world of its map with slip {SLIP:g}")
    return {
        "name": name[0].upper() + name[1:], "rows": mdp.map, "H": mdp.H, "slip": SLIP,
        "tau": mdp.tau,
    }  # fmt: skip
