"""Worlds in tables: read as they stand, written as they are, refused with the line."""

import re

import numpy as np
import pytest

import safeteach as st

HEAD = "state,action,next,probability,reward,cost\n"
LAKE = (
    HEAD
    + """shore,walk,shore,1,0,0
shore,swim,island,0.9,2,0
shore,swim,deep,0.1,-8,0
island,walk,island,1,0,0.25
deep,sink,deep,1,0,1
"""
)


@pytest.fixture
def file(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "world.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_a_table_says_a_world(file):
    world = st.from_table(file(LAKE), H=3, tau=0.5)
    assert [world.state_name(s) for s in range(3)] == ["shore", "island", "deep"]
    assert [world.action_name(a) for a in range(3)] == ["walk", "swim", "sink"]
    assert world.P[0, 0].tolist() == [[1, 0, 0], [0, 0.9, 0.1], [1, 0, 0]]
    assert world.c.tolist() == [0, 0.25, 1] and world.s1 == 0
    assert world.copied.tolist() == [[0, 2, 0], [1, 1, 0], [1, 2, 0], [2, 0, 2], [2, 1, 2]]
    assert (world.low, world.high) == (0, 1), "the mean of 2 and -8 is 1"
    assert world.r[0, 0].tolist() == pytest.approx([0, 1, 0])
    assert world.stands_for.tolist() == [0, 1, 2]
    assert st.from_table(file(LAKE), H=3, tau=0.5, start="island").s1 == 1


def test_a_copy_is_no_move_that_is_not_there(file):
    """On the island nobody can swim, and in the deep nobody can walk ashore."""
    world = st.from_table(file(LAKE), H=3, tau=0.5)
    for s, a, b in world.copied:
        np.testing.assert_array_equal(world.P[:, s, a], world.P[:, s, b])
        np.testing.assert_array_equal(world.r[:, s, a], world.r[:, s, b])


def test_the_order_of_columns_others_and_spreadsheets_do_not_matter(file):
    lines = [line.split(",") for line in LAKE.splitlines()]
    turned = "\r\n".join(",".join([*line[::-1], "said by"]) for line in lines)
    assert st.from_table(file(turned, "utf-8-sig"), 3, 0.5) == st.from_table(file(LAKE), 3, 0.5)
    assert st.from_table(str(file(LAKE + "\n\n")), 3, 0.5) == st.from_table(file(LAKE), 3, 0.5)


def records():
    head, *lines = [line.split(",") for line in LAKE.splitlines()]
    return [dict(zip(head, line, strict=True)) for line in lines]


class Frame:
    """What a data frame has of pandas."""

    def to_dict(self, orient):
        assert orient == "records"
        return [row | {"probability": np.float64(row["probability"])} for row in records()]


def test_a_data_frame_or_its_records_are_a_table(file):
    world = st.from_table(file(LAKE), 3, 0.5)
    assert st.from_table(records(), 3, 0.5) == world
    assert st.from_table(Frame(), 3, 0.5) == world


def told(world):
    rows = world.rows(1)
    names = [world.state_name(s) for s in range(world.S)]
    return (names, [world.action_name(a) for a in range(world.A)], rows.indptr.tolist(),
            rows.successors.tolist(), rows.probability.tolist(), world.r.tolist(),
            world.c.tolist(), world.tau, world.H, world.s1)  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_there_and_back_is_the_same_world_to_the_last_bit(seed, tmp_path):
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    P = rng.dirichlet(np.full(S, 0.5), size=(S, A))
    names = ['say "a, b"', "ä\tö", "line\nbreak", "plain", "#"][:S] if seed % 2 else None
    world = st.SafeMDP(P, rng.random((S, A)), rng.random(S), 0.5, 3, S - 1, state_names=names)
    file = tmp_path / "world.csv"
    st.to_table(world, file)
    again = st.from_table(file, world.H, world.tau, start=world.state_name(world.s1))
    assert told(again) == told(world)
    st.to_table(again, str(file))
    assert st.from_table(file, 3, 0.5, start=again.state_name(S - 1)) == again
    assert [path.name for path in tmp_path.iterdir()] == ["world.csv"]


def test_a_grid_and_its_names_come_back(tmp_path):
    mdp = st.instances.grid()
    st.to_table(mdp, tmp_path / "grid.csv")
    again = st.from_table(tmp_path / "grid.csv", mdp.H, mdp.tau, start=mdp.state_name(mdp.s1))
    assert told(again) == told(mdp)
    assert st.safe_optimal(again).value == st.safe_optimal(mdp).value


def test_a_world_that_changes_with_the_step_is_no_table(tmp_path):
    P, r = np.ones((1, 1, 1)), np.array([[[0.0]], [[1.0]]])
    for world in (st.instances.union_counterexample(), st.SafeMDP(P, r, [0], 0.5, 2)):
        with pytest.raises(ValueError, match="the same at every step, because a table holds one"):
            st.to_table(world, tmp_path / "world.csv")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (["a\rb", "c"], r"the name of state 0 is 'a\\rb'; expected one for a table, without carri"),
        (["a", ""], "the name of state 1 is ''; expected one for a table, that is not empty and h"),
        (["a", "a "], "the name of state 1 is 'a '; expected one"),
        ([" a", "b"], "the name of state 0 is ' a'; expected one"),
        (["a", "\ud800"], r"the name of state 1 is '\\ud800'; expected one .*halves of characters"),
        (
            ["a", "b" * 131_073],
            "the name of state 1 is 'bb.*; expected one .* of at most 131072 ch",
        ),
    ],
)
@pytest.mark.parametrize("thing", ["state", "action"])
def test_a_name_that_would_not_come_back_is_not_written(names, error, thing, tmp_path):
    P = np.full((2, 2, 2), 0.5)
    world = st.SafeMDP(P, P[0], [0, 0], 0.5, 3, **{f"{thing}_names": names})
    with pytest.raises(ValueError, match="^" + error.replace("state", thing)):
        st.to_table(world, tmp_path / "world.csv")
    assert [*tmp_path.iterdir()] == []


def test_any_other_name_comes_back(tmp_path):
    names = ["nan", "None", "\ufeffa", "\u2028", "\x00", "a\nb", ";", "'", '"', "1.0", "\x85b\x1cc"]
    names = [f"<{name}>" if name != name.strip() else name for name in names]
    n = len(names)
    P = np.full((n, 1, n), 1 / n)
    world = st.SafeMDP(P, np.zeros((n, 1)), np.zeros(n), 0.5, 3, state_names=names)
    st.to_table(world, tmp_path / "world.csv")
    assert told(st.from_table(tmp_path / "world.csv", 3, 0.5)) == told(world)


def test_a_path_that_is_no_file_is_refused_and_nothing_is_left(tmp_path):
    world, file = st.instances.ice_corridor(), tmp_path / "file"
    for folder in (tmp_path, "", "."):
        with pytest.raises(ValueError, match=r"^path is '.*', a folder; expected the path of a f"):
            st.to_table(world, folder)
    for path in (tmp_path / "none" / "x.csv", file / "x.csv"):
        with pytest.raises(
            ValueError, match=r"^path is .*; expected a file that can be written \("
        ):
            st.to_table(world, path)
        file.write_text("")
    assert [*tmp_path.iterdir()] == [file]


def test_a_table_that_is_not_finished_is_not_left(tmp_path, monkeypatch):
    def rows(_world):
        yield ("a", "b")
        raise KeyboardInterrupt

    file = tmp_path / "world.csv"
    file.write_text("as before")
    monkeypatch.setattr("safeteach.exchange.tables._rows_of", rows)
    with pytest.raises(KeyboardInterrupt):
        st.to_table(st.instances.ice_corridor(), file)
    assert [*tmp_path.iterdir()] == [file] and file.read_text() == "as before"


def test_rows_that_sum_to_a_little_more_than_1_come_back(tmp_path):
    world = st.SafeMDP([[[1 + 5e-9]]], [[0]], [0], 0.5, 10**12)  # and steps take no memory
    st.to_table(world, tmp_path / "world.csv")
    assert st.from_table(tmp_path / "world.csv", 10**12, 0.5).rows(1).probability == 1 + 5e-9


@pytest.mark.parametrize("missing", [None, np.nan, np.float32("nan"), np.datetime64("NaT")])
@pytest.mark.parametrize("column", ["state", "action", "next"])
def test_a_name_that_is_missing_is_no_name(missing, column):
    wrong = [*records(), records()[0] | {column: missing}]
    with pytest.raises(
        ValueError, match=rf"^table\[5\]: {column} is missing \(.*\); expected a na"
    ):
        st.from_table(wrong, 3, 0.5)
    named = [row | {"state": "nan", "next": "nan"} for row in records()[:1]]
    assert st.from_table(named, 3, 0.5).state_name(0) == "nan"


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_another_separator_is_named(mark, name, file):
    with pytest.raises(ValueError, match=f"line 1, of table has {name} between its columns; expe"):
        st.from_table(file(LAKE.replace(",", mark)), 3, 0.5)


def test_a_reward_that_no_number_can_hold_is_refused():
    with pytest.raises(ValueError, match=r"^table\[0\]: reward is 1000.*; expected a number in"):
        st.from_table([records()[0] | {"reward": 10**400}], 3, 0.5)


def line(n, new):
    """The lake with another line n."""
    lines = LAKE.splitlines()
    lines[n - 1 : n] = [new] if new is not None else []
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "line 1, of table lacks state, action, next, probability, reward, cost; expected"),
        (HEAD, "world.csv', without rows; expected one for each transition"),
        (LAKE.replace("reward,", "pay,", 1), "line 1, of table lacks reward; expected the columns"),
        (LAKE.replace("cost", "cost,cost", 1), "line 1, of table names the column cost twice"),
        (line(4, "shore,swim,deep,0.2,0,0"),
         "line 4: with this row, the last of 'swim' in 'shore', its probabilities sum to 1.1"),
        (line(4, None), "line 3: with this row, the last of 'swim' in 'shore', its probabilities"),
        (line(4, "shore,swim,island,0.1,0,0"),
         "line 4: 'swim' in 'shore' leads to 'island', and so it does in "),
        (line(4, "shore,swim,reef,0.1,0,0"), "line 4: next is 'reef', a state without rows"),
        (line(4, "shore,swim,deep,0.1,0,0.5"), "line 4: cost of 'shore' is 0.5, and 0 in "),
        (line(4, "shore,swim,deep,a bit,0,0"), "line 4: probability is 'a bit'; expected a number"),
        (line(4, "shore,swim,deep,,0,0"), "line 4: probability is ''; expected a number"),
        (line(4, "shore,swim,deep,0,0,0"), "line 4: probability is 0.0; expected a number in (0,"),
        (line(4, "shore,swim,deep,nan,0,0"), "line 4: probability is nan; expected a number in"),
        (line(4, "shore,swim,deep,0.1,inf,0"), "line 4: reward is inf; expected a number in"),
        (line(4, "shore,swim,deep,0.1,0,2"), "line 4: cost is 2.0; expected a number in [0, 1]"),
        (line(4, "shore,,deep,0.1,0,0"), "line 4: state, action or next is empty; expected a name"),
        (line(4, "shore,swim,deep,0.1,0"), "line 4, of table has more or fewer cells than 6"),
        (line(4, "shore,swim,deep,0.1,0,0,7"), "line 4, of table has more or fewer cells than 6"),
        (line(4, '"shore,swim'), "expected a CSV file that can be read (unexpected end of data)"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_refused_with_its_line(text, error, file):
    with pytest.raises(ValueError, match=re.escape(error)):
        st.from_table(file(text), H=3, tau=0.5)


def test_a_file_that_cannot_be_read_is_refused(tmp_path, file):
    for path in (tmp_path, tmp_path / "nowhere.csv", file("é" + LAKE, "latin-1")):
        with pytest.raises(ValueError, match=r"table is '.*'; expected a CSV file that can be"):
            st.from_table(path, H=3, tau=0.5)


def test_a_wrong_record_is_refused_with_its_number():
    for wrong, error in (
        ([1], r"table\[0\] is 1; expected a dict, with a key a column"),
        ([{"state": 1}], r"table\[0\], of table lacks action, next, probability, reward, cost"),
        ([], "table without rows"),
        ([*records(), records()[0] | {"action": "run", "reward": None}],
         r"table\[5\]: reward is None; expected a number"),
        (7, "table is 7; expected the path of a CSV file, a data frame or its records"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=error):
            st.from_table(wrong, H=3, tau=0.5)


def test_a_start_that_nothing_is_called_is_refused(file):
    with pytest.raises(ValueError, match=r"start: name is 'shor', .* close to it: 'shore'"):
        st.from_table(file(LAKE), 3, 0.5, start="shor")
    with pytest.raises(TypeError, match="start is 0; expected a string"):
        st.from_table(file(LAKE), 3, 0.5, start=0)
