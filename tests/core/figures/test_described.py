"""What every figure is: a picture with words, in one vocabulary, with no global state."""

import base64
import io
import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from IPython.core.formatters import DisplayFormatter
from looping import many
from matplotlib.colors import to_rgb
from oracles.brute_force import worlds
from PIL import Image

import safeteach as st
from safeteach.figures.described import COLOURS, KINDS, LONGEST_ALT, listing, text_size


def all_figures(mdp, h):
    yield st.figures.propagation(mdp)
    yield from figures_at(mdp, h)


def figures_at(mdp, h):
    yield st.figures.delta_graph(mdp, h)
    yield st.figures.propagation_frame(mdp, h)
    for s in np.flatnonzero(st.potentially_unsafe(mdp)[h - 1]):
        yield st.figures.witness(mdp, s, h)
    if isinstance(mdp, st.instances.GridMDP):
        yield st.figures.grid(mdp, h=h)
        yield st.figures.grid(mdp, st.optimal(mdp).policy, h)


def book_worlds():
    return [
        st.instances.union_counterexample(),
        st.instances.ice_corridor(),
        st.instances.grid(),
        *(st.instances.random_mdp(S=6, A=2, H=4, seed=seed) for seed in range(many(1, 4))),
        st.instances.random_mdp(S=5, A=3, H=6, seed=0, stationary=False),
    ]


def test_a_notebook_gets_a_sharp_picture_with_its_description():
    figure = st.figures.grid(st.instances.ice_corridor())
    data, metadata = DisplayFormatter().format(figure)
    assert data["text/plain"] == figure.alt
    assert metadata["image/png"]["alt"] == figure.alt
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    shown = metadata["image/png"]
    sharpness = picture.width / shown["width"]
    assert 1.4 < sharpness <= 2.01, "at least three pixels for two of the page's"
    assert picture.height == pytest.approx(sharpness * shown["height"], abs=2)
    assert picture.mode == "P" and "transparency" not in picture.info, "on opaque paper"


@pytest.mark.slow
@given(worlds(max_states=5, max_policies=10**9))
@settings(max_examples=many(9, 25))
def test_every_figure_of_every_small_world_can_be_drawn(mdp):
    for figure in all_figures(mdp, h=mdp.H // 2 + 1):
        figure.png()
        assert 20 < len(figure.alt) <= LONGEST_ALT


@pytest.mark.slow
@pytest.mark.parametrize("mdp", book_worlds(), ids=repr)
def test_figures_are_legible(mdp, legible):
    steps = [figures_at(mdp, h) for h in range(1, mdp.H + 1, 3)]
    for figure in itertools.chain([st.figures.propagation(mdp)], *steps):
        legible(figure)
        assert len(figure.alt) <= LONGEST_ALT


def test_long_names_are_cut_in_the_picture_and_kept_in_the_words(legible):
    names = ["the room at the end of the corridor", "b", "c $x", "d_$1$"]
    mdp = st.SafeMDP(
        np.full((4, 3, 4), 0.25),
        np.zeros((4, 3)),
        c=[0, 0, 0, 1],
        tau=0.5,
        H=2,
        state_names=names,
        action_names=["turn around slowly", "wait", "go"],
    )
    for figure in all_figures(mdp, 1):
        legible(figure)
        assert "the room at the end of the co…" in figure.alt or "d_$1$" in figure.alt


def test_many_changes_are_summarised_by_their_sizes():
    world = st.instances.random_mdp(
        S=12, A=2, H=12, seed=0, successors=2, unsafe=0.1, stationary=False
    )
    names = [f"the place with number {s}" for s in range(12)]
    mdp = st.SafeMDP(world.P, world.r, world.c, world.tau, world.H, state_names=names)
    sizes = ", ".join(map(str, st.potentially_unsafe(mdp).sum(axis=1)[::-1]))
    alt = st.figures.propagation(mdp).alt
    assert alt.endswith(f"Sizes of U_h from h = 12 down to 1: {sizes}.")
    assert len(alt) <= LONGEST_ALT


@pytest.mark.slow
def test_the_same_world_gives_the_same_bits():
    def pictures():
        mdp = st.instances.random_mdp(S=6, A=2, H=4, seed=1)
        return [figure.png() for figure in all_figures(mdp, 2)]

    assert pictures() == pictures()


def test_kinds_differ_in_colour_shape_and_filling():
    for one, other in itertools.combinations(KINDS, 2):
        assert one.face != other.face
        outlines = [kind.outline((0, 0), 1).get_path().vertices for kind in (one, other)]
        assert outlines[0].shape != outlines[1].shape
    assert [kind.hatch is not None for kind in KINDS] == [False, True, False]
    grey = [float(np.dot(to_rgb(kind.face), [0.299, 0.587, 0.114])) for kind in KINDS]
    assert grey[2] < min(grey[:2]) - 0.3  # full against pale, in print too


@pytest.mark.slow
def test_pyplot_is_never_loaded():
    code = """
import sys
import safeteach as st
assert not {"matplotlib", "networkx"} & set(sys.modules)
mdp = st.instances.ice_corridor()
st.figures.grid(mdp).png(); st.figures.delta_graph(mdp).png(); st.figures.propagation(mdp).png()
st.figures.witness(mdp, 7, 1)._repr_mimebundle_()
assert "networkx" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize(
    ("names", "most", "phrase"),
    [
        ([], 9, "none"),
        (["x"], 9, "x"),
        (["x", "y"], 9, "x, y"),
        (["xxx", "yyy", "z"], 8, "xxx, yyy and 1 more"),
        (["a long name", "b"], 3, "a long name and 1 more"),
    ],
)
def test_listing(names, most, phrase):
    assert listing(names, most) == phrase


def test_text_size_is_what_matplotlib_draws(written):
    figure = st.figures.delta_graph(st.instances.union_counterexample())
    for text, box in written(figure).items():
        if text.get_text() in ("start", "a0, a1"):
            assert text_size(text.get_text())[0] == pytest.approx(box.width / figure.dpi, abs=0.04)


def test_minor_ticks_drawn_as_one_have_the_same_pixels():
    """On logarithmic axes, and not on one whose minor ticks have labels."""

    def chart(ends):
        figure = st.figures.DescribedFigure(4, 3, "A chart.")
        axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
        axes.set(xscale="log", yscale="log", xlim=(1, ends), ylim=(0.3, 40))
        return figure, axes.xaxis

    for ends, labelled in ((5_000, False), (5, True)):
        (plain, ticks), (figure, axis) = chart(ends), chart(ends)
        pixels = io.BytesIO()
        plain.savefig(pixels, format="raw", dpi=192)
        drawn = Image.frombytes("RGBA", (768, 576), pixels.getvalue()).convert("RGB")
        few = drawn.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        assert figure.image().tobytes() == few.tobytes()
        assert len(ticks.get_minor_ticks()) > 3
        assert (len(axis.get_minor_ticks()) > 3) == labelled
