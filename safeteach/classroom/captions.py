"""A picture with a number and a caption that states its finding, in the page and in the lab alike.

A notebook says ``chapter.figure("pond", picture, "The safe way leads around the water.")``; the
number follows from the order in which the chapter names its figures.  The picture may be a
:class:`~safeteach.figures.DescribedFigure` or one with controls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from safeteach.arguments import string
from safeteach.classroom.contents import figure_number

__all__ = ["Caption", "Captioned", "captioned"]

LABEL = "figure"  # of the caption's metadata: what the page calls the figure


@dataclass(frozen=True)
class Caption:
    """What stands below a picture; its mathematics is written between dollars.

    Attributes
    ----------
    number : str
    text : str
    label : str
        By which the page finds it.

    Examples
    --------
    >>> Caption("4.2", "All ice is *doomed*.", "fig-danger-ahead-ice")
    Figure 4.2. All ice is *doomed*.
    """

    number: str
    text: str
    label: str

    def __repr__(self) -> str:
        return f"Figure {self.number}. {self.text}"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, str]]:
        said = f"**Figure {self.number}.** {self.text}"
        return {"text/markdown": said, "text/plain": repr(self)}, {LABEL: self.label}


@dataclass(frozen=True)
class Captioned:
    """A picture and its caption, which a notebook shows one below the other.

    Attributes
    ----------
    picture : DescribedFigure or Interactive
    caption : Caption
    """

    picture: Any
    caption: Caption

    def _ipython_display_(self) -> None:
        from IPython.display import display  # there is one where this is called

        display(self.picture)  # type: ignore[no-untyped-call]
        display(self.caption)  # type: ignore[no-untyped-call]


def captioned(slug: str, name: str, picture: Any, caption: str) -> Captioned:
    """A picture of a chapter, by the name that gives it its number, with a caption."""
    if not hasattr(picture, "_repr_mimebundle_"):
        raise TypeError("picture is no figure; expected a DescribedFigure or an interactive one")
    text = " ".join(string(caption, "caption").split())
    if not text.endswith("."):
        raise ValueError(f"caption is {text!r}; expected a sentence that states what is found")
    label = f"fig-{slug.replace('_', '-')}-{name}"
    return Captioned(picture, Caption(figure_number(slug, name), text, label))
