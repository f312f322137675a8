"""The railway: speeds that physics gives, and the braking curve as its set of doomed states."""

import numpy as np

import safeteach as st
from safeteach.instances.railway import SPEEDS

MPH = 0.44704  # metres per second


def test_a_block_at_half_a_metre_per_second_squared_is_one_speed():
    squares = (np.array(SPEEDS) * MPH) ** 2
    assert np.allclose(np.diff(squares), 2 * 0.5 * 250, rtol=0, atol=30)  # speeds are whole mph


def test_the_line_is_the_one_described():
    line = st.instances.railway()
    assert (line.S, line.A, line.H) == (14 * 9, 3, 14)
    assert line.state_name(line.s1) == "1 at 61"
    unsafe = {line.state_name(s) for s in np.flatnonzero(line.unsafe)}
    assert unsafe == {f"{block} at {v}" for block in (13, 14) for v in SPEEDS if v > 50}
    brake = line.P[0, line.state("7 at 106"), line.action("brake")]
    assert {line.state_name(t): brake[t] for t in np.flatnonzero(brake)} == {
        "8 at 94": 0.9, "8 at 100": 0.1}  # fmt: skip
    assert line.P[0, line.state("3 at 35"), line.action("brake"), line.state("4 at 35")] == 1
    assert line.P[0, line.state("3 at 106"), line.action("power"), line.state("4 at 106")] == 1


def test_what_is_doomed_is_what_cannot_brake_on_a_slippery_rail():
    line = st.instances.railway()
    U = st.potentially_unsafe(line)
    for block in range(1, 15):
        for j, v in enumerate(SPEEDS, start=1):
            too_fast = j - max(13 - block, 0) > 2  # one speed a block; the second is allowed
            assert U[block - 1, line.state(f"{block} at {v}")] == too_fast


def test_safety_has_a_price_and_speed_has_one_too():
    line = st.instances.railway()
    fastest, safest = st.optimal(line), st.safe_optimal(line)
    assert st.evaluate(line, fastest.policy).unsafe_probability == 1
    assert st.evaluate(line, safest.policy).unsafe_probability == 0
    assert fastest.value > safest.value + 2
