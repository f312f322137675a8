"""A report: its numbers are the library's, its text is escaped, its file is whole or not there."""

import re
import subprocess
import sys

import numpy as np
import pytest
from bs4 import BeautifulSoup

import safeteach as st
from safeteach.reporting import judging, sections
from safeteach.reporting.saying import number

RISKY = st.instances.random_mdp(30, 3, 8, 4, successors=5, unsafe=0.4)
COLUMNS = ("state", "action", "next", "probability", "reward", "cost")
HEADINGS = [
    "1. The world",
    "2. The verdict",
    "3. Doomed states",
    "4. What the verdict hangs on",
    "5. What was assumed",
]


def imported(*rows, **named):
    return st.from_table([dict(zip(COLUMNS, row, strict=True)) for row in rows], **named)


LAKE = imported(
    ("shore", "walk", "shore", 1, -1, 0),
    ("shore", "swim", "shore", 0.9, 3, 0),
    ("shore", "swim", "deep", 0.1, 3, 0),
    ("deep", "sink", "deep", 1, -1, 1),
    H=5, tau=0.5,
)  # fmt: skip


def read(mdp, **named):
    return BeautifulSoup(st.report(mdp, **named).html, "html.parser")


def tables(page):
    """Each table by its caption: rows by their first cell, each a dict by its column."""
    found = {}
    for table in page.find_all("table"):
        columns = [cell.get_text() for cell in table.thead.find_all("th")]
        rows = [[c.get_text() for c in row.find_all(["th", "td"])] for row in table.tbody("tr")]
        found[table.caption.get_text()] = {
            row[0]: dict(zip(columns, row, strict=True)) for row in rows
        }
    return found


def values(page, column="Here"):
    rows = tables(page)["Values and risks, from the start"].items()
    return {row: cells[column] for row, cells in rows}


def text(page):
    return " ".join(page.get_text(" ").split())


def alts(page):
    return [image["alt"] for image in page.find_all("img")]


@pytest.mark.parametrize(
    "mdp",
    [st.instances.grid(), st.instances.union_counterexample(), RISKY, LAKE],
    ids=["grid", "step-dependent", "no safe policy", "table"],
)
def test_the_numbers_are_those_of_the_library(mdp):
    page, feasible = read(mdp), st.is_feasible(mdp)
    none = "there is no safe policy"
    safe, best = st.safe_optimal(mdp).value if feasible else None, st.optimal(mdp).value
    assert values(page) == {
        "Value of the best safe policy": number(safe) if feasible else none,
        "Value of the best policy, safe or not": number(best),
        "Price of safety, the difference of the two": number(best - safe) if feasible else none,
        "Probability that the best policy is ever unsafe": number(
            st.constrained_optimal(mdp, risk=1).risk
        ),
        "Least probability of ever being unsafe": number(st.least_risk(mdp).risk),
    }
    sizes = {row: cells["How much"] for row, cells in tables(page)["The world"].items()}
    assert sizes["States"] == str(mdp.S) and sizes["Steps of an episode, H"] == str(mdp.H)
    assert sizes["Unsafe states, whose cost is above τ"].startswith(f"{mdp.unsafe.sum()}: ")
    own = [row for table in tables(page).values() for row in table if "(this world)" in row]
    assert len(own) >= 2
    for table in tables(page).values():
        for row in table:
            if "(this world)" in row:
                assert table[row]["Safe policy"] == ("yes" if feasible else "no")
                assert table[row]["Best value"] == number(best)
                assert table[row]["Best safe value"] == (number(safe) if feasible else "none")


@pytest.mark.parametrize("mdp", [st.instances.grid(), st.instances.union_counterexample(), RISKY])
def test_the_doomed_are_listed_with_their_steps(mdp):
    U = st.potentially_unsafe(mdp)
    listed = tables(read(mdp))["Doomed and not unsafe"]
    names = [mdp.state_name(s) for s in np.flatnonzero(U.any(axis=0) & ~mdp.unsafe)]
    assert sorted(listed) == sorted(names)
    for name, row in listed.items():
        steps = {
            h
            for part in row["Doomed at steps"].split(", ")
            for h in range(int(part.split("–")[0]), int(part.split("–")[-1]) + 1)
        }
        assert steps == set(np.flatnonzero(U[:, mdp.state(name)]) + 1)


def test_those_that_are_met_first_stand_first_and_those_that_are_never_met_last():
    ways = [[3], [5], [5], [4], [5], [5]]  # 0, 3, 4, 5: doomed are all, and nobody comes to 1, 2
    mdp = st.SafeMDP(np.eye(6)[ways], np.zeros((6, 1)), np.arange(6) == 5, 0.5, H=9)
    listed = tables(read(mdp))["Doomed and not unsafe"]
    met = {name: row["First met while doomed, at step"] for name, row in listed.items()}
    assert [*met.items()] == [("0", "1"), ("3", "2"), ("4", "3"), ("1", "never"), ("2", "never")]


def test_a_difference_of_rounding_is_no_price():
    found = judging.Verdict(True, safe=1.0, best=1.0 + 1e-15, reckless=0.0, least=0.0)
    mdp = st.instances.grid()
    assert sections.price_of_safety(mdp, found) == 0
    assert sections.verdict_of(mdp, found).endswith("earns 1: safety costs nothing.")


def test_a_page_has_five_sections_in_their_order_and_the_pictures_that_belong_there():
    page = read(st.instances.grid(), title="The pond")
    assert page.html["lang"] == "en" and page.title.get_text() == "The pond"
    assert [heading.get_text() for heading in page.find_all("h1")] == ["The pond"]
    assert [heading.get_text() for heading in page.find_all("h2")] == HEADINGS
    assert alts(page)[0] == st.figures.grid(st.instances.grid()).alt
    why = [st.figures.witness(st.instances.grid(), s, h).alt for s, h in ((11, 2), (6, 3), (16, 3))]
    assert alts(page)[1:] == why
    small = read(st.instances.union_counterexample())
    assert alts(small)[0] == st.figures.card(st.instances.union_counterexample()).alt
    assert "a world of 5 states, 2 actions and 4 steps" in small.h1.get_text()


def test_where_nothing_is_safe_the_start_is_explained_first_and_the_frontier_drawn():
    page = read(RISKY)
    assert st.figures.risk_curve(RISKY).alt in alts(page)
    first = page.find(id="doomed").parent.find_all("p")[2].get_text()
    assert first == "Why 0 is doomed at step 1:"
    assert f"the least risk there is is {number(st.least_risk(RISKY).risk)}" in text(page)


@pytest.mark.parametrize(
    ("mdp", "words"),
    [
        (st.instances.grid(), "Yes: from (2,0) some policy is safe at every step; the best one"),
        (st.instances.grid_from_map("S.X..G", H=3), "earns 0: safety costs nothing."),
        (st.instances.grid_from_map("S.G", H=3), "Yes: no state is unsafe, so that every policy"),
        (st.SafeMDP([[[1.0]]], [[1]], [1], 0.5, 2), "No: no policy is safe, because the start, 0,"),
        (RISKY, "No: whatever is done, from 0 an unsafe state is met with positive probability"),
    ],
)
def test_the_verdict_is_one_sentence(mdp, words):
    made = st.report(mdp)
    assert words in made.verdict and made.verdict.count(". ") == 0
    page = BeautifulSoup(made.html, "html.parser")
    assert page.find(class_="verdict").get_text() == made.verdict
    assert repr(made) == f"{made.title}. {made.verdict}"


def chain(*ways, c=(0, 0, 1), H=3):
    return st.SafeMDP(np.eye(3)[[[t] for t in ways]], np.zeros((3, 1)), list(c), 0.5, H)


def test_the_horizon_is_said_in_words():
    assert "However long an episode is, some policy is safe" in text(read(chain(0, 1, 2)))
    assert "episodes of up to 2 steps, and none in longer ones" in text(read(chain(1, 2, 2)))
    assert "However short an episode is, no policy" in text(read(chain(0, 1, 2, c=(1, 0, 1))))


def by_steps(*ways, c=(0, 0, 1)):
    """A world of three states in which step h leads each on as its own line says."""
    P = np.eye(3)[np.array(ways)[:, :, None]]
    return st.SafeMDP(P, np.zeros((len(ways), 3, 1)), list(c), 0.5, len(ways))


def test_where_steps_differ_it_is_said_from_which_the_rest_is_safe():
    """Whoever is in 0 at step 2 is sent to the unsafe 2; at all others one stays or ends."""
    stay, fall = (0, 1, 2), (2, 1, 2)
    caption = "If the episode began later"
    page = read(by_steps((1, 1, 2), fall, stay, fall))
    assert "safe from 0 to the end: all but 2." in text(page)
    asked = {at: row["Safe policy"] for at, row in tables(page)[caption].items()}
    assert asked == {"1 (this world)": "yes", "2": "no", "3": "yes", "4": "yes"}
    assert "safe from 0 to the end: all." in text(read(by_steps(stay, (0, 2, 2))))
    assert "safe from 0 to the end: none." in text(read(by_steps(stay, fall, c=(1, 0, 1))))
    assert caption not in tables(read(st.instances.grid()))


def test_doom_is_said_in_words():
    assert "No state is doomed, because none is unsafe." in text(read(chain(0, 1, 2, c=(0, 0, 0))))
    assert "No state is doomed but the unsafe ones" in text(read(chain(0, 1, 2)))
    assert "1 state of 3 is doomed at some step" in text(read(chain(0, 2, 2)))
    assert tables(read(chain(0, 2, 2)))["Doomed and not unsafe"]["1"]["Doomed at steps"] == "1–2"


def test_values_are_said_in_the_rewards_of_the_outside_too():
    page = read(LAKE)
    safe, best = st.safe_optimal(LAKE).value, st.optimal(LAKE).value
    assert [*values(page, "In your own rewards").values()] == [
        number(float(LAKE.outside(safe))),
        number(float(LAKE.outside(best))),
        number(float(LAKE.outside(best - safe, steps=0))),
        "the same",
        "the same",
    ]
    said = [number(float(LAKE.outside(x))) for x in (safe, best)]
    price = number(float(LAKE.outside(best - safe, steps=0)))
    verdict = st.report(LAKE).verdict
    assert f"earns {said[0]} in your own rewards, and the best of all policies {said[1]}" in verdict
    assert verdict.endswith(f"the price of safety is {price}.")
    alike = imported(("a", "go", "a", 1, -3, 0), ("a", "rest", "a", 1, -9, 0), H=2, tau=0.5)
    assert st.report(alike).verdict.endswith("earns -6 in your own rewards: safety costs nothing.")
    assert "-1 became 0 and 3 became 1. A value V over n steps is 4 · V + n · (-1)" in text(page)
    assert "3 pairs of a state and an action that it does not have are copies" in text(page)
    nowhere = imported(
        ("a", "go", "b", 1, -3, 0), ("b", "go", "b", 1, -3, 1), H=2, tau=0.5
    )  # fmt: skip
    assert values(read(nowhere), "In your own rewards")["Value of the best safe policy"] == (
        "there is no safe policy"
    )


def test_rewards_that_were_not_mapped_have_no_column_of_their_own():
    plain = imported(("a", "go", "a", 1, 0.5, 0), ("a", "rest", "a", 1, 0, 0), H=2, tau=0.5)
    page = read(plain)
    assert "In your own rewards" not in text(page) and "became" not in text(page)
    assert "copies" not in text(page) and "is a copy" not in text(page)
    one = imported(("a", "go", "a", 1, 0.5, 0), ("a", "rest", "a", 1, 0, 0),
                   ("b", "go", "b", 1, 0, 0), H=2, tau=0.5)  # fmt: skip
    assert "1 pair of a state and an action that it does not have is a copy" in text(read(one))


def test_a_start_that_was_added_is_said():
    class Lots:
        """An environment with two starts."""

        P = {s: {0: [(1.0, s, 0.0, False)]} for s in (0, 1)}  # noqa: RUF012
        initial_state_distrib = np.array([0.5, 0.5])

        @property
        def unwrapped(self):
            return self

    world = st.from_gymnasium(Lots(), unsafe=[1], H=3, tau=0.5)
    assert (world.stands_for == -1).any()
    assert "A first step was added" in text(read(world))


def test_what_was_dropped_is_said():
    P = [[[1 - 1e-12, 1e-12]], [[0, 1]]]
    mdp = st.SafeMDP(P, [[1], [1]], c=[0, 1], tau=0.5, H=50, drop_below=1e-9)
    said = text(read(mdp))
    assert "at most 1e-12 from each of 1 row" in said and "more than 5e-11 for that" in said
    assert "No transition has a probability so small" in said


SPITEFUL = "<script>alert('&amp;')</script>"


def test_names_are_text():
    names = [SPITEFUL, '"><img src=x onerror=alert(1)>', "氷 & снег"]
    mdp = st.SafeMDP(
        np.eye(3)[[[0, 1], [2, 2], [2, 2]]], np.zeros((3, 2)), [0, 0, 1], 0.5, 3,
        state_names=names, action_names=["$x$", "</style>"],
    )  # fmt: skip
    page = read(mdp, title="<b>Mine</b>")
    assert page.find("script") is None and page.find("b") is None and len(page("style")) == 1
    assert all(image["src"].startswith("data:image/png;base64,") for image in page("img"))
    assert page.h1.get_text() == "<b>Mine</b>" and SPITEFUL in page.get_text()
    assert "$x$ and </style> may lead to 氷 & снег" in text(page)
    frame = BeautifulSoup(st.report(mdp, title="<b>")._repr_html_(), "html.parser")
    assert [tag.name for tag in frame.find_all()] == ["iframe"] and frame.iframe["title"] == "<b>"
    assert frame.iframe["srcdoc"] == st.report(mdp, title="<b>").html


def test_a_page_asks_for_nothing_and_runs_nothing():
    page = st.report(RISKY).html
    assert "default-src 'none'" in page
    assert not re.search(
        r"https?:|//|@import|url\(|<link|<script", re.sub('base64,[^"]*', "", page)
    )
    assert not re.search(r"\son\w+=", page)
    soup = BeautifulSoup(page, "html.parser")
    assert {cell["scope"] for cell in soup("th")} == {"col", "row"}
    assert all(image["alt"] for image in soup("img"))
    assert len({tag["id"] for tag in soup(id=True)}) == len(soup(id=True)) == 5


SAME = """
import hashlib, safeteach as st
mdp = st.instances.random_mdp(30, 3, 8, 4, successors=5, unsafe=0.4)
print(hashlib.sha256(st.report(mdp).html.encode()).hexdigest())
"""


@pytest.mark.thorough
def test_the_same_world_gives_the_same_bytes():
    assert st.report(RISKY).html == st.report(RISKY).html
    runs = [
        subprocess.run([sys.executable, "-c", SAME], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout != ""


def test_a_file_is_the_page_and_takes_the_place_of_another(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("old")
    made = st.report(chain(0, 2, 2), file, title="a \ud800 b")
    assert file.read_bytes() == made.html.encode("utf-8", "xmlcharrefreplace")
    assert [*tmp_path.iterdir()] == [file]
    assert st.report(chain(0, 2, 2), str(file)).html == file.read_text("utf-8")


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("safeteach.reporting.reports.judge", None)
    for path, why in [
        (tmp_path, "it is a folder"),
        (tmp_path / "nowhere" / "x.html", "there is no folder .*nowhere"),
        (tmp_path / ("x" * 300) / "x.html", "File name too long"),
    ]:
        with pytest.raises(ValueError, match=rf"^path is .*; expected a file .*\({why}"):
            st.report(RISKY, path)


def test_a_file_that_cannot_be_replaced_stays(tmp_path, monkeypatch):
    file = tmp_path / "page.html"
    file.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(ValueError, match=r"^path is .*page\.html.*\(No space left on device\)$"):
        st.report(chain(0, 2, 2), file)
    assert file.read_text() == "old"


@pytest.mark.parametrize("mdp", [st.instances.grid(), RISKY], ids=["safe", "risky"])
def test_of_a_large_world_the_verdict_is_left_and_what_is_not_is_said(mdp, monkeypatch):
    monkeypatch.setattr(judging, "MOST_ARROWS", 1)
    monkeypatch.setattr(sections, "MOST_ARROWS_DRAWN", 1)
    monkeypatch.setattr(sections, "MOST_LISTED", 2)
    made = st.report(mdp)
    assert made.verdict.startswith("Yes" if st.is_feasible(mdp) else "No")
    assert made.verdict.endswith("was not computed, because the world is too large.")
    said = text(BeautifulSoup(made.html, "html.parser"))
    for part in ("why they are doomed", "values for other horizons", "values and risks"):
        assert f"Left out: {part}" in said
    assert ("how much each risk earns" in said) != st.is_feasible(mdp)
    assert re.search(r"Left out: \d+ more states, those met last or never", said)


def test_of_a_large_world_of_many_steps_it_is_left_and_said(monkeypatch):
    monkeypatch.setattr(judging, "MOST_ARROWS", 1)
    said = text(read(st.instances.union_counterexample()))
    assert "safe from start to the end: all. Left out: values for later beginnings" in said


def test_steps_that_nobody_can_count_are_not_looked_at_one_by_one():
    """The verdict of a stationary world takes no array with a row a step; values do."""
    far = imported(
        ("shore", "walk", "shore", 1, 0.5, 0),
        ("shore", "swim", "deep", 1, 1, 0),
        ("deep", "sink", "deep", 1, 0, 1),
        H=10**12, tau=0.5,
    )  # fmt: skip
    made = st.report(far)
    assert made.verdict.startswith("Yes: from shore") and "world is too large" in made.verdict
    assert "1,000,000,000,000" in made.html and "The world on a card" in made.html


def test_a_world_too_large_to_draw_has_no_picture():
    wide = st.instances.grid_from_map("S" + 30 * "." + "G", H=2)
    assert "too large for a picture" in text(read(wide)) and not alts(read(wide))
    many = st.SafeMDP(np.eye(100)[:, None], np.zeros((100, 1)), np.arange(100) / 99, 0.5, 2)
    page = read(many)
    assert "too large for a picture" in text(page) and not alts(page)
    assert "(the first 40 of them)" in text(page)


def test_without_numba_less_is_drawn(monkeypatch):
    monkeypatch.setattr(sections, "find_spec", lambda _: None)
    monkeypatch.setattr(sections, "MOST_ARROWS_DRAWN", 50 * judging.steps_taken(RISKY))
    assert "how much each risk earns" in text(read(RISKY))


def test_a_witness_that_is_too_large_is_told_from_a_later_step_or_not_at_all(monkeypatch):
    def why(most):
        monkeypatch.setattr(sections, "MOST_NODES", most)
        return re.findall(r"Why (\S+) is doomed at step (\d+):", text(read(st.instances.grid())))

    assert why(10**5) == [("(2,1)", "2"), ("(1,1)", "3"), ("(3,1)", "3")]
    assert why(10) == [("(2,1)", "11"), ("(3,1)", "11")]
    assert why(1) == []


def test_a_witness_that_does_not_fit_on_paper_is_drawn_from_a_later_step_or_not_at_all():
    n = 60  # a line of ice before the water, 59 steps away
    line = st.SafeMDP(
        np.eye(n)[[[min(s + 1, n - 1)] for s in range(n)]], np.zeros((n, 1)),
        np.arange(n) == n - 1, 0.5, 100,
    )  # fmt: skip
    page = read(line)
    captions = [figure.figcaption.get_text() for figure in page("figure")]
    assert "Why 0 is doomed at step 1:" in text(page) and "And so on" in text(page)
    assert "Why 0 is doomed at step 1." not in captions


def test_a_name_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(sections, "PARTS", ("safeteach", "nothing-of-that-name"))
    assert "nothing-of-that-name (not installed)" in text(read(chain(0, 2, 2)))
