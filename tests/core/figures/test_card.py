"""A card says all of a world: what it says is read back, and the same world comes out."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from looping import many
from oracles.brute_force import worlds

import safeteach as st
from safeteach.figures.card import LONGEST
from safeteach.figures.card_map import slip_of
from safeteach.figures.card_moves import say

I = st.instances  # noqa: E741


def fishing():
    """A boat whose rewards depend on the action."""
    P = np.zeros((3, 2, 3))
    P[0, 0, 0] = P[2, 1, 0] = P[1, 1, 0] = P[0, 1, 1] = 1
    P[1, 0, [2, 1]] = 0.6, 0.4
    P[2, 0, [2, 1]] = 0.7, 0.3
    return st.SafeMDP(
        P, [[0.05, 0], [0, 0], [0, 0.5]], c=[0, 0.25, 0], tau=0.5, H=8,
        state_names=["harbour", "bank", "laden"], action_names=["work", "sail"],
    )  # fmt: skip


def pier():
    """The same P at every step, with rewards that depend on step and action, and no names."""
    P = np.zeros((4, 2, 4))
    P[0, 0, 1] = P[0, 1, 3] = P[1, 0, 2] = 1
    P[1, 1, [3, 2]] = 1 - 1e-5, 1e-5
    P[2, :, 2] = P[3, :, 3] = 1
    r = np.zeros((3, 4, 2))
    r[1, 1] = 0.5, 0.9
    r[2, 2] = 1
    return st.SafeMDP(P, r, c=np.eye(4)[2], tau=0.5, H=3)


SAID = {  # worlds whose alt text has every state
    "union": I.union_counterexample(),
    "penny bridge": I.penny_bridge(),
    "quay": I.quay(),
    "quay, seaward": I.quay(seaward=True),
    "laboratory": I.laboratory(),
    "violation tree": I.violation_tree(A=2, depth=2, gap=0.1, j=3),
    "regret tree": I.regret_tree(A=3, depth=2, gap=0.01, unsafe_gap=0.05, j=3),
    "regret tree, printed": I.regret_tree(3, 2, 0.01, 0.05, j=3, printed=True),
    "fishing": fishing(),
    "pier": pier(),
}
DRAWN = SAID | {
    "road": I.school_road(),
    "pond": I.grid(),
    "corridor": I.ice_corridor(),
    "smoke": I.smoke(),
    "two lanes": I.grid_from_map(".....\nS~~~G", H=7, slip=0.7),
    "lake": I.grid_from_map("\n".join(["S" + "." * 19, *["~" * 20] * 18, "X" * 19 + "G"]), H=40),
    "pursuit": I.pursuit(),
    "plank": I.pursuit("X$A.R\n##.##"),
    "a larger tree": I.regret_tree(A=3, depth=3, gap=0.01, unsafe_gap=0.05, j=6),
    "a wide tree": I.violation_tree(A=3, depth=3, gap=0.1),
    "a tall tree": I.violation_tree(A=2, depth=4, gap=0.1),
    "random": I.random_mdp(S=5, A=2, H=3, seed=0),
    "random, by steps": I.random_mdp(S=4, A=2, H=3, seed=1, stationary=False),
    "random, large": I.random_mdp(S=20, A=3, H=3, seed=2),
    "random game": I.random_game(S=6, A=3, B=2, H=4, seed=28),
    "one state": st.SafeMDP([[[1.0]]], [[1]], c=[1], tau=0.5, H=1),
}
LARGE = {
    "ring": I.random_mdp(S=61, A=1, H=2, seed=0),
    "by steps": I.random_mdp(S=10, A=3, H=8, seed=1, stationary=False),
    "many actions": I.random_mdp(S=3, A=500, H=2, seed=1),
    "wide map": I.grid_from_map("S" + "." * 80, H=3),
}


@pytest.fixture(scope="module", params=DRAWN)
def case(request):
    return DRAWN[request.param], st.figures.card(DRAWN[request.param])


def words(figure, written):
    """Return the texts of a figure, those with more than one line joined."""
    return [" ".join(text.get_text().split()) for text in written(figure)]


def test_it_can_be_read(case, legible, on_paper):
    _, figure = case
    legible(figure)
    on_paper(figure)
    assert len(figure.alt) <= LONGEST + 20


def test_it_names_sizes_threshold_and_start(case, written):
    world, figure = case
    told = " ".join(words(figure, written))
    for text in (told, figure.alt):
        assert f"{world.S} state{'s' * (world.S > 1)}, {world.A} action" in text
        assert f"H = {world.H}, τ = {say(world.tau)}, start: state {world.s1}" in text
        for a in range(world.A):
            assert re.search(rf"\b{re.escape(world.action_name(a))}\b", text) or world.A == 1


def test_it_has_every_state(case, written):
    world, figure = case
    texts = words(figure, written)
    for s in range(world.S - isinstance(world, I.PursuitGame)):  # the water stands in a sentence
        assert str(s) in texts, f"state {s} is not on the card"
    if isinstance(world, I.PursuitGame):
        assert f"state {world.S - 1} is the water." in " ".join(texts)
    unsafe = {int(gid[0]) for gid in world_marks(figure)}
    assert unsafe == set(np.flatnonzero(world.unsafe)) or isinstance(world, I.PursuitGame)


def world_marks(figure):
    """Return the names of what is drawn as unsafe, on a graph, a map, a tree or in a table."""
    gids = [x.get_gid() for x in figure.findobj(lambda x: bool(x.get_gid()))]
    found = [re.fullmatch(r"state/(\d+)/unsafe|unsafe/(\d+)", gid) for gid in gids]
    return [(x[1] or x[2],) for x in found if x]


NUMBER = r"[\d.]+"


def read_back(world, alt):
    """Return (P, r, c) that the words of a card say: what they do not say is 1, 0, 0, or stays."""
    moves = world.r.shape[2:]
    P, r, c = np.zeros(world.P.shape), np.zeros(world.r.shape), np.zeros(world.S)
    for s in range(world.S):
        P[(slice(None), s, ..., s)] = 1
    for s, sentence in enumerate(sentences(world, alt)):
        head, _, told = sentence.partition(": ")
        for cost in re.findall(rf", c ({NUMBER})", head):
            c[s] = float(cost)
        for reward, steps in re.findall(rf", r ({NUMBER})(?: at h=([\d–, ]*\d))?", head):
            r[read_steps(world, steps), s] = float(reward)
        for move in [] if told == "stays" else told.split("; "):
            done, _, ends = move.rpartition(" to ")
            row = np.zeros(world.S)
            for end in ends.split("), "):
                t, p = re.fullmatch(rf"(\d+)(?: \(({NUMBER})\)?)?", end).groups()
                row[int(t)] = float(p or 1)
            for line in done.split(" and "):
                steps, names, reward = re.fullmatch(
                    rf"(?:h=([\d–, ]+): )?(.*?)(?:, r ({NUMBER}))?", line
                ).groups()
                for h, pair in product(read_steps(world, steps), read_moves(world, names, moves)):
                    P[(h, s, *pair)] = row
                    if reward:
                        r[(h, s, *pair)] = float(reward)
    return P, r, c


def sentences(world, alt):
    """Cut the words before each state's index and name; a name never holds another's."""
    names = [world.state_name(s) for s in range(world.S)]
    heads = [str(s) if name == str(s) else f"{s} {name}" for s, name in enumerate(names)]
    at = alt.index("Unsafe: ")
    places = []
    for head in heads:
        at = re.compile(rf"(?<=\. ){re.escape(head)}(?=[,:])").search(alt, at).start()
        places.append(at)
    ends = [*places[1:], len(alt) + 1]
    return [alt[i : j - 1].removesuffix(".") for i, j in zip(places, ends, strict=True)]


def read_steps(world, told):
    if not told:
        return range(world.H)
    steps = [[int(h) for h in run.split("–")] for run in told.split(", ")]
    return [h - 1 for run in steps for h in range(run[0], run[-1] + 1)]


def read_moves(world, told, moves):
    if told == "any":
        return list(product(*map(range, moves)))
    names = [[world.action_name(a) for a in range(world.A)]]
    names[0] = [f"a{a}" if name == str(a) else name for a, name in enumerate(names[0])]
    if len(moves) == 2:
        names.append([world.reply_name(b) for b in range(world.B)])
    pairs = []
    for phrase in told.split(", "):
        sides = [
            range(len(its)) if side == "any" else [its.index(x) for x in side.split(" or ")]
            for side, its in zip(phrase.split(" / "), names, strict=True)
        ]
        pairs += product(*sides)
    return pairs


@pytest.mark.parametrize("world", SAID.values(), ids=list(SAID))
def test_the_world_can_be_read_back_from_its_words(world):
    P, r, c = read_back(world, st.figures.card(world).alt)
    assert np.array_equal(r, world.r)
    assert np.array_equal(c, world.c)
    assert np.allclose(P, world.P, rtol=0, atol=1e-12)


def test_a_world_that_differs_has_another_card():
    alts = [st.figures.card(world).alt for world in SAID.values()]
    assert len(set(alts)) == len(alts)


GRAPHS = ["union", "penny bridge", "quay", "fishing", "pier"]


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_says_the_same_as_the_words(name, drawn, written):
    """Boxes and states have the words of the alt text, arrows its probabilities."""
    world, figure = SAID[name], st.figures.card(SAID[name])
    texts = words(figure, written)
    chances, arrows = [], []
    for s, sentence in enumerate(sentences(world, figure.alt)):
        head, _, told = sentence.partition(": ")
        numbers = ", ".join(re.findall(r"[cr] [\d.]+(?: at h=[\d–, ]*\d)?", head))
        label = " ".join(filter(None, [head.split(", ")[0].removeprefix(str(s)).strip(), numbers]))
        assert label in texts or not label
        for move in [] if told == "stays" else told.split("; "):
            done, _, ends = move.rpartition(" to ")
            assert done.replace(" and ", " ") in texts
            chances += re.findall(r"\(([\d.]+)\)", ends)
            arrows += [(str(s), t) for t in re.findall(r"(\d+)(?:,| \(|$)", ends)]
    assert drawn(figure, "arrow") == sorted(arrows)
    assert drawn(figure, "start") == [(str(world.s1),)]
    assert sorted(x for x in texts if re.fullmatch(r"0\.\d+", x)) == sorted(chances)


@pytest.mark.parametrize("name", ["laboratory", "quay, seaward", "random"])
def test_a_table_says_the_same_as_the_words(name, written):
    world, figure = DRAWN[name], st.figures.card(DRAWN[name])
    told = " ".join(words(figure, written))
    for sentence in sentences(world, figure.alt):
        for move in sentence.partition(": ")[2].split("; "):
            assert " → ".join(move.rsplit(" to ", 1)) in told


@pytest.mark.slow
@given(worlds(max_states=5, max_policies=10**9))
@settings(max_examples=many(9, 25))
def test_any_small_world_has_a_legible_card(legible, mdp):
    legible(st.figures.card(mdp))


@pytest.mark.parametrize("name", [*GRAPHS, "laboratory", "road"])
def test_no_arrow_runs_through_a_state_that_is_not_its_own(name):
    figure = st.figures.card(DRAWN[name])
    middles = {}
    for body in figure.findobj(lambda x: (x.get_gid() or "").startswith("state/")):
        box = body.get_path().transformed(body.get_patch_transform()).get_extents()
        middles[body.get_gid().split("/")[1]] = (box.min + box.max) / 2
    for line in figure.findobj(lambda x: (x.get_gid() or "").startswith("arrow/")):
        _, s, t = line.get_gid().split("/")
        for other, middle in middles.items():
            if other not in (s, t):
                gap = np.hypot(*(line.get_path().vertices - middle).T).min()
                assert gap > 0.19, (s, t, other)


@pytest.mark.parametrize("slip", [0.02, 0.2, 0.7, 1.0])
def test_the_slip_is_found(slip, written):
    mdp = I.grid_from_map("S~G\n.X~", H=4, slip=slip)
    assert slip_of(mdp) == pytest.approx(slip)
    straight, astray = mdp.P[0, 1, 3, 2], mdp.P[0, 1, 3, 0]
    for text in (st.figures.card(mdp).alt, " ".join(words(st.figures.card(mdp), written))):
        assert f"with probability {say(straight)}, and in each of the other three" in text
        assert f"directions with {say(astray)}." in text


def like(mdp, **changed):
    """Return the same grid with something else in it."""
    parts = {"P": mdp.P[0], "r": mdp.r[0], "c": mdp.c, "tau": mdp.tau, "H": mdp.H, "s1": mdp.s1}
    names = ["up", "down", "left", "right"]
    return I.GridMDP(**(parts | changed), action_names=names, map=mdp.map, cells=mdp.cells)


def test_a_map_has_its_indices_in_its_cells(written):
    mdp = I.smoke()
    figure = st.figures.card(mdp)
    cells = {
        tuple(map(int, x.get_gid().split("/")[1].split(","))): x.get_bbox()
        for x in figure.findobj(lambda x: (x.get_gid() or "").startswith("cell/"))
    }
    found = {text.get_text(): text.get_position() for text in written(figure)}
    for s, cell in enumerate(mdp.cells.tolist()):
        assert cells[tuple(cell)].contains(*found[str(s)])
    costs = [text for text in words(figure, written) if re.fullmatch(r"c [\d.]+", text)]
    assert sorted(costs) == sorted(f"c {c:g}" for c in mdp.c if c)


def test_what_is_not_as_on_the_map_is_written_out(written, legible):
    mdp = I.grid_from_map("S~G", H=4)
    windy = mdp.P[0].copy()
    windy[0, 0] = 0.5, 0.5, 0
    odd = st.figures.card(like(mdp, P=windy))
    legible(odd)
    assert "up → 0 (0.5), 1 (0.5); right → 1" in words(odd, written)
    assert "On ice" not in odd.alt
    paid = st.figures.card(like(mdp, r=[[0, 0, 0, 0.5], [0] * 4, [1] * 4]))
    assert "right, r 0.5 to 1" in paid.alt
    several = st.figures.card(like(mdp, r=[[0.25] * 4, [0.5] * 4, [1] * 4]))
    assert "0.25 on dry floor" in several.alt
    assert "0.5 on ice" in several.alt


def test_a_pursuit_with_other_rules_has_no_rules_on_its_card():
    game = I.pursuit("A.R", H=3)
    assert "Both choose at once." in st.figures.card(game).alt
    r = np.full(game.r.shape[1:], 0.5)
    other = I.PursuitGame(
        game.P[0], r, game.c, game.tau, game.H, game.s1, map=game.map, positions=game.positions
    )
    assert "Both choose at once." not in st.figures.card(other).alt


def test_marks_that_no_map_has_are_no_rules():
    mdp, game = I.grid_from_map("S.G", H=4), I.pursuit("A.R", H=3)
    parts = mdp.P[0], mdp.r[0], mdp.c, mdp.tau, mdp.H, mdp.s1
    assert slip_of(I.GridMDP(*parts, map=mdp.map, cells=mdp.cells)) == 0
    assert slip_of(I.GridMDP(*parts, map=("SoG",), cells=mdp.cells)) is None
    parts = game.P[0], game.r[0], game.c, game.tau, game.H, game.s1
    other = I.PursuitGame(*parts, map=("AoR",), positions=game.positions)
    assert "Both choose at once." not in st.figures.card(other).alt


def test_rewards_that_fit_into_no_cell_are_looked_up():
    mdp = I.grid_from_map("S" + 11 * "." + "G", H=4)
    r = np.repeat(np.arange(13)[:, None] / 20, 4, axis=1)
    assert "see world.r" in st.figures.card(like(mdp, r=r)).alt
    assert "see world.r" not in st.figures.card(mdp).alt


def test_only_where_a_move_stays_the_foot_says_so(written):
    for ends, said in (([[0, 1], [1, 0]], False), ([[1, 0], [1, 0]], True)):
        mdp = st.SafeMDP(np.array(ends, float)[:, None], np.zeros((2, 1)), [0, 0], 0.5, H=3)
        foot = " ".join(words(st.figures.card(mdp), written))
        assert ("stays where it is" in foot) == said


@pytest.mark.parametrize("world", LARGE.values(), ids=list(LARGE))
def test_a_large_world_has_its_sizes_and_a_place_to_look(world, written, legible):
    figure = st.figures.card(world)
    legible(figure)
    for text in (figure.alt, " ".join(words(figure, written))):
        assert f"{world.S} states, {world.A} action" in text
        assert "too large for a card" in text
        assert "world.rows(h)" in text


def test_names_of_any_form_fit(legible):
    names = ["a name of more than one\nline", "$x$", "x" * 200, "(1,2)", "5"]
    mdp = st.SafeMDP(
        np.eye(5)[[[1, 0], [2, 1], [3, 2], [4, 3], [0, 4]]], np.zeros((5, 2)), c=[0, 0, 0, 0, 1],
        tau=0.5, H=3, state_names=names, action_names=["y" * 100, "to $"],
    )  # fmt: skip
    legible(st.figures.card(mdp))


def test_rounded_numbers_are_said_to_be():
    exact, rounded = (st.figures.card(DRAWN[name]) for name in ("union", "random"))
    told = [" ".join(x.get_text() for x in figure.axes[0].texts) for figure in (exact, rounded)]
    assert ["rounded to three digits" in text for text in told] == [False, True]


@pytest.mark.parametrize("thing", [None, 3, "pond", np.eye(3), I.grid().known])
def test_what_is_no_world_is_refused(thing):
    with pytest.raises(TypeError, match=r"world is .*; expected a SafeMDP or a SafeGame"):
        st.figures.card(thing)
