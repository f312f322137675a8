"""The server room: its heat and its fans, who is doomed in it, and what two learners make of it."""

import numpy as np

import safeteach as st


def names(room, which):
    return {room.state_name(s) for s in np.flatnonzero(which)}


def test_the_room_is_the_one_described():
    room = st.instances.server_room()
    assert (room.S, room.A, room.H, room.tau) == (13 * 3, 3, 12, 0.5)
    assert room.state_name(room.s1) == "27 middle"
    degrees = np.array([int(room.state_name(s).split()[0]) for s in range(room.S)])
    assert (room.unsafe == (degrees > 32)).all()
    assert set(room.c[degrees == 32]) == {0.5} and set(room.c[degrees == 36]) == {1}
    assert set(room.c[degrees <= 28]) == {0}
    for start, action, after in [
        ("27 low", "faster", {"27 middle": 0.25, "28 middle": 0.5, "29 middle": 0.25}),
        ("27 middle", "keep", {"26 middle": 0.25, "27 middle": 0.5, "28 middle": 0.25}),
        ("27 high", "slower", {"25 middle": 0.25, "26 middle": 0.5, "27 middle": 0.25}),
        ("36 low", "slower", {"36 low": 1}),
        ("24 high", "faster", {"24 high": 1}),
    ]:
        row = room.P[0, room.state(start), room.action(action)]
        assert {room.state_name(t): row[t] for t in np.flatnonzero(row)} == after
    for level, saved in {"low": 1, "middle": 0.6, "high": 0}.items():
        assert set(room.r[0, room.state(f"30 {level}")]) == {saved}


def test_fans_that_are_too_slow_are_doomed_before_it_is_too_hot():
    room = st.instances.server_room()
    U = st.potentially_unsafe(room)
    for h in range(1, room.H):
        early = {"30 low"} if h < room.H - 1 else set()
        assert names(room, U[h - 1] & ~room.unsafe) == {"31 low", "32 low", "32 middle"} | early
    assert (U[room.H - 1] == room.unsafe).all()
    assert st.is_feasible(room)


def test_the_most_energy_is_saved_above_the_limit():
    room = st.instances.server_room()
    reckless, safest = st.optimal(room), st.safe_optimal(room)
    assert st.evaluate(room, reckless.policy).unsafe_probability > 0.95
    assert st.evaluate(room, safest.policy).unsafe_probability == 0
    assert reckless.value - safest.value > 2


def test_sucbvi_learns_to_stay_below_the_limit_and_ucbvi_does_not():
    room = st.instances.server_room()
    last = slice(-2000, None)
    settings = {"episodes": 20_000, "delta": 0.005, "bonus_scale": 0.01}
    safe = st.run(st.SUCBVI(room.known, **settings), room, seed=0)
    bold = st.run(st.UCBVI(room.known, **settings), room, seed=0)
    assert abs(safe.reward[last].mean() - st.safe_optimal(room).value) < 0.2
    assert (safe.violation[last] > 0).mean() < 0.1  # and then by one degree, 33
    assert (bold.violation[last] > 0).mean() > 0.8
