"""A drive past a school: an average that is in order and one step that is not.

Taught in the chapter *Why every step counts*.
"""

from __future__ import annotations

import numpy as np

from safeteach.worlds.mdp import SafeMDP

__all__ = ["school_road"]

SEGMENTS, SCHOOL = 10, 6


def school_road() -> SafeMDP:
    """Ten segments of road, driven slow or fast; the sixth passes a school.

    ::

        segment     1     2    3    4    5    6    7    8    9    10
                  start                     school
        c slow     .1    .1   .1   .1   .1   .1   .1   .1   .1   .1
        c fast     .4    .4   .4   .4   .4  1.0   .4   .4   .4   .4     tau = .5

    A state is a segment and the speed at which it is driven; the action is the speed of the next
    segment.  A segment pays 1 when it is driven fast and .5 when slow.  The drive starts slow and
    lasts H = 10 steps, one for each segment.  Only the school at high speed is unsafe.

    Examples
    --------
    >>> import safeteach as st
    >>> road = st.instances.school_road()
    >>> fast = np.ones((road.H, road.S), int)
    >>> round(st.evaluate(road, fast).cost, 10)            # below the budget tau * H = 5
    4.3
    >>> st.evaluate(road, fast).unsafe_probability
    1.0
    """
    slow, fast = 0, 1
    state = np.arange(2 * SEGMENTS).reshape(SEGMENTS, 2)
    P = np.zeros((2 * SEGMENTS, 2, 2 * SEGMENTS))
    c = np.empty(2 * SEGMENTS)
    r = np.empty((2 * SEGMENTS, 2))
    for i in range(SEGMENTS):
        here, ahead = state[i], state[min(i + 1, SEGMENTS - 1)]
        for speed in (slow, fast):
            P[here, speed, ahead[speed]] = 1
        c[here] = 0.1, 1.0 if i + 1 == SCHOOL else 0.4
        r[here[slow]], r[here[fast]] = 0.5, 1.0
    return SafeMDP(
        P,
        r,
        c,
        tau=0.5,
        H=SEGMENTS,
        s1=int(state[0, slow]),
        state_names=[f"{i + 1} {speed}" for i in range(SEGMENTS) for speed in ("slow", "fast")],
        action_names=["slow", "fast"],
    )
