"""A train that runs towards a curve, and the place from which on it is too late to brake.

The numbers are those of Amtrak train 188, which entered the curve at Frankford Junction in
Philadelphia on 12 May 2015 at 106 mph, where 50 were allowed (National Transportation Safety
Board, report RAR-16/02).

Taught in the chapters *Why every step counts* and *Danger ahead*.
"""

from __future__ import annotations

import numpy as np

from safeteach.worlds.mdp import SafeMDP

__all__ = ["railway"]

SPEEDS = (35, 50, 61, 71, 79, 87, 94, 100, 106)  # mph; the squares are 250 (m/s)^2 apart
STRAIGHT, CURVE = 12, 2  # blocks of 250 m
LIMIT = 50  # mph, in the curve
POOR = 0.1  # probability that the rail is slippery
START = 2  # 61 mph: the curve before this line is run at 65 at most


def railway() -> SafeMDP:
    """Three kilometres of straight track, then a curve for 50 mph; a state is a block and a speed.

    A block is 250 m long.  The speeds are 35, 50, 61, ..., 106 mph, chosen so that half a metre per
    second squared, kept up for one block, changes the speed by exactly one of them:

    - ``power`` gains one speed,
    - ``coast`` keeps it,
    - ``brake`` loses two (1 m/s², dry rail), or with probability .1 only one (.5 m/s², slippery).

    The cost is 0 on straight track and v/100 in the curve at v mph, at most 1; tau = .5, so it is
    unsafe to be in the curve at more than 50 mph.  The reward of a block is v/106.  The train
    starts in the first block at 61 mph, and H = 14 is the number of blocks.

    Notes
    -----
    What was reported: the limit of the curve, the 106 mph, the length of the straight track
    (mileposts 83.4 to 81.6) and about .6 m/s² of braking (106 to 102 mph in the last three
    seconds).  The dry brake, the power and the probability are ours.  The limit of 80 mph on the
    straight track is left out: to exceed it there breaks a rule, but derails no train.

    Examples
    --------
    >>> import safeteach as st
    >>> line = st.instances.railway()
    >>> line
    SafeMDP(S=126, A=3, H=14, tau=0.5, s1=2, 14 unsafe states, stationary)
    >>> U = st.potentially_unsafe(line)
    >>> bool(U[7 - 1, line.state("7 at 106")]), bool(U[6 - 1, line.state("6 at 106")])
    (True, False)
    """
    blocks, speeds = STRAIGHT + CURVE, len(SPEEDS)
    v = np.tile(SPEEDS, blocks).astype(float)
    block, speed = np.divmod(np.arange(blocks * speeds), speeds)
    ahead = np.minimum(block + 1, blocks - 1) * speeds

    P = np.zeros((v.size, 3, v.size))
    moves = (((+1, 1.0),), ((0, 1.0),), ((-2, 1 - POOR), (-1, POOR)))
    for action, outcomes in enumerate(moves):
        for change, probability in outcomes:
            after = np.clip(speed + change, 0, speeds - 1)
            P[np.arange(v.size), action, ahead + after] += probability
    return SafeMDP(
        P,
        r=np.tile(v[:, None] / max(SPEEDS), (1, 3)),
        c=np.where(block < STRAIGHT, 0, np.minimum(v / (2 * LIMIT), 1)),
        tau=0.5,
        H=blocks,
        s1=START,
        state_names=[f"{b + 1} at {SPEEDS[j]}" for b, j in zip(block, speed, strict=True)],
        action_names=["power", "coast", "brake"],
    )
