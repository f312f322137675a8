"""The values of actions, Q, of all steps at once: computed when they are asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits
from safeteach.worlds.world import World

__all__ = ["action_values"]

Values = NDArray[np.float64]


def action_values(world: World, V: Values) -> Any:
    """Q of all steps, as large as the rewards, from V (H + 1, S): a function that computes it."""
    return partial(_action_values, world, V)


def _action_values(world: World, V: Values) -> Values:
    check_fits(world.r.shape, float, "Q", instead="V and policy are smaller")
    Q = np.empty(world.r.shape)
    for i in range(world.H):
        Q[i] = world.r[i] + world.rows(i + 1).expect(V[i + 1]).reshape(Q[i].shape)
    return Q
