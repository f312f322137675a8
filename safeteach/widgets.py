"""One figure function, a few named controls, two ways to move them.

With a kernel, the controls are ipywidgets and every move draws the figure anew.  In the published
page there is no kernel: while the book is built (its Sphinx extension sets ``SAFETEACH_STATIC``)
the figure is drawn for every setting, and the page's own inputs move through those pictures.
Both show the same image, byte for byte, for the same setting.

Taught in the chapter *Danger ahead*, by example.
"""

from __future__ import annotations

import base64
import html
import io
import itertools
import json
import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from safeteach.arguments import instance, number, numbers, shown, string
from safeteach.extras import extra
from safeteach.figures import DescribedFigure
from safeteach.figures.described import SHARPNESS, shown_size

with extra("widgets"):
    import ipywidgets

__all__ = ["Choice", "Interactive", "Picture", "Slider", "interactive"]

STATIC = "SAFETEACH_STATIC"
MOST_CONTROLS = 3
MOST_SETTINGS = 60
MOST_BYTES = 10**6


@dataclass(frozen=True)
class Slider:
    """A control that moves along numbers.

    Parameters
    ----------
    label : str
        Its name, shown beside it.
    values : sequence of numbers
        The stops, from left to right.
    start : number
        The stop at which it stands at first.
    fine : sequence of numbers, optional
        The stops where a kernel can draw any setting; they contain ``values``.

    Examples
    --------
    >>> from safeteach.widgets import Slider
    >>> Slider("threshold τ", values=[0, 0.5, 1], start=0.5).options
    {'0': 0, '0.5': 0.5, '1': 1}
    """

    label: str
    values: Sequence[float]
    start: float
    fine: Sequence[float] = ()

    def __post_init__(self) -> None:
        for name, values in (("values", self.values), ("fine", self.fine)):
            if numbers(values, name).ndim != 1:
                raise ValueError(f"{name} is {shown(values)}; expected numbers in a row")
        number(self.start, "start")
        _check_control(self.label, "values", self.options, len(self.values), self.start)
        missing = [value for value in self.values if value not in (self.fine or self.values)]
        if missing:
            raise ValueError(f"fine of {self.label!r} lacks {missing[0]:g}, one of its values")

    @property
    def options(self) -> dict[str, float]:
        """What is shown at each stop, and its value."""
        return {f"{value:g}": value for value in self.values}

    def live(self) -> ipywidgets.SelectionSlider:
        """The control for a kernel."""
        return ipywidgets.SelectionSlider(
            options=[(f"{value:g}", value) for value in self.fine or self.values],
            **_live_settings(self),
        )

    def static(self) -> str:
        """The control for the page, HTML."""
        at = list(self.values).index(self.start)
        return (
            f'<label>{html.escape(self.label)} <input type="range" min="0" '
            f'max="{len(self.values) - 1}" value="{at}" aria-valuetext="{self.start:g}" '
            f'autocomplete="off"></label> <output aria-live="off">{self.start:g}</output>'
        )


@dataclass(frozen=True)
class Choice:
    """A control that picks one of a few named options.

    Parameters
    ----------
    label : str
        Its name, shown beside it.
    options : mapping from str
        What is shown for each option, and its value.
    start : value
        The value that is picked at first.

    Examples
    --------
    >>> from safeteach.widgets import Choice
    >>> Choice("recursion", {"exact": "exact", "as printed": "paper"}, start="exact").start
    'exact'
    """

    label: str
    options: Mapping[str, Any]
    start: Any

    def __post_init__(self) -> None:
        instance(self.options, "options", Mapping, "a mapping from what is shown to values")
        for name in self.options:
            string(name, "what is shown of options")
        _check_control(self.label, "options", self.options, len(self.options), self.start)

    def live(self) -> ipywidgets.ToggleButtons:
        """The control for a kernel: buttons, for JupyterLab takes the arrow keys from a menu."""
        return ipywidgets.ToggleButtons(
            options=list(self.options.items()), **_live_settings(self, button_width="auto")
        )

    def static(self) -> str:
        """The control for the page, HTML."""
        options = "".join(
            f"<option{' selected' * (value == self.start)}>{html.escape(shown)}</option>"
            for shown, value in self.options.items()
        )
        label = html.escape(self.label)
        return f'<label>{label} <select autocomplete="off">{options}</select></label>'


@dataclass(frozen=True)
class Picture:
    """One state of an interactive figure.

    Attributes
    ----------
    src : str
        The image, as an address that holds it.
    alt : str
        The figure's description of itself.
    width, height : int
        CSS pixels.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> widget = st.widgets.interactive(
    ...     lambda h: st.figures.delta_graph(mdp, h),
    ...     h=st.widgets.Slider("step h", values=[4, 3, 2, 1], start=4),
    ... )
    >>> picture = widget.picture(h=3)
    >>> picture.src[:11], picture.alt[:17]
    ('data:image/', 'Δ graph at step 3')
    """

    src: str
    alt: str
    width: int
    height: int


@dataclass(frozen=True)
class Interactive:
    """A figure with controls, as :func:`interactive` makes it.

    Attributes
    ----------
    figure : function
        From a value for each control to a figure.
    controls : dict from str to Slider or Choice
        The controls by the names of the function's arguments.
    first : Picture
        The figure at the start of every control.
    page : str or None
        The version for the page, HTML, where the book is being built.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> widget = st.widgets.interactive(
    ...     lambda h: st.figures.delta_graph(mdp, h),
    ...     h=st.widgets.Slider("step h", values=[4, 3, 2, 1], start=4),
    ... )
    >>> list(widget.controls), widget.first == widget.picture(h=4)
    (['h'], True)
    """

    figure: Callable[..., DescribedFigure]
    controls: dict[str, Slider | Choice]
    first: Picture
    page: str | None

    def picture(self, **setting: Any) -> Picture:
        """The figure at a value for each control."""
        return _picture(self.figure(**setting))

    def live(self) -> ipywidgets.VBox:
        """The version for a kernel: a move draws the figure, or says in one line why it cannot."""
        inputs = {name: control.live() for name, control in self.controls.items()}
        shown = ipywidgets.HTML(image(self.first))

        def move(_change: object) -> None:
            try:
                picture = self.picture(**{name: one.value for name, one in inputs.items()})
            except Exception as error:  # the reader's own figure may raise anything
                line = html.escape(f"{type(error).__name__}: {error}")
                shown.value = f'<p role="alert">No picture at this setting. {line}</p>'
            else:
                shown.value = image(picture)

        for one in inputs.values():
            one.observe(move, "value")
        return ipywidgets.VBox([*inputs.values(), shown])

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,  # noqa: ARG002, IPython itself picks from both
        exclude: Collection[str] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        said = {"text/plain": _describe(self.controls, self.first)}
        if self.page is not None:
            return {**said, "text/html": self.page}
        return {**self.live()._repr_mimebundle_(), **said}


def interactive(figure: Callable[..., DescribedFigure], **controls: Slider | Choice) -> Interactive:
    """A figure function with controls: live where there is a kernel, precomputed in the page.

    Parameters
    ----------
    figure : function
        It takes one argument for each control and returns a figure that describes itself.
    **controls : Slider or Choice
        One to three, by the names of the function's arguments.

    Returns
    -------
    Interactive
        Shown by a notebook as it is.

    Raises
    ------
    ValueError
        While the book is built: if the controls have more than 60 settings together, if one of
        them changes nothing, or if the pictures take more than 1 MB.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> widget = st.widgets.interactive(
    ...     lambda h: st.figures.delta_graph(mdp, h),
    ...     h=st.widgets.Slider("step h", values=[4, 3, 2, 1], start=4),
    ... )
    >>> widget._repr_mimebundle_()["text/plain"][:69]
    'Interactive figure. Control: step h (4 to 1, at 4). Δ graph at step 4'
    """
    first = first_picture(figure, controls)
    page = static_page(figure, controls, first) if page_is_built() else None
    return Interactive(figure, controls, first, page)


def page_is_built() -> bool:
    """Whether what is shown goes into a page, where there will be no kernel."""
    return bool(os.environ.get(STATIC))


def first_picture(
    figure: Callable[..., DescribedFigure], controls: Mapping[str, Slider | Choice]
) -> Picture:
    """The figure at the start of every control, once both are what they should be."""
    if not callable(figure):
        raise TypeError(f"figure is {shown(figure)}; expected a function that draws one")
    for name, control in controls.items():
        instance(control, name, Slider | Choice, "a Slider or a Choice")
    if not 1 <= len(controls) <= MOST_CONTROLS:
        raise ValueError(f"{len(controls)} controls; a figure has one to {MOST_CONTROLS}")
    return _picture(figure(**{name: control.start for name, control in controls.items()}))


def static_page(
    figure: Callable[..., DescribedFigure], controls: dict[str, Slider | Choice], first: Picture
) -> str:
    """The version that needs no kernel: HTML with a picture for every setting of the controls.

    ``book/_static/interactive.js`` moves through them; without it the first one stands there.
    """
    options = [list(control.options.items()) for control in controls.values()]
    count = math.prod(map(len, options))
    if count > MOST_SETTINGS:
        raise ValueError(
            f"the controls have {count} settings together; a page holds at most {MOST_SETTINGS}. "
            f"Give them fewer values"
        )
    starts = [list(control.options.values()).index(control.start) for control in controls.values()]
    drawn = {
        setting: first
        if setting == tuple(starts)
        else _picture(
            figure(**{n: o[i][1] for n, o, i in zip(controls, options, setting, strict=True)})
        )
        for setting in itertools.product(*(range(len(o)) for o in options))
    }
    for place, control in enumerate(controls.values()):
        if all(p == drawn[(*s[:place], 0, *s[place + 1 :])] for s, p in drawn.items()):
            raise ValueError(f"the control {control.label!r} changes nothing")
    pictures = {picture: i for i, picture in enumerate(dict.fromkeys(drawn.values()))}
    width, height = max(p.width for p in pictures), max(p.height for p in pictures)
    states = {
        "shown": [[shown for shown, _ in one] for one in options],
        "states": [pictures[picture] for picture in drawn.values()],
        "pictures": [[p.src, p.alt, p.width, p.height] for p in pictures],
        "width": width,
    }
    data = json.dumps(states, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    page = (
        '<figure class="interactive">'
        '<div class="interactive-controls" hidden>'
        + "".join(f"<div>{control.static()}</div>" for control in controls.values())
        + '</div><div class="interactive-picture" '
        f'style="aspect-ratio: {width} / {height}; max-width: {width}px">'
        + image(first, share=first.width / width)
        + '</div><p class="interactive-said" aria-live="polite"></p>'
        f'<script type="application/json">{data}</script></figure>'
    )
    if len(page.encode()) > MOST_BYTES:
        raise ValueError(
            f"the interactive figure takes {len(page.encode()):,} bytes; a page holds at most "
            f"{MOST_BYTES:,}. Give the controls fewer values, or draw a smaller world"
        )
    return page


def _check_control(
    label: str, argument: str, options: Mapping[str, Any], count: int, start: Any
) -> None:
    if not string(label, "label").strip():
        raise ValueError("a control needs a label: it is what a reader sees and hears")
    if count < 2:
        raise ValueError(f"{argument} of {label!r} has {count} of them; expected at least two")
    if len(options) < count:
        raise ValueError(f"{label!r} shows two of its values alike, as {', '.join(options)}")
    if isinstance(start, np.ndarray) or start not in options.values():
        raise ValueError(f"start of {label!r} is {start!r}, none of {', '.join(options)}")


def _live_settings(control: Slider | Choice, **style: str) -> dict[str, Any]:
    return {
        "value": control.start,
        "description": control.label,
        "style": {"description_width": "initial", **style},
    }


def _picture(figure: DescribedFigure) -> Picture:
    """A figure as a picture in WebP, smaller still than its PNG: sixty go in a page."""
    instance(figure, "what the function draws", DescribedFigure, "a DescribedFigure")
    few = figure.image()
    small = io.BytesIO()
    few.convert("RGB").save(small, format="WebP", lossless=True, method=2, quality=20)  # quick
    src = "data:image/webp;base64," + base64.b64encode(small.getvalue()).decode("ascii")
    return Picture(src, figure.alt, *shown_size(few.width // SHARPNESS, few.height // SHARPNESS))


def image(picture: Picture, share: float | None = None) -> str:
    """The picture as HTML, never wider than the page, or at a share of what it stands in."""
    style = "max-width: 100%; height: auto" if share is None else f"width: {share:.4%}"
    return (
        f'<img class="dark-light" src="{picture.src}" alt="{html.escape(picture.alt)}" '
        f'width="{picture.width}" height="{picture.height}" style="{style}">'
    )


def _describe(controls: Mapping[str, Slider | Choice], first: Picture) -> str:
    """The figure in one line: what can be moved, and what it shows at first."""
    said = []
    for control in controls.values():
        shown = list(control.options)
        at = shown[list(control.options.values()).index(control.start)]
        over = f"{shown[0]} to {shown[-1]}" if isinstance(control, Slider) else ", ".join(shown)
        said.append(f"{control.label} ({over}, at {at})")
    return f"Interactive figure. Control{'s' * (len(said) > 1)}: {'; '.join(said)}. {first.alt}"
