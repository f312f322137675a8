"""Speed, printed and never asserted: run it with ``make bench``.

Every peer is timed in the same run on the same world, so read the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from playwright.sync_api import sync_playwright

import safeteach as st
from safeteach.chapters import costs_thresholds_violation as costs
from safeteach.chapters import danger_ahead as danger
from safeteach.widgets import static_page

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / name) for name in ("book/_tools", "tests", "tests/site")]

import browser  # noqa: E402, from the folders of the line before
import playground  # noqa: E402
from benchmarks import by_hand  # noqa: E402
from benchmarks.dense_loop import dense_ucbvi  # noqa: E402
from benchmarks.random_ponds import random_pond  # noqa: E402
from benchmarks.valleys import valleys  # noqa: E402
from moving import walks  # noqa: E402
from oracles.linear_programs import lp_value, occupancy_lp  # noqa: E402
from oracles.storm import minimal_risk, storm_model  # noqa: E402


def seconds(
    work: Callable[[], Any], repeats: int = 1, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The least time of a few runs."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def long_lane(S: int, A: int = 4, H: int = 50) -> st.SafeMDP:
    """A ring of states: action a may stay, go one state either way, or 2 + a states on.

    Danger spreads from twenty hazards by a state each way at every step and is still spreading
    after 50, so that no set repeats and the stationary shortcut never applies.
    """
    ahead = np.array([[-1, 0, 1, 2 + a] for a in range(A)])
    towards = np.sort((np.arange(S)[:, None, None] + ahead) % S, axis=2)
    n = towards.size
    P = sp.csr_array((np.full(n, 1 / 4), towards.ravel(), np.arange(0, n + 1, 4)), (S * A, S))
    c = np.zeros(S)
    c[:: S // 20] = 1.0
    return st.SafeMDP(P, np.zeros((S, A)), c, tau=0.5, H=H)


def bench_potentially_unsafe() -> None:
    print("potentially_unsafe: 4 actions, 4 successors, H = 50; Storm answers one h a question,")
    print("so the ratio is its time for U_1 .. U_H over ours for the same (model building apart)")
    print(
        f"{'states':>10} {'nnz':>12} {'seconds':>8} {'ns/(H nnz)':>11} {'Storm U_1':>10} "
        f"{'Storm all':>10} {'ratio':>6} {'peak GB':>8}"
    )
    for S in (10**4, 10**5, 10**6):
        mdp = long_lane(S)
        nnz = len(mdp.rows(1).successors)
        U = st.potentially_unsafe(mdp)
        assert U[0].sum() > U[1].sum(), "the sets must still grow at the first step"
        ours = seconds(lambda mdp=mdp: st.potentially_unsafe(mdp), repeats=3)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        model = storm_model(mdp)
        assert ((minimal_risk(model, mdp.H - 1) > 0) == U[0]).all()
        first = seconds(lambda model=model, k=mdp.H - 1: minimal_risk(model, k))
        every = seconds(lambda model=model, H=mdp.H: [minimal_risk(model, k) for k in range(H)])
        print(
            f"{S:>10,} {nnz:>12,} {ours:8.3f} {ours / (mdp.H * nnz) * 1e9:11.2f} {first:10.3f} "
            f"{every:10.3f} {every / ours:5.1f}x {peak:8.2f}",
            flush=True,
        )


def bench_doomed_until() -> None:
    print("doomed_until: a million states, 4 actions, 4 successors, processor time; Storm is asked")
    print("for U_1 at H = 50 alone.  With danger in one ring of eight, and in every other one")
    for every in (8, 2):
        worlds = {H: valleys(10**6, H, every) for H in (50, 500)}
        model = storm_model(worlds[50])
        until = {H: st.doomed_until(world) for H, world in worlds.items()}
        assert ((minimal_risk(model, 49) > 0) == (until[50] > 0)).all()
        times = in_turns(
            ROUNDS,
            storm=lambda model=model: processor_time(lambda: minimal_risk(model, 49)),
            short=lambda world=worlds[50]: processor_time(lambda: st.doomed_until(world)),
            long=lambda world=worlds[500]: processor_time(lambda: st.doomed_until(world)),
        )
        print(
            f"H = 50: {np.mean(until[50] > 0):.0%} doomed; H = 500: {np.mean(until[500] > 0):.0%}, "
            f"the last {500 - until[500][until[500] > 0].min()} steps from danger"
        )
        print_times("H = 50 over Storm's U_1", times["short"], times["storm"])
        print_times("H = 500 over H = 50", times["long"], times["short"])


def bench_large_plans() -> None:
    print("a million states, 4 actions, 4 successors, H = 50: processor time, over that of what is")
    print("written by hand with scipy.sparse")
    mdp = valleys(10**6, H=50)
    P = by_hand.matrix(mdp)
    plan, (V, policy) = st.safe_optimal(mdp), by_hand.safe_optimal(mdp, P)
    assert np.allclose(plan.V, V, rtol=0, atol=1e-9) and (plan.policy != policy).mean() < 1e-6
    found = st.evaluate(mdp, policy)
    assert np.allclose(astuple(found), by_hand.evaluate(mdp, P, policy), rtol=0, atol=1e-9)
    del plan, V
    times = in_turns(
        ROUNDS,
        plan=lambda: processor_time(lambda: st.safe_optimal(mdp)),
        plan_by_hand=lambda: processor_time(lambda: by_hand.safe_optimal(mdp, P)),
        worth=lambda: processor_time(lambda: st.evaluate(mdp, policy)),
        worth_by_hand=lambda: processor_time(lambda: by_hand.evaluate(mdp, P, policy)),
    )
    print_times("safe_optimal", times["plan"], times["plan_by_hand"])
    print_times("evaluate", times["worth"], times["worth_by_hand"])
    # Linux's own peak, which can be reset; what is compiled is loaded before.
    code = """if True:
        import pathlib, re
        import safeteach as st
        from benchmarks.valleys import valleys

        def status(entry):
            told = pathlib.Path("/proc/self/status").read_text()
            return int(re.search(entry + ":\\s+(\\d+)", told)[1]) / 2**20

        def above(work):
            pathlib.Path("/proc/self/clear_refs").write_text("5")
            before = status("VmRSS")
            result = work()
            return result, f"{status('VmHWM') - before:.2f} GB"

        small, mdp = valleys(20_000, H=50), valleys(10**6, H=50)
        st.evaluate(small, st.safe_optimal(small).policy)
        plan, planning = above(lambda: st.safe_optimal(mdp))
        print(planning, "and", above(lambda: st.evaluate(mdp, plan.policy))[1])
    """
    told = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT / "tests", text=True)
    print(f"peak memory above the world, and the policy that evaluate is given: {told.strip()}",
          flush=True)  # fmt: skip


def processor_time(work: Callable[[], Any]) -> float:
    """Seconds of processor time of one run."""
    return seconds(work, clock=time.process_time)


def print_times(name: str, ours: list[float], theirs: list[float]) -> None:
    """Medians over the rounds, and the median, least and largest ratio in a round."""
    ratios = [x / y for x, y in zip(ours, theirs, strict=True)]
    print(
        f"  {name:24} {statistics.median(ours):8.3f} s {statistics.median(theirs):8.3f} s "
        f"{statistics.median(ratios):6.2f}x "
        f"({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds)",
        flush=True,
    )


def bench_import() -> None:
    code = "import time; t = time.perf_counter(); import safeteach; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    print(f"import safeteach, warm: {min(times):.3f} s (of which numpy is most)", flush=True)


def bench_book() -> None:
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        files = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
        for name in files:
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
        for label in ("cold (environment, pages and all)", "warm (nothing changed)"):
            took = seconds(
                lambda: subprocess.run(["make", "book"], cwd=clone, check=True, capture_output=True)
            )
            print(f"make book, {label}: {took:.1f} s", flush=True)


WIDGETS = {
    "threshold, smoke": lambda: costs.controls.threshold(st.instances.smoke()),
    "spread, ice corridor": lambda: danger.controls.spread(st.instances.ice_corridor()),
    "spread, counterexample": lambda: danger.controls.spread(st.instances.union_counterexample()),
    "doom, ice corridor": lambda: danger.controls.doom(st.instances.ice_corridor()),
    "doom, counterexample": lambda: danger.controls.doom(st.instances.union_counterexample()),
}


def print_moves(name: str, milliseconds: list[float]) -> None:
    print(
        f"{name:24} {statistics.median(milliseconds):10.0f} {max(milliseconds):8.0f} "
        f"{len(milliseconds):6}",
        flush=True,
    )


def bench_live_controls() -> None:
    print("a move of a live control, on the kernel's side: draw, compress, hand over")
    print(f"{'figure':24} {'median ms':>10} {'longest':>8} {'moves':>6}")
    for name, make in WIDGETS.items():
        *inputs, _shown = make().live().children
        times = []
        for setting in itertools.product(*([v for _, v in one.options] for one in inputs)):
            for one, value in zip(inputs, setting, strict=True):
                if one.value != value:
                    times.append(1e3 * seconds(lambda one=one, v=value: setattr(one, "value", v)))
        print_moves(name, times)


def bench_static_controls() -> None:
    path = browser.find()
    if path is None:
        print("a move of a static control: NO BROWSER, not timed")
        return
    print("a move of a static control, from the key to the frame that shows the picture")
    print(f"{'figure':24} {'median ms':>10} {'longest':>8} {'moves':>6}")
    script = (ROOT / "book" / "_static" / "interactive.js").read_text("utf-8")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, make in WIDGETS.items():
            widget = make()
            html = static_page(widget.figure, widget.controls, widget.first)
            page = chromium.new_page()
            page.set_content(f"<script>{script}</script>{html}")
            print_moves(name, [ms for walk in walks(page) for ms in walk.milliseconds])
            page.close()
        chromium.close()


# Press every cell of the map with the brush for ice, then for ground; from the press to a page that
# is laid out anew.
STROKES = """() => {
    const times = []
    for (const brush of ['~', '.']) {
        document.querySelector(`.pg-brush input[value="${brush}"]`).click()
        for (const cell of document.querySelectorAll('.pg-map .pg-cell')) {
            const box = cell.getBoundingClientRect()
            const at = {
                bubbles: true, clientX: box.x + 5, clientY: box.y + 5,
                pointerId: 1, isPrimary: true,
            }
            const start = performance.now()
            cell.dispatchEvent(new PointerEvent('pointerdown', at))
            cell.dispatchEvent(new PointerEvent('pointerup', at))
            document.body.getBoundingClientRect()
            times.push(performance.now() - start)
        }
        const left = document.querySelectorAll('.pg-map [data-kind=ice]').length
        if ((brush === '~') !== (left > 100)) throw Error('nothing was painted')
    }
    return times
}"""
# Episodes a second of both learners, side by side, on the pond of 5 by 5 cells.
LEARNING = """episodes => {
    const {world, learner, walking, random, presets} = playground
    const pond = world.make(presets.pond)
    const runs = [true, false].map(flags => walking.training(
        pond, learner.make(pond, {episodes, bonusScale: 0.01, flags}), random(1),
    ))
    const start = performance.now()
    for (let k = 0; k < episodes; k += 1) runs.forEach(run => run.play())
    return 1000 * episodes / (performance.now() - start)
}"""


def bench_playground() -> None:
    path = browser.find()
    if path is None:
        print("the playground: NO BROWSER, not timed")
        return
    rows = ["S" + "." * 11, *["." * 12] * 10, "." * 11 + "X"]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "playground.html")
        file.write_text(playground.alone(), "utf-8")
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{file.as_uri()}#map={','.join(rows)}&H=60&slip=0.2&tau=0.5")
        print("the playground: a stroke on 12 by 12 cells, H = 60, to the page laid out anew")
        print(f"{'':24} {'median ms':>10} {'longest':>8} {'moves':>6}")
        print_moves("stroke", page.evaluate(STROKES))
        rate = page.evaluate(LEARNING, 20_000)
        print(
            f"SUCBVI and UCBVI side by side on the pond: {rate:,.0f} episodes a second", flush=True
        )
        chromium.close()


def bench_constrained() -> None:
    print("constrained_optimal: S = 25, A = 4, H = 10, against scipy's linprog on the same budgets")
    ours = peer = 0.0
    for seed in range(5):
        mdp = st.instances.random_mdp(25, 4, 10, seed, unsafe=0.4)
        top = st.evaluate(mdp, st.optimal(mdp).policy).cost
        low = st.constrained_optimal(st.SafeMDP(mdp.P, 0 * mdp.r, mdp.c, mdp.tau, mdp.H), top).cost
        budget = (low + top) / 2
        ours += seconds(lambda mdp=mdp, b=budget: st.constrained_optimal(mdp, b), repeats=5)
        peer += seconds(lambda mdp=mdp, b=budget: occupancy_lp(mdp, b), repeats=2)
    print(f"{200 * ours:.1f} ms against {200 * peer:.1f} ms: {peer / ours:.0f}x", flush=True)


def bench_matrix_games() -> None:
    game = st.instances.random_game(25, 4, 4, 10, seed=0, successors=4)
    learner = st.SafeNashVI(game.known, episodes=2_000, bonus_scale=BONUS_SCALE)
    for k, _episode in st.play(learner, game, adversary="uniform"):
        if k == 1_000:  # most triples were tried
            break
    learner.transitions.reached[:] = True  # no game is left out, not even those of the first step
    ties = np.random.default_rng(0)
    ours = seconds(lambda: learner.plan(ties), repeats=50)
    matrices = learner.Q.reshape(-1, 4, 4)
    mixed = sum(M.min(axis=1).max() < M.max(axis=0).min() for M in matrices)
    theirs = seconds(lambda: [lp_value(M) for M in matrices], repeats=3)
    print("planning one episode of SafeNashVI, S = 25, A = B = 4, H = 10, against one call of")
    print(f"scipy's linprog for each of its {len(matrices)} matrix games ({mixed} need mixing)")
    print(f"{1e3 * ours:.2f} ms against {1e3 * theirs:.0f} ms: {theirs / ours:.0f}x", flush=True)


def peer_python() -> Path:
    """The Python of the peers, in an environment of their own that is made when first needed."""
    pins = ROOT / "tests" / "benchmarks" / "peers" / "requirements.txt"
    home = ROOT / "_build" / "peers"
    python, installed = home / "bin" / "python", home / "requirements.txt"
    if not installed.exists() or installed.read_text("utf-8") != pins.read_text("utf-8"):
        packages = pins.read_text("utf-8").count("==")
        print(f"Setting up _build/peers: {packages} pinned packages, a minute", flush=True)
        venv.create(home, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", pins], check=True)
        shutil.copy(pins, installed)  # the last act: without it the environment is not whole
    return python


def rlberry_rate(mdp: st.SafeMDP, episodes: int) -> float:
    """Episodes per second of rlberry's UCBVI in a stationary world."""
    script = ROOT / "tests" / "benchmarks" / "peers" / "rlberry_ucbvi.py"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "world.npz"
        np.savez(file, P=mdp.P[0], r=mdp.r[0], s1=mdp.s1, H=mdp.H, episodes=episodes)
        return float(subprocess.check_output([peer_python(), script, file], cwd=folder))


ROUNDS = 7
BONUS_SCALE = 0.01  # with the theorem's own constants nobody learns within these episodes


def learner_rate(make: Callable[..., Any], mdp: st.SafeMDP, episodes: int) -> float:
    """Episodes per second of a learner of ours, with its history and the exact regret."""
    learner = make(mdp.known, episodes=episodes, bonus_scale=BONUS_SCALE)
    return episodes / seconds(lambda: st.run(learner, mdp), clock=time.process_time)


def dense_rate(mdp: st.SafeMDP, episodes: int) -> float:
    """Episodes per second of the compiled loop that keeps nothing but counts."""
    work = functools.partial(dense_ucbvi, mdp, episodes, BONUS_SCALE)
    return episodes / seconds(work, clock=time.process_time)


def in_turns(rounds: int, **rates: Callable[[], float]) -> dict[str, list[float]]:
    """The rates of each, measured in turns, so that a busy machine slows them all alike."""
    found: dict[str, list[float]] = {name: [] for name in rates}
    for name, rate in itertools.chain.from_iterable(itertools.repeat(rates.items(), rounds)):
        found[name].append(rate())
    return found


def print_ratio(peer: str, ours: list[float], theirs: list[float]) -> None:
    """The median over the rounds of the ratio in a round, and the least and the largest."""
    ratios = [x / y for x, y in zip(ours, theirs, strict=True)]
    print(
        f"  {peer:24} {statistics.median(theirs):8,.0f} {statistics.median(ratios):8.2f}x "
        f"({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds)",
        flush=True,
    )


def bench_learners() -> None:
    small = st.instances.grid_from_map("\n".join(st.instances.grid().map), H=10)
    large = random_pond(20, H=25)
    peer_python()
    for make in (st.UCBVI, st.SUCBVI):  # compile
        learner_rate(make, small, 2)
    dense_rate(small, 2)

    print("episodes per second of processor time: st.run, with its history and exact regret, and")
    print("its peers, none of which uses more than one core")
    rates = in_turns(
        ROUNDS,
        ours=lambda: learner_rate(st.UCBVI, small, 20_000),
        rlberry=lambda: rlberry_rate(small, 2_000),
        dense=lambda: dense_rate(small, 20_000),
    )
    print(f"UCBVI, S = 25, A = 4, H = 10: {statistics.median(rates['ours']):,.0f}")
    print_ratio("rlberry 0.5.0's UCBVI", rates["ours"], rates["rlberry"])
    print_ratio("one dense compiled loop", rates["ours"], rates["dense"])
    rates = in_turns(
        ROUNDS,
        ours=lambda: learner_rate(st.SUCBVI, large, 3_000),
        rlberry=lambda: rlberry_rate(large, 50),
    )
    print(f"SUCBVI, S = {large.S}, A = 4, H = 25: {statistics.median(rates['ours']):,.0f}")
    print_ratio("rlberry 0.5.0's UCBVI", rates["ours"], rates["rlberry"])


def game_rate(adversary: str | None, episodes: int = 1_000) -> float:
    """Episodes per second of SafeNashVI on the deck; of its plans alone without an adversary."""
    game = st.instances.pursuit()
    learner = st.SafeNashVI(game.known, episodes=episodes, bonus_scale=3e-3)
    if adversary:
        return episodes / seconds(
            lambda: st.run(learner, game, adversary=adversary), clock=time.process_time
        )
    plans = 0.0
    for _ in st.play(learner, game, adversary="uniform"):
        again = functools.partial(learner.plan, np.random.default_rng(0))
        plans += seconds(again, clock=time.process_time)
    return episodes / plans


def bench_games() -> None:
    game_rate("uniform", 2), game_rate("best responder", 2)  # compile
    print("SafeNashVI on the deck, 1,000 episodes: microseconds of an episode, in all and of its")
    print("plan, and what playing it adds to the plan")
    rates = in_turns(
        3,
        plan=lambda: game_rate(None),
        uniform=lambda: game_rate("uniform"),
        best=lambda: game_rate("best responder"),
    )
    plan, uniform, best = (1e6 / statistics.median(rate) for rate in rates.values())
    print(f"{uniform:.0f} against uniform, {best:.0f} against a best responder, plan {plan:.0f}")
    print(f"a uniform adversary adds {uniform / plan - 1:.0%}", flush=True)


def bench_growth() -> None:
    print("H = 25, 5,000 episodes: processor time beside the number of seen successors")
    print("(h, s, a, t), which it should grow with, and H S² A, the size of a dense model; on")
    print("ponds, and last on a field of obstacles of 18 by 18 cells")
    print(
        f"{'learner':>7} {'states':>7} {'H S² A':>12} {'seen':>7} {'us/episode':>11} {'ns/seen':>8}"
    )
    ponds = [random_pond(side, H=25) for side in (5, 10, 20, 40, 50)]
    worlds = [*ponds, st.instances.obstacle_field()]
    for make, mdp in itertools.product((st.SUCBVI, st.UCBVI), worlds):
        learner = make(mdp.known, episodes=5_000, bonus_scale=BONUS_SCALE)
        st.run(learner, mdp)
        seen = int(learner.transitions.length.sum())
        each = 1 / statistics.median(learner_rate(make, mdp, 5_000) for _ in range(3))
        print(
            f"{make.__name__:>7} {mdp.S:>7,} {mdp.H * mdp.S**2 * mdp.A:>12,} {seen:>7,} "
            f"{1e6 * each:11.1f} {1e9 * each / seen:8.1f}",
            flush=True,
        )
    # Linux's own peak, which can be reset; that of getrusage may be the parent's.
    code = """if True:
        import pathlib, re
        import safeteach as st
        from benchmarks.random_ponds import random_pond

        def peak():
            status = pathlib.Path("/proc/self/status").read_text()
            return int(re.search("VmHWM:\\s+(\\d+)", status)[1]) // 1024

        mdp = random_pond(40, H=25)
        world = peak()
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        st.run(st.SUCBVI(mdp.known, episodes=5_000), mdp)
        print(f"{peak()} MB (making the world: {world} MB)")
    """
    told = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT / "tests", text=True)
    print(f"peak memory of a run of its own, S = 1,600, H = 25: {told.strip()}", flush=True)


def bench_figure1() -> None:
    source = ROOT / "book" / "studies"
    with tempfile.TemporaryDirectory() as folder:  # the command stores beside itself
        script = shutil.copytree(source, Path(folder) / source.relative_to(ROOT)) / "studies.py"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, script, "figure1"]
        took = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print("make figure1, with no run kept from before: 5 learners, 20,000 episodes, 10 seeds")
    print(f"{took:.1f} s on {os.cpu_count()} cores, {busy:.1f} s of processor time", flush=True)


PARTS: dict[str, Callable[[], None]] = {
    "import": bench_import,
    "unsafe": bench_potentially_unsafe,
    "doomed": bench_doomed_until,
    "large plans": bench_large_plans,
    "playground": bench_playground,
    "static controls": bench_static_controls,
    "live controls": bench_live_controls,
    "budget": bench_constrained,
    "matrix games": bench_matrix_games,
    "learners": bench_learners,
    "games": bench_games,
    "growth": bench_growth,
    "figure1": bench_figure1,
    "book": bench_book,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "parts",
        nargs="*",
        choices=[*PARTS, []],
        default=[],
        help="what to time; everything by default",
    )
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()
