"""What the playground's modules do beside agreeing with the library: links, edits, luck, weight."""

import gzip
import math
import re

import numpy as np
import playground
import pytest

import safeteach as st

POND = {"rows": [".....", ".~~~.", "S~X~G", ".~X~.", "....."], "H": 12, "slip": 0.2, "tau": 0.5}


def link(**changed):
    told = {"map": ",".join(POND["rows"]), "H": 12, "slip": 0.2, "tau": 0.5} | changed
    return "&".join(f"{name}={value}" for name, value in told.items() if value is not None)


def test_a_link_is_read(ask):
    (said,) = ask(("link", link()))
    assert said == {"wrong": "", "found": POND}
    (said,) = ask(("link", link(map="SWG,%7E%7E.")))
    assert said["found"]["rows"] == ["S#G", "~~."]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"map": None}, "A row of a map has 1 to 12 cells."),
        ({"map": "S" + "." * 12}, "A row of a map has 1 to 12 cells."),
        ({"map": ",".join(["S", *"." * 12])}, "A map has 1 to 12 rows."),
        ({"map": "S.,..."}, "The rows of a map have the same length."),
        ({"map": "S<img src=x onerror=x"}, "A row of a map has 1 to 12 cells."),
        ({"map": "S<script>"}, "A cell of a map is one of"),
        ({"map": "..,.."}, "A map needs a start, S."),
        ({"map": "SS"}, "A map has one start only."),
        ({"map": "S__proto__"}, "A cell of a map is one of"),
        ({"H": 0}, "The number of steps, H, is a whole number from 1 to 60."),
        ({"H": 61}, "The number of steps, H,"),
        ({"H": 2.5}, "The number of steps, H,"),
        ({"H": "1e9"}, "The number of steps, H,"),
        ({"H": None}, "The number of steps, H,"),
        ({"slip": 0}, "The chance of a slip is a number from 0.01 to 1."),
        ({"slip": 1.01}, "The chance of a slip"),
        ({"slip": "-0.2"}, "The chance of a slip"),
        ({"tau": 1}, "The threshold τ is a number from 0 to 0.99."),
        ({"tau": "NaN"}, "The threshold τ"),
        ({"tau": ""}, "The threshold τ"),
    ],
)
def test_a_broken_link_is_a_sentence(ask, changed, sentence):
    (said,) = ask(("link", link(**changed)))
    assert said["wrong"].startswith(sentence)


def test_painting_changes_one_cell_and_keeps_one_start(ask):
    rows = ["S.", "~G"]
    edits = [(0, 1, "X"), (1, 0, "S"), (0, 0, "X"), (1, 1, "G")]
    said = ask(*(("painted", {"rows": rows, "i": i, "j": j, "kind": k}) for i, j, k in edits))
    assert said == [["SX", "~G"], ["..", "SG"], rows, rows]


def test_a_map_grows_at_the_bottom_and_on_the_right_and_never_loses_its_start(ask):
    rows = ["..", ".S"]
    sizes = [(3, 3), (1, 2), (1, 1), (2, 1)]
    said = ask(*(("resized", {"rows": rows, "height": h, "width": w}) for h, w in sizes))
    assert said == [["...", ".S.", "..."], ["S."], ["S"], ["S", "."]]


def test_the_presets_are_what_their_names_say(ask):
    (presets,) = ask(("presets", None))
    worlds = {
        key: st.instances.grid_from_map("\n".join(p["rows"]), p["H"], p["slip"], p["tau"])
        for key, p in presets.items()
    }
    assert worlds["pond"] == st.instances.grid()
    assert worlds["corridor"] == st.instances.ice_corridor()
    assert presets["frozenLake"]["rows"] == ["S~~~", "~X~X", "~~~X", "X~~G"]  # Gymnasium's 4x4
    feasible = {key: st.is_feasible(world) for key, world in worlds.items()}
    assert [key for key, safely in feasible.items() if not safely] == ["island"]
    (falls,) = ask(("falls", {"told": presets["bay"], "seed": 1, "n": 400}))
    assert falls[1] > 40, "one step ahead is enough in the bay"
    assert falls[2] == 0


def test_luck_is_even_and_the_same_for_the_same_seed(ask):
    n, chances = 20_000, [0.1, 0, 0.6, 0.3]
    question = ("random", {"seed": 7, "n": n, "chances": chances})
    said, again, other = ask(question, question, ("random", {**question[1], "seed": 8}))
    assert said == again
    assert said["uniform"] != other["uniform"]
    uniform, normal = np.array(said["uniform"]), np.array(said["normal"])
    assert uniform.min() >= 0 and uniform.max() < 1
    # Kolmogorov and Smirnov: an even sample is farther off than this once in 10^9.
    far = math.sqrt(math.log(2e9) / (2 * n))
    steps = np.arange(1, n + 1) / n
    assert np.abs(np.sort(uniform) - steps).max() < far
    cdf = np.array([(1 + math.erf(x / math.sqrt(2))) / 2 for x in np.sort(normal)])
    assert np.abs(cdf - steps).max() < far
    assert np.abs(np.corrcoef(uniform[:-1], uniform[1:])[0, 1]) < 6 / math.sqrt(n)
    counts = np.bincount(said["drawn"], minlength=4)
    assert counts[1] == 0
    assert np.abs(counts / n - chances).max() < far


def test_walkers_fall_as_often_as_the_library_says(ask):
    mdp = st.instances.grid_from_map("\n".join(POND["rows"]), POND["H"], POND["slip"], POND["tau"])
    n = 20_000
    (falls,) = ask(("falls", {"told": POND, "seed": 3, "n": n}))
    exact = st.evaluate(mdp, st.optimal(mdp).policy).unsafe_probability
    assert 0.1 < exact < 0.99, "they could not fall, or not stay dry"
    assert abs(falls[0] / n - exact) < math.sqrt(math.log(2e9) / (2 * n))
    assert falls[2] == 0


def test_left_alone_sucbvi_all_but_stops_falling_and_ucbvi_does_not(ask):
    settings = {"episodes": 4000, "bonusScale": 0.01, "delta": 0.005}
    said = ask(
        *(("training", {"told": POND, "settings": {**settings, "flags": flags}, "seed": 5})
          for flags in (True, False))
    )  # fmt: skip
    careful, careless = (np.diff(run["violations"], prepend=0) for run in said)
    assert careful[:1000].sum() > 20, "it never was in the water: nothing was learned"
    assert careless[-1000:].mean() > 0.2
    assert careful[-1000:].mean() < careless[-1000:].mean() / 50
    assert sum(said[0]["U"]) > 0 and sum(said[1]["U"]) == 0
    best = st.safe_optimal(st.instances.grid()).value
    earned = (said[0]["rewards"][-1] - said[0]["rewards"][-501]) / 500
    assert best / 2 < earned <= best


def test_every_file_of_the_folder_is_part_of_the_script():
    files = {path.stem for path in playground.SOURCES.glob("*.js")}
    assert files == set(playground.SCRIPTS)
    assert set(playground.TOOLS) < files


def test_it_is_light():
    """Script and style weigh what they may, with room for pictures: there are none."""
    assert len(gzip.compress((playground.script() + playground.style()).encode())) < 60_000


def test_nothing_in_it_asks_another_host_or_runs_what_it_is_told():
    text = playground.alone()
    addresses = set(re.findall(r"https?://[^\"'\s)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, which nobody asks for
    assert not re.search(r"\b(innerHTML|insertAdjacentHTML|document\.write|eval)\b", text)
