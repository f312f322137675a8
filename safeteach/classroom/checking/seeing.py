"""What an answer can see of its arguments: by this it is judged whether it has changed them.

A world keeps what it has computed once; that is not to be seen, and filling it changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from safeteach.worlds.world import World

__all__ = ["seen_of"]

PUBLIC = ("H", "tau", "s1", "r", "c", "unsafe", "violation", "stationary")


def seen_of(value: Any) -> Any:
    """All that can be seen of an argument, as something that can be compared.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> before = seen_of(mdp)
    >>> rows = mdp.all_rows()  # kept by the world from now on
    >>> seen_of(mdp) == before
    True
    >>> costs = [0.5, 1.0]
    >>> before = seen_of(costs)
    >>> costs.sort(reverse=True)
    >>> seen_of(costs) == before
    False
    >>> costs.append(costs)  # a list without an end is like nothing, not even itself
    >>> seen_of(costs) == seen_of(costs)
    False
    """
    try:
        return _seen(value)
    except Exception:
        return object()  # the answer made something of it that has no content: equal to nothing


def _seen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, World):
        return _seen_of_a_world(value)
    if isinstance(value, list | tuple):
        return type(value), [_seen(entry) for entry in value]
    return value


def _seen_of_a_world(world: Any) -> Any:
    # What the class itself has no word for: the map of a grid, or what an answer has hung on it.
    own = {
        name: _seen(value)
        for name, value in vars(world).items()
        if not name.startswith("_") and name not in PUBLIC and not hasattr(type(world), name)
    }
    rows = {id(rows): rows for rows in map(world.rows, range(1, world.H + 1))}
    steps = [(_seen(r.indptr), _seen(r.successors), _seen(r.probability)) for r in rows.values()]
    names = [world.state_name(s) for s in range(world.S)]
    names += [world.action_name(a) for a in range(world.A)]
    names += [world.reply_name(b) for b in range(getattr(world, "B", 0))]
    return own, [_seen(getattr(world, name)) for name in PUBLIC], steps, names
