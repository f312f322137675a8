"""A server room whose fans cost energy, and the heat from which they can no longer save it.

A reinforcement learning agent has regulated temperature and airflow on a live server floor
(Lazic et al., "Data center cooling using model-predictive control", NeurIPS 2018).

Taught in the chapters *Optimism and confidence* and *What the constants really do*.
"""

from __future__ import annotations

import numpy as np

from safeteach.worlds.mdp import SafeMDP

__all__ = ["server_room"]

COOLEST, WARMEST = 24, 36  # degrees Celsius, at the inlet of the servers
RECOMMENDED, ALLOWABLE = 27, 32  # degrees Celsius
FREE, FULL = 28, 36  # up to here the cost is 0, from here on 1
FANS = ("low", "middle", "high")
SAVED = (1.0, 0.6, 0.0)  # of the energy that the fans can save in a block
LOAD = (0.25, 0.5, 0.25)  # probabilities of 0, 1 and 2 degrees of heat in a block
BLOCKS = 12  # of five minutes


def server_room() -> SafeMDP:
    """An hour of cooling in blocks of five minutes; a state is a temperature and a fan level.

    ::

        degrees    24 .. 28    29    30    31    32    33    34    35    36
        cost              0  .125   .25  .375    .5  .625   .75  .875     1     tau = .5

    In each block the servers heat the room by 0, 1 or 2 degrees (with probability .25, .5, .25),
    and the fans cool it by 0 (``low``), 1 (``middle``) or 2 degrees (``high``); the temperature
    stays within 24 .. 36.  The actions set the level of the next block:

    - ``slower`` is one level down,
    - ``keep`` is the same level,
    - ``faster`` is one level up.

    The reward of a block is the energy that the fans save in it: 1, .6 or 0.  An episode is an
    hour, H = 12 blocks, and begins at 27 degrees with the fans in the middle.  It is unsafe to be
    above 32 degrees.

    Notes
    -----
    What was reported: 80.6 °F, which is 27 °C, is the maximum of the range recommended for the air
    at the inlet of servers, and 89.6 °F, which is 32 °C, is higher but allowable (Lawrence Berkeley
    National Laboratory, Center of Expertise for Energy Efficiency in Data Centers, *Environmental
    Conditions*).  The heat, the fans, their energy, the costs and the five minutes are ours.

    Examples
    --------
    >>> import safeteach as st
    >>> room = st.instances.server_room()
    >>> room
    SafeMDP(S=39, A=3, H=12, tau=0.5, s1=10, 12 unsafe states, stationary)
    >>> U = st.potentially_unsafe(room)
    >>> [room.state_name(s) for s in range(room.S) if U[0, s] and not room.unsafe[s]]
    ['30 low', '31 low', '32 low', '32 middle']
    """
    levels = len(FANS)
    degrees = np.repeat(np.arange(COOLEST, WARMEST + 1), levels)
    fan = np.tile(np.arange(levels), WARMEST - COOLEST + 1)
    S = degrees.size

    P = np.zeros((S, 3, S))
    for action, change in enumerate((-1, 0, +1)):
        level = np.clip(fan + change, 0, levels - 1)
        for heat, probability in enumerate(LOAD):
            after = np.clip(degrees + heat - fan, COOLEST, WARMEST)
            P[np.arange(S), action, (after - COOLEST) * levels + level] += probability
    return SafeMDP(
        P,
        r=np.tile(np.array(SAVED)[fan, None], (1, 3)),
        c=np.clip((degrees - FREE) / (FULL - FREE), 0, 1),
        tau=(ALLOWABLE - FREE) / (FULL - FREE),
        H=BLOCKS,
        s1=(RECOMMENDED - COOLEST) * levels + FANS.index("middle"),
        state_names=[f"{t} {FANS[f]}" for t, f in zip(degrees, fan, strict=True)],
        action_names=["slower", "keep", "faster"],
    )
