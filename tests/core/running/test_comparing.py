"""Comparisons: the same bits anywhere, what is kept, what is stale, and what goes wrong."""

import importlib.util
import inspect
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from core.running.histories import PARTS, all_five, same_bits
from core.running.mortal_learners import Clumsy, Mortal, ShortLived

import safeteach as st
from safeteach.running import comparing, keying, playing, workers
from safeteach.running.closure import files_of


def serial(makers, mdp, episodes, seeds):
    """What compare must give, one run after the other."""
    return {
        name: [st.run(make(mdp.known, episodes=episodes), mdp, seed=seed) for seed in seeds]
        for name, make in makers.items()
    }


def check_against(results, expected):
    assert list(results) == list(expected)
    for name, histories in expected.items():
        for part in PARTS:
            wanted = np.stack([getattr(history, part) for history in histories])
            assert getattr(results[name], part).tobytes() == wanted.tobytes()
            assert getattr(results[name], part).shape == wanted.shape


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits_in_any_executor(tmp_path):
    mdp = st.instances.ice_corridor()
    makers, seeds = all_five(mdp), [5, 3, 8]
    expected = serial(makers, mdp, 300, seeds)
    how = {"episodes": 300, "seeds": seeds, "progress": False}
    check_against(st.compare(makers, mdp, folder=tmp_path, **how), expected)
    check_against(st.compare(makers, mdp, folder=tmp_path, **how), expected)  # from the files
    with ThreadPoolExecutor(2) as pool:
        check_against(st.compare(makers, mdp, executor=pool, **how), expected)
        assert pool.submit(int).result() == 0  # it is the caller's and still alive
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        check_against(st.compare(makers, mdp, executor=pool, **how), expected)
        assert pool.submit(int).result() == 0


def test_one_core_needs_no_executor(monkeypatch):
    mdp = st.instances.ice_corridor()
    makers = {"SUCBVI": st.SUCBVI, "UCBVI": st.UCBVI}
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 1)
    monkeypatch.setattr(workers, "_Processes", None)
    results = st.compare(makers, mdp, 30, seeds=[1, 2], progress=False)
    check_against(results, serial(makers, mdp, 30, [1, 2]))


@pytest.fixture
def compare_in_threads(tmp_path):
    """`compare` of small runs in threads, with results in tmp_path, and how many were run."""
    with ThreadPoolExecutor(2) as pool:

        def call(makers, mdp=None, **changes):
            mdp = mdp or st.instances.ice_corridor()
            how = {"episodes": 30, "seeds": range(3), "folder": tmp_path, "executor": pool}
            before = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.npz")}
            results = st.compare(makers, mdp, progress=False, **(how | changes))
            assert all(file.stat().st_mtime_ns == then for file, then in before.items())
            return results, len([*tmp_path.glob("*.npz")]) - len(before)

        yield call


def test_what_is_finished_is_not_run_again(compare_in_threads, monkeypatch):
    makers = {"SUCBVI": st.SUCBVI, "Triple-Q": st.TripleQ}
    first, files = compare_in_threads(makers)
    assert files == 6

    def fail(*_):
        raise AssertionError("run again")

    monkeypatch.setattr(comparing._Life, "__call__", fail)
    second, files = compare_in_threads(makers)
    assert files == 0
    for name in makers:
        assert same_bits(first[name], second[name])
    # some of them, under other names and in another order, are the same runs
    third, files = compare_in_threads({"again": partial(st.SUCBVI, delta=0.005)}, seeds=[2, 0])
    assert files == 0
    assert (third["again"].reward == first["SUCBVI"].reward[[2, 0]]).all()
    with pytest.raises(RuntimeError, match="SUCBVI, seed 3: AssertionError: run again"):
        compare_in_threads(makers, seeds=[3])


class Own(st.SafeMDP):
    """Somebody's own world."""


def test_anything_that_matters_means_a_new_run(compare_in_threads, monkeypatch):
    mdp = st.instances.ice_corridor()
    one = {"one": st.SUCBVI}
    assert compare_in_threads(one)[1] == 3
    assert compare_in_threads(one)[1] == 0
    assert compare_in_threads(one, seeds=range(5))[1] == 2
    for change in ({"noise": 0.5}, {"episodes": 31}):
        assert compare_in_threads(one, **change)[1] == 3
    settings = ({"bonus_scale": 0.5}, {"delta": 0.1}, {"recursion": "paper"})
    for setting in settings:
        assert compare_in_threads({"one": partial(st.SUCBVI, **setting)})[1] == 3
    assert compare_in_threads({"one": st.UCBVI})[1] == 3
    P, r, c = mdp.P[0].copy(), mdp.r[0].copy(), mdp.c.copy()
    ice = np.flatnonzero((P > 0).sum(axis=2).max(axis=1) > 1)[0]
    P[ice] = P[ice][[1, 0, 3, 2]]
    r[0, 0], c[0] = 0.25, 0.25
    worlds = [
        st.SafeMDP(P, mdp.r[0], mdp.c, 0.5, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], r, mdp.c, 0.5, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], c, 0.5, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.4, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.5, 9, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.5, 10, mdp.s1 - 1),
    ]
    for world in worlds:
        assert compare_in_threads(one, world)[1] == 3
    same = st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.5, 10, mdp.s1)  # but for the names of states
    assert compare_in_threads(one, same)[1] == 0
    own = Own(mdp.P[0], mdp.r[0], mdp.c, 0.5, 10, mdp.s1)  # what its class does nobody knows
    assert compare_in_threads(one, own)[1] == 3
    assert compare_in_threads(one, own)[1] == 0
    for home in (np.zeros((10, mdp.S), int), np.ones((10, mdp.S), int)):
        cost = st.evaluate(mdp, home).cost
        pess = partial(st.OptPess, safe_policy=home, safe_cost=cost, budget=9.0)
        assert compare_in_threads({"one": pess})[1] == 3
        assert compare_in_threads({"one": pess})[1] == 0
    monkeypatch.setattr(keying, "_SEEN", {})
    monkeypatch.setattr(keying, "digest_with_own", lambda _roots: ("another library", set()))
    assert compare_in_threads(one)[1] == 3


def test_a_learner_that_nobody_uses_makes_no_run_stale():
    """What a run depends on is what its own code imports."""
    files = files_of(Path(playing.__file__), Path(inspect.getfile(st.UCBVI)))
    names = {file.relative_to(Path(st.__file__).parent).as_posix() for file in files}
    assert {"kernels.py", "worlds/mdp.py", "planning/induction.py", "running/playing.py"} <= names
    assert {"learners/ucbvi.py", "learners/sucbvi.py", "learners/model.py"} <= names
    assert not {"learners/triple_q.py", "learners/strawmen.py", "figures/grid.py"} & names


def test_a_file_that_is_damaged_is_named_and_made_again(compare_in_threads, tmp_path):
    makers = {"SUCBVI": st.SUCBVI}
    whole = compare_in_threads(makers)[0]
    bad = sorted(tmp_path.iterdir())[1]
    bad.write_bytes(bad.read_bytes()[:100])
    half = tmp_path / f"{bad.stem}.part"  # and somebody died while he made it again
    half.write_bytes(b"half")
    with (
        pytest.warns(UserWarning, match=f"{bad.name} cannot be read and is made again"),
        ThreadPoolExecutor(2) as pool,
    ):
        results = st.compare(
            makers, st.instances.ice_corridor(), 30, range(3),
            folder=tmp_path, executor=pool, progress=False,
        )  # fmt: skip
    assert same_bits(results["SUCBVI"], whole["SUCBVI"])
    assert len([*tmp_path.iterdir()]) == 3 and not half.exists()
    assert same_bits(compare_in_threads(makers)[0]["SUCBVI"], whole["SUCBVI"])


def test_nothing_to_run_is_an_error():
    mdp = st.instances.ice_corridor()
    for makers, seeds in (({}, [0]), ({"SUCBVI": st.SUCBVI}, [])):
        with pytest.raises(ValueError, match=r"^nothing to run: learners and seeds need at least"):
            st.compare(makers, mdp, 10, seeds=seeds)


@pytest.mark.parametrize("seeds", [[0, 1.7], [1, 2, 1], [True], [-1], ["1"], [np.float64(2)]])
def test_seeds_are_different_whole_numbers(compare_in_threads, tmp_path, seeds):
    message = r"^seeds(\[\d\] is .*; (expected a whole|it must be at least 0)| has 1 twice)"
    with pytest.raises((TypeError, ValueError), match=message):
        compare_in_threads({"SUCBVI": st.SUCBVI}, seeds=seeds)
    assert not [*tmp_path.iterdir()]
    one, _ = compare_in_threads({"UCBVI": st.UCBVI}, seeds=np.arange(2))
    assert one["UCBVI"].reward.shape == (2, 30)


def test_a_bad_setting_is_an_error_before_anything_runs(compare_in_threads, tmp_path):
    with pytest.raises(ValueError, match=r"^episodes is 0; it must be at least 1"):
        compare_in_threads({"SUCBVI": st.SUCBVI}, episodes=0)
    assert not [*tmp_path.iterdir()]


def test_the_progress_bar_is_shown_on_stderr_when_asked(capsys, tmp_path):
    mdp, how = st.instances.ice_corridor(), {"seeds": range(4), "folder": tmp_path}
    with ThreadPoolExecutor(1) as pool:
        st.compare({"SUCBVI": st.SUCBVI}, mdp, 20, executor=pool, progress=False, **how)
        silent = capsys.readouterr()
        assert silent.out == silent.err == ""
        both = {"SUCBVI": st.SUCBVI, "UCBVI": st.UCBVI}
        st.compare(both, mdp, 20, executor=pool, **how)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "runs:  50%" in shown.err and "4/8" in shown.err  # those that were found count
    assert "runs: 100%" in shown.err and "8/8" in shown.err


# ---- what goes wrong ---------------------------------------------------------------------------


def test_a_mistake_in_one_learner_is_shown_and_what_was_finished_is_kept(tmp_path):
    mdp, makers = st.instances.ice_corridor(), {"SUCBVI": st.SUCBVI, "Clumsy": Clumsy}
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError) as caught:
        st.compare(makers, mdp, 20, range(3), folder=tmp_path, executor=pool, progress=False)
    assert str(caught.value).splitlines() == [
        "3 of 6 runs failed; the others are finished and kept:",
        *(
            f"  Clumsy, seed {n}: ZeroDivisionError: a mistake in the learner "
            f"(Clumsy, seed {n}, after 1 episodes)"
            for n in range(3)
        ),
    ]
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len([*tmp_path.glob("SUCBVI-*.npz")]) == 3
    assert not [*tmp_path.glob("*.part")]


@pytest.mark.thorough  # test_jobs has the same without learners
def test_a_process_that_dies_is_replaced_and_the_others_are_finished(tmp_path):
    mdp, makers = st.instances.ice_corridor(), {"SUCBVI": st.SUCBVI, "Mortal": Mortal}
    how = {"episodes": 20, "seeds": range(3), "folder": tmp_path, "progress": False}
    with pytest.raises(
        RuntimeError, match=r"^3 of 6 runs failed; the others are finished and"
    ) as e:
        st.compare(makers, mdp, **how)
    assert str(e.value).count("the process that was at it died without a word, twice") == 3
    times = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(times) == 3
    results = st.compare({"SUCBVI": st.SUCBVI}, mdp, **how)
    assert all(file.stat().st_mtime_ns == then for file, then in times.items())
    check_against(results, serial({"SUCBVI": st.SUCBVI}, mdp, 20, range(3)))


@pytest.mark.thorough
def test_somebodys_executor_that_dies_is_a_clear_error_and_finished_runs_are_kept(tmp_path):
    mdp, makers = st.instances.ice_corridor(), {"SUCBVI": st.SUCBVI, "Mortal": Mortal}
    how = {"episodes": 20, "seeds": range(3), "folder": tmp_path, "progress": False}
    message = r"^the executor died with (\d) of 6 runs unfinished; .* the same call again to go on"
    pool = ProcessPoolExecutor(1, get_context("spawn"))
    with pool, pytest.raises(RuntimeError, match=message) as caught:
        st.compare(makers, mdp, executor=pool, **how)
    kept = [*tmp_path.iterdir()]
    assert int(re.match(message, str(caught.value))[1]) == 6 - len(kept)
    # one process takes them in turn; of those behind the mortal one nobody knows
    assert len([*tmp_path.glob("SUCBVI-*.npz")]) == len(kept) >= 1
    check_against(
        st.compare({"SUCBVI": st.SUCBVI}, mdp, **how),
        serial({"SUCBVI": st.SUCBVI}, mdp, 20, range(3)),
    )


def test_an_executor_that_dies_while_runs_are_handed_over_loses_none_that_is_finished(tmp_path):
    mdp, makers = st.instances.ice_corridor(), {"SUCBVI": st.SUCBVI}
    how = {"episodes": 20, "seeds": range(5), "folder": tmp_path, "progress": False}
    message = "^the executor died with 3 of 5 runs unfinished; runs that were finished are kept"
    with pytest.raises(RuntimeError, match=message):
        st.compare(makers, mdp, executor=ShortLived(2), **how)
    assert len([*tmp_path.glob("*.npz")]) == 2
    executor = ShortLived(3)  # enough for the rest
    st.compare(makers, mdp, executor=executor, **how)
    assert executor.runs == 0


def test_a_learner_with_other_code_is_another_learner(tmp_path):
    mdp, names = st.instances.union_counterexample(), set()
    for rule in ("0", "1"):
        (tmp_path / f"own{rule}.py").write_text(
            "import safeteach as st\n\n\nclass Mine(st.SUCBVI):\n"
            f"    def plan(self, rng):\n        return 0 * super().plan(rng) + {rule}\n"
        )
        spec = importlib.util.spec_from_file_location(f"own{rule}", tmp_path / f"own{rule}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        how = {"folder": tmp_path, "executor": ThreadPoolExecutor(1), "progress": False}
        results = st.compare({"mine": module.Mine}, mdp, 5, range(1), **how)
        assert len(set(results["mine"].reward[0])) == 1
        names |= {file.name for file in tmp_path.glob("Mine-*.npz")}
    assert len(names) == 2


def test_a_learner_that_nobody_could_tell_from_another_is_not_kept(tmp_path, capsys):
    space = {}
    exec("import safeteach as st\nclass Mine(st.SUCBVI): pass", {"__name__": "nowhere"}, space)
    mdp = st.instances.union_counterexample()
    makers = {
        "mine": space["Mine"],
        "rule": lambda known, episodes: st.UCBVI(known, episodes=episodes),
    }
    with ThreadPoolExecutor(1) as pool:
        how = {"episodes": 5, "seeds": [0], "folder": tmp_path, "executor": pool}
        st.compare(makers, mdp, progress=False, **how)
        assert capsys.readouterr().err == "" and not [*tmp_path.iterdir()]
        st.compare(makers, mdp, **how)
        said = capsys.readouterr().err
        assert "mine is not kept unless it has a version: Mine cannot be imported from a f" in said
        assert "rule is not kept unless it has a version: test_a_learner_that_nobody_coul" in said
        assert not [*tmp_path.iterdir()]
        for version in ("1", "2"):
            st.compare(makers, mdp, version=version, **how)
            kept = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
            assert len(kept) == 2 * int(version)
            st.compare(makers, mdp, version=version, **how)
            assert kept == {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
        assert "not kept" not in capsys.readouterr().err


def test_with_a_version_two_of_the_same_name_are_told_apart_by_what_they_are_called(tmp_path):
    def always(action):
        class Mine(st.UCBVI):
            def plan(self, rng):
                return 0 * super().plan(rng) + action

        return Mine

    mdp, makers = st.instances.ice_corridor(), {"left": always(0), "right": always(3)}
    with ThreadPoolExecutor(1) as pool:
        how = {"episodes": 50, "seeds": [0], "executor": pool, "progress": False}
        first = st.compare(makers, mdp, folder=tmp_path, version="1", **how)
        again = st.compare(makers, mdp, folder=tmp_path, version="1", **how)
    assert len([*tmp_path.iterdir()]) == 2
    assert not same_bits(first["left"], first["right"])
    for name in makers:
        assert same_bits(first[name], again[name])


class Rounding(st.UCBVI):
    """A learner that keeps less of a setting than it uses."""

    def __init__(self, known, *, episodes, bonus_scale=1.0, **more):
        super().__init__(known, episodes=episodes, bonus_scale=bonus_scale)
        self.bonus_scale, self.many = round(bonus_scale), len(more)


def test_what_a_learner_is_made_with_counts_though_it_does_not_keep_it(compare_in_threads):
    for given in ({}, {"bonus_scale": 0.9}, {"bonus_scale": 0.8}, {"more": 1}, {"more": [1]}):
        assert compare_in_threads({"one": partial(Rounding, **given)})[1] == 3
        assert compare_in_threads({"one": partial(Rounding, **given)})[1] == 0


SCRIPT = """
import sys
import safeteach as st

class Mine(st.UCBVI):
    def observe(self, episode):
        with open(sys.argv[2], "a") as file:
            file.write("x")
        super().observe(episode)

if __name__ == "__main__":
    mdp = st.instances.union_counterexample()
    st.compare({"mine": Mine}, mdp, 5, range(2), folder=sys.argv[1], progress=False)
"""


@pytest.mark.thorough  # three processes; what a key depends on is in test_keying too
def test_a_class_of_a_script_is_kept_until_the_script_is_edited(tmp_path):
    script, told = tmp_path / "script.py", tmp_path / "observed"
    for text, observed in ((SCRIPT, 10), (SCRIPT, 10), (SCRIPT + "# edited", 20)):
        script.write_text(text)
        subprocess.run([sys.executable, script, tmp_path / "kept", told], check=True)
        assert len(told.read_text()) == observed


# ---- games and exploration -------------------------------------------------------------------


def test_learners_of_a_game_meet_an_adversary(compare_in_threads):
    game = st.instances.penny_bridge()
    makers = {"SafeNashVI": st.SafeNashVI, "NashVI": partial(st.NashVI, bonus_scale=0.1)}
    for adversary in ("uniform", "hazard seeker", against):
        results, files = compare_in_threads(makers, game, adversary=adversary)
        assert files == 6
        for name, make in makers.items():
            for i, seed in enumerate(range(3)):
                learner = make(game.known, episodes=30)
                history = st.run(learner, game, seed, adversary=adversary)
                one = playing.History(*(getattr(results[name], part)[i] for part in PARTS))
                assert same_bits(one, history)
        assert compare_in_threads(makers, game, adversary=adversary)[1] == 0
    assert compare_in_threads(makers, game, adversary=lambda *_: against(*_))[1] == 0
    assert compare_in_threads(makers, game, adversary=partial(against, action=1))[1] == 6


def against(game, _mu, _nu, action=0):
    """An adversary that always does the same."""
    return np.broadcast_to(np.eye(game.B)[action], (game.H, game.S, game.B)).copy()


def test_learners_that_explore_have_a_list_of_explorations(compare_in_threads):
    mdp = st.instances.ice_corridor()
    makers = {"SRF-UCRL": partial(st.SRFUCRL, bonus_scale=0.01), "RF-UCRL": st.RFUCRL}
    for watch in (None, mdp.r, mdp.r[0] / 2):
        results, files = compare_in_threads(makers, mdp, watch=watch)
        assert files == 6
        again, files = compare_in_threads(makers, mdp, watch=watch)
        assert files == 0
        for name, make in makers.items():
            for seed in range(3):
                alone = st.explore(make(mdp.known), mdp, 30, seed, watch=watch)
                for found in (results[name][seed], again[name][seed]):
                    assert (found.episodes, found.finished) == (alone.episodes, alone.finished)
                    assert found.width.tobytes() == alone.width.tobytes()
                    assert found.violation.tobytes() == alone.violation.tobytes()
                    assert (found.planned is None) == (alone.planned is None) == (watch is None)
                    if watch is not None:
                        assert found.planned.tobytes() == alone.planned.tobytes()
    mixed, _ = compare_in_threads(makers | {"UCBVI": st.UCBVI}, mdp, watch=mdp.r)
    assert mixed["UCBVI"].reward.shape == (3, 30) and len(mixed["RF-UCRL"]) == 3


def test_explorations_may_end_at_different_times(compare_in_threads):
    make = partial(st.SRFUCRL, epsilon=8.0, bonus_scale=1e-3)
    runs = compare_in_threads({"short": make}, episodes=5_000)[0]["short"]
    assert all(run.finished and run.episodes < 5_000 for run in runs)
    assert len({run.episodes for run in runs}) > 1


@pytest.mark.parametrize(
    ("world", "make", "how", "problem"),
    [
        ("penny_bridge", "SafeNashVI", {}, "an adversary is needed in a game, and there alone"),
        ("ice_corridor", "UCBVI", {"adversary": "uniform"}, "an adversary is needed in a game"),
        ("ice_corridor", "UCBVI", {"watch": np.ones((3, 3))}, "there is nothing to watch"),
        ("ice_corridor", "SRFUCRL", {"episodes": 0}, "episodes is 0; it must be at least 1"),
    ],
)
def test_what_does_not_fit_the_world_is_an_error_before_anything_runs(
    compare_in_threads, tmp_path, world, make, how, problem
):
    with pytest.raises(ValueError, match=problem):
        compare_in_threads({"one": getattr(st, make)}, getattr(st.instances, world)(), **how)
    assert not [*tmp_path.iterdir()]
