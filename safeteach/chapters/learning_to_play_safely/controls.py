"""The interactive figure of the chapter *Learning to play safely*: one episode on the deck."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.chapters.learning_to_play_safely import figures
from safeteach.figures import DescribedFigure
from safeteach.instances import PursuitGame
from safeteach.running.adversaries import ADVERSARIES, Adversary
from safeteach.widgets import Choice, Interactive, Slider, interactive

__all__ = ["board"]


def board(
    game: PursuitGame,
    mu: ArrayLike,
    nu: ArrayLike,
    adversaries: Mapping[str, Adversary] = ADVERSARIES,
    seed: int = 0,
) -> Interactive:
    """Step through an episode on the deck, against an adversary of your choice.

    Parameters
    ----------
    game : PursuitGame
    mu : (H, S, A) probabilities or (H, S) actions
        The agent's strategy.
    nu : (H, S, B) probabilities or (H, S) actions
        What the agent's plan expects of the adversary.
    adversaries : mapping from str to functions ``adversary(game, mu, nu)``
        By default the four with names.  All are dealt the same luck.
    seed : int
        Of that luck.

    Notes
    -----
    The adversaries are those of :mod:`safeteach.running.adversaries`.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.learning_to_play_safely import controls
    >>> game = st.instances.pursuit()
    >>> plan = st.safe_optimal(game)
    >>> widget = controls.board(game, plan.mu, plan.nu)
    >>> widget.figure(adversary="best responder", h=9).alt.split(". ")[0]
    'After the last step: earned 3, never fell in'
    """
    chances, expected = game.check_mu(mu), game.check_nu(nu)
    played = {}
    for name, respond in adversaries.items():
        answer = game.check_nu(respond(game, chances, expected))
        played[name] = answer, _walk(game, chances, answer, np.random.default_rng(seed))
    H, names = game.H, list(played)

    def draw(adversary: str, h: int) -> DescribedFigure:
        answer, states = played[adversary]
        s = int(states[h - 1])
        earned = sum(game.r[i, states[i], 0, 0] for i in range(h - 1))
        falls = int(game.unsafe[states[: min(h, H)]].sum())
        fell = ("never fell in", "fell in once")[falls] if falls < 2 else f"fell in {falls} times"
        when = "After the last step" if h > H else f"Step {h} of {H}"
        headline = f"{when}: earned {earned:g}, {fell}"
        if h > H:
            return figures.board(game, s, headline=headline)
        return figures.board(game, s, chances[h - 1, s], answer[h - 1, s], headline)

    return interactive(
        draw,
        adversary=Choice("adversary", {name: name for name in names}, start=names[0]),
        h=Slider("step h", values=list(range(1, H + 2)), start=1),
    )


def _walk(
    game: PursuitGame,
    mu: NDArray[np.float64],
    nu: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """s_1 .. s_{H+1} of one episode; a pursuit's moves lead to one state each."""
    states = [game.s1]
    for h in range(1, game.H + 1):
        s = states[-1]
        luck = rng.random(2)
        a, b = (
            int(np.searchsorted(row.cumsum(), x * row.sum(), side="right"))
            for row, x in zip((mu[h - 1, s], nu[h - 1, s]), luck, strict=True)
        )
        (after,) = game.successors(h, s, a, b)
        states.append(int(after))
    return np.array(states)
