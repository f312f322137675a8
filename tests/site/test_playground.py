"""The playground in a real browser: mouse, keys and fingers, six tools, and links that lie."""

import re

import pytest
from built import HTML
from looking import AXE, LAID_OUT

import safeteach as st

HOME = (HTML / "_static" / "playground.html").as_uri()
TOOLS = ("Paint", "Why?", "Walk", "Send agents", "Let it learn", "Share")
FAST = "8"  # the last stop of the slider of speeds
SMALL = {
    "index": ["Paint", "Why?"],
    "book/model/danger-ahead": ["Why?", "Paint"],
    "book/sucbvi/the-algorithm": [],
}


def address(rows, H=12, slip=0.2, tau=0.5):
    return f"{HOME}#map={','.join(rows).replace('#', 'W')}&H={H}&slip={slip}&tau={tau}"


@pytest.fixture
def opened(new_page):
    """Return what opens the page of one file, from the disk, with a world in its link."""
    pages = []

    def open_it(link=HOME, **settings):
        page = new_page(**{"viewport": {"width": 1100, "height": 900}, **settings})
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda said: page.complaints.append(said.text))
        page.on("dialog", lambda dialog: page.complaints.append(dialog.message))
        page.goto(link)
        page.locator(".pg-board").first.wait_for()
        pages.append(page)
        return page

    yield open_it
    for page in pages:
        assert page.complaints == []
        assert {url.partition("#")[0] for url in page.asked} == {HOME}
        page.close()


def tool(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def cell(page, i, j):
    return page.locator(f".pg-map .pg-cell[data-at='{i} {j}']")


def rows(page):
    """Return the map that is shown."""
    kinds = page.locator(".pg-map [role=row]").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.dataset.kind))"
    )
    letters = {"start": "S", "goal": "G", "ground": ".", "ice": "~", "water": "X", "wall": "#"}
    return ["".join(letters[kind] for kind in row) for row in kinds]


def doomed(page):
    """Return the cells that the page calls doomed at the step it shows, water included."""
    marks = page.locator(".pg-map .pg-cell").evaluate_all(
        "cells => cells.filter(cell => cell.querySelector('[data-mark]').dataset.mark)"
        ".map(cell => cell.dataset.at)"
    )
    return {tuple(map(int, at.split())) for at in marks}


def doomed_by_library(page, h=1):
    world = st.instances.grid_from_map("\n".join(rows(page)), H=12)
    U = st.potentially_unsafe(world)[h - 1]
    return {tuple(place) for place in world.cells[U].tolist()}


def test_a_stroke_of_the_mouse_paints_and_the_verdict_follows(opened):
    page = opened()
    title = page.locator(".pg-title")
    assert title.inner_text().endswith("There is a safe way. The best one earns 4.00.")
    before = doomed(page)
    assert before == doomed_by_library(page)
    page.get_by_text("ice", exact=True).click()
    first, last = (cell(page, 0, j).bounding_box() for j in (0, 4))
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=12)
    page.mouse.up()
    assert rows(page)[0] == "~~~~~"
    assert doomed(page) == doomed_by_library(page) > before
    assert "earns 4.00" in title.inner_text(), "the lower bank is left"
    for j in range(5):
        cell(page, 4, j).click()
    assert title.inner_text().endswith("You can stay safe, but not reach the goal in time.")
    page.get_by_role("button", name="Undo").click()
    assert rows(page)[4] == "~~~~."
    page.get_by_role("button", name="Redo").click()
    assert rows(page)[4] == "~~~~~"
    page.get_by_role("button", name="Clear").click()
    assert rows(page) == [".....", ".....", "S...G", ".....", "....."]
    assert doomed(page) == set()


def test_a_fast_stroke_leaves_no_gap_and_ends_where_the_button_was_let_go(opened):
    page = opened()
    page.get_by_text("water", exact=True).click()
    first, last = (cell(page, 0, j).bounding_box() for j in (0, 4))
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5)
    assert rows(page)[0] == "XXXXX"
    # The button is let go where the page does not see it.
    at = {"clientX": first["x"] + 5, "clientY": cell(page, 4, 0).bounding_box()["y"] + 5}
    cell(page, 4, 0).dispatch_event("pointermove", {**at, "pointerType": "mouse", "buttons": 0})
    assert rows(page)[4] == "....."
    page.mouse.up()


def test_keys_that_the_browser_uses_are_left_to_it(opened):
    page = opened()
    tool(page, "Walk")
    page.keyboard.press("Alt+ArrowUp")
    assert "You stand at the start." in page.locator(".pg-said").inner_text()


def test_keys_alone_paint(opened):
    page = opened()
    page.get_by_role("radio", name="ice").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("radio", name="water").is_checked()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == "row 1, column 1: ground"
    for key in ("ArrowDown", "ArrowRight", "Space"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.ariaLabel") == "row 2, column 2: water"
    assert rows(page)[1] == ".X~~."
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.ariaLabel") == "row 3, column 2: ice, doomed"


def test_a_finger_paints_by_a_tap_or_sideways_and_scrolls_up_and_down(opened):
    page = opened(viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True)
    page.get_by_text("water", exact=True).tap()
    cell(page, 0, 0).tap()
    assert rows(page)[0] == "X...."
    assert (
        cell(page, 0, 0).evaluate("cell => getComputedStyle(cell).touchAction").startswith("pan-y")
    )
    session = page.context.new_cdp_session(page)

    def finger(*places):
        """Touch a cell, go over others, let go."""
        cell(page, *places[0]).scroll_into_view_if_needed()
        boxes = [cell(page, *place).bounding_box() for place in places]
        points = [{"x": b["x"] + b["width"] / 2, "y": b["y"] + b["height"] / 2} for b in boxes]
        send = lambda kind, at: session.send(  # noqa: E731, one line for three calls
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": at}
        )
        send("touchStart", [points[0]])
        for point in points[1:]:
            send("touchMove", [point])
        send("touchEnd", [])

    finger((4, 1), (4, 2), (4, 3))
    assert rows(page)[4] == ".XXX."
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_start_moves_and_never_goes(opened):
    page = opened()
    page.get_by_text("water", exact=True).click()
    cell(page, 2, 0).click()
    assert rows(page)[2] == "S~X~G"
    assert "The start has to stand somewhere" in page.locator(".pg-notice").inner_text()
    page.locator("label", has_text="start").click()
    cell(page, 0, 0).click()
    assert (rows(page)[0], rows(page)[2]) == ("S....", ".~X~G")
    assert page.locator(".pg-notice").inner_text() == ""


def test_doom_spreads_backwards_by_slider_and_by_play(opened):
    page = opened()
    slider = page.get_by_role("slider", name="back to step")
    slider.fill("0")
    assert slider.get_attribute("aria-valuetext") == "12 of 12"
    assert doomed(page) == doomed_by_library(page, 12)
    assert len(doomed(page)) == 2
    slider.press("ArrowRight")
    assert doomed(page) == doomed_by_library(page, 11)
    page.get_by_role("button", name="Watch doom spread").click()
    page.wait_for_function("document.querySelector('.pg-steps output').textContent === '1 of 12'")
    assert doomed(page) == doomed_by_library(page, 1)
    page.get_by_role("button", name="Watch doom spread").wait_for()


def test_every_preset_has_its_verdict(opened):
    page = opened()
    said = {}
    menu = page.get_by_role("combobox", name="Begin with")
    for key in menu.locator("option").evaluate_all("all => all.map(one => one.value)")[1:]:
        menu.select_option(key)
        said[key] = page.locator(".pg-title").inner_text()
        assert page.locator(".pg-steps output").inner_text().startswith("1 of ")
    assert len(said) == 5
    assert [key for key, words in said.items() if "No safe way" in words] == ["island"]


def test_a_doomed_cell_says_why_down_to_the_water(opened):
    page = opened(reduced_motion="reduce")
    tool(page, "Why?")
    cell(page, 1, 1).click()
    said = page.locator(".pg-said")
    assert said.locator("li").all_inner_texts() == [
        "whatever you do, you may slip to row 2, column 3, doomed at the next step"
    ]
    forward = page.get_by_role("button", name="Next step")
    forward.click()
    assert "whatever you do, you may slip into the water" in said.inner_text()
    forward.click()
    assert "nothing is left but water" in said.inner_text()
    assert forward.is_disabled()
    cell(page, 0, 0).click()
    assert "is not doomed at step 1. Safe there" in said.inner_text()
    assert "right" in said.inner_text()
    cell(page, 2, 2).click()
    assert "is water" in said.inner_text()


def test_a_witness_plays_by_itself_unless_motion_is_unwanted(opened):
    page = opened()
    tool(page, "Why?")
    cell(page, 1, 1).click()
    page.get_by_text("nothing is left but water").wait_for()
    page = opened(reduced_motion="reduce")
    tool(page, "Why?")
    cell(page, 1, 1).click()
    assert page.get_by_role("button", name="Play").is_visible(), "it plays already"


def test_you_walk_and_your_falls_are_counted(opened):
    page = opened(address(["SX"], H=3))
    tool(page, "Walk")
    page.keyboard.press("ArrowRight")  # after a click on the tab the keys walk
    assert "You are in the water." in page.locator(".pg-said").inner_text()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert "you have been in the water, and earned 0." in page.locator(".pg-said").inner_text()
    assert page.get_by_text("1 walk, 1 fall").is_visible()
    page.keyboard.press("ArrowRight")  # begins a new walk
    for _ in range(3):
        page.get_by_role("button", name="left").click()
    assert "The 3 steps are over: you are dry" in page.locator(".pg-said").inner_text()
    assert page.get_by_text("2 walks, 1 fall").is_visible()


def test_on_ice_you_slip_and_a_doomed_place_says_so(opened):
    page = opened(address(["~~~", "~S~", "~~~", "~~X"], H=60, slip=1))
    tool(page, "Walk")
    said = page.locator(".pg-said")
    right = page.get_by_role("button", name="right")
    heard = set()
    for _ in range(40):
        right.click()
        heard |= {words for words in ("and slipped.", "You stand on a doomed cell")
                  if words in said.inner_text()}  # fmt: skip
    assert len(heard) == 2


def test_agents_fall_as_often_as_is_said(opened):
    page = opened()
    tool(page, "Send agents")
    page.get_by_role("button", name="Send 1,000 of each").click()
    table = page.locator(".pg-table tbody tr")
    cells = [row.locator("td").all_inner_texts() for row in table.all()]
    assert [row[0] for row in cells] == ["1,000"] * 3
    for row, mdp_plan in zip(cells, (st.optimal, None, st.safe_optimal), strict=True):
        seen = float(re.search(r"([\d.]+)%", row[1])[1]) / 100
        exact = float(row[2].rstrip("%")) / 100
        assert abs(seen - exact) < 0.11, "rarer than once in 10^9"
        if mdp_plan:
            plan = mdp_plan(st.instances.grid())
            assert row[3] == f"{plan.value:.2f}"
    assert cells[2][1].startswith("0 ")
    page.get_by_role("button", name="Send one of each").click()
    page.get_by_text(re.compile("In the water:|All came through")).wait_for()
    assert table.first.locator("td").first.inner_text() == "1,001"


def test_without_a_safe_way_the_safe_agent_stays_at_home(opened):
    page = opened(address(["X~~", "~S~", "~~X"]))
    tool(page, "Send agents")
    page.get_by_role("button", name="Send 1,000 of each").click()
    assert "no safe way" in page.locator(".pg-table tbody tr").last.inner_text()


def test_two_learners_learn_side_by_side(opened):
    page = opened()
    tool(page, "Let it learn")
    chart = page.locator(".pg-curves svg")
    page.get_by_role("button", name="One episode").click()
    assert "after 1 episode:" in chart.get_attribute("aria-label")
    page.get_by_role("slider", name="speed").fill(FAST)
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_text("All episodes are played.").wait_for()
    violation = re.search(r"SUCBVI ([\d,.]+), UCBVI ([\d,.]+)", chart.get_attribute("aria-label"))
    careful, careless = (float(number.replace(",", "")) for number in violation.groups())
    assert 20 < careful < careless / 10
    marks = page.locator(".pg-pair .pg-board").evaluate_all(
        "boards => boards.map(board => [...board.querySelectorAll('[data-mark=unsafe]')].length)"
    )
    assert marks == [2, 0]
    page.get_by_role("combobox", name="bonus_scale").select_option("1")
    assert "the theorem's own" in page.locator(".pg-panel").inner_text()
    assert "after 0 episodes" in chart.get_attribute("aria-label")


def test_a_change_of_the_world_begins_learning_anew(opened):
    page = opened()
    tool(page, "Let it learn")
    page.get_by_role("button", name="One episode").click()
    tool(page, "Walk")
    tool(page, "Let it learn")
    assert "after 1 episode:" in page.locator(".pg-curves svg").get_attribute("aria-label")
    tool(page, "Paint")
    cell(page, 0, 0).click()
    tool(page, "Let it learn")
    assert "after 0 episodes" in page.locator(".pg-curves svg").get_attribute("aria-label")


def test_a_stroke_that_changes_nothing_keeps_what_was_learned(opened):
    page = opened()
    tool(page, "Let it learn")
    page.get_by_role("button", name="One episode").click()
    tool(page, "Paint")
    cell(page, 1, 1).click()  # ice on ice
    tool(page, "Let it learn")
    assert "after 1 episode:" in page.locator(".pg-curves svg").get_attribute("aria-label")


def test_a_walk_goes_on_where_it_was(opened):
    page = opened()
    tool(page, "Walk")
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    assert page.locator(".pg-steps output").inner_text() == "4 of 12"
    tool(page, "Paint")
    assert page.locator(".pg-steps output").inner_text() == "1 of 12"
    tool(page, "Walk")
    assert page.locator(".pg-steps output").inner_text() == "4 of 12"


def test_the_way_is_drawn_also_where_it_waits_and_a_tie_costs_nothing(opened):
    page = opened(address(["S~G", "#~#", "#X#"]))
    assert page.locator(".pg-arrow.way").count() >= 2
    for mirrored in (["SX", ".G"], ["S.", "XG"]):
        page = opened(address(mirrored))
        assert "here safety costs nothing" in page.locator(".pg-text").inner_text()


def test_who_hears_the_page_hears_a_verdict_once_a_stroke(opened):
    page = opened()
    page.evaluate("""() => {
        window.heard = 0
        const count = () => { window.heard += 1 }
        for (const live of document.querySelectorAll('[role=status]')) {
            new MutationObserver(count).observe(live, {childList: true, characterData: true})
        }
    }""")
    first, last = (cell(page, 0, j).bounding_box() for j in (0, 4))
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=10)
    page.mouse.up()
    assert page.evaluate("heard") <= 2


def test_it_works_inside_another_page(opened):
    page = opened()
    embed = """html => {
        const frame = document.createElement('iframe')
        frame.srcdoc = html
        document.body.append(frame)
    }"""
    page.evaluate(embed, (HTML / "_static" / "playground.html").read_text("utf-8"))
    inside = page.frame_locator("iframe")
    inside.locator(".pg-board").first.wait_for()
    inside.get_by_role("button", name="Clear").click()
    assert inside.get_by_role("button", name="Undo").get_attribute("aria-disabled") == "false"


def test_a_world_goes_out_as_python_and_as_a_link_and_comes_back(opened):
    page = opened(address(["S#G", "~X~"], H=7, slip=0.35, tau=0.25))
    tool(page, "Share")
    names = {}
    exec(page.locator(".pg-code").inner_text(), names)
    assert names["world"] == st.instances.grid_from_map("S#G\n~X~", H=7, slip=0.35, tau=0.25)
    link = page.locator(".pg-link").input_value()
    other = opened(link)
    assert rows(other) == ["S#G", "~X~"]
    other.get_by_text("Size and chances").click()
    sliders = [other.get_by_role("slider", name=name) for name in ("steps H", "slip", "threshold")]
    assert [slider.input_value() for slider in sliders] == ["7", "0.35", "0.25"]


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("map=<img src=x onerror=alert(1)>&H=9&slip=0.2&tau=0.5", "A row of a map has 1 to 12"),
        ("map=S<b>&H=9&slip=0.2&tau=0.5", "A cell of a map is one of"),
        ("map=..,..&H=9&slip=0.2&tau=0.5", "A map needs a start, S."),
        ("map=S.&H=999&slip=0.2&tau=0.5", "The number of steps, H,"),
        (f"map={','.join(['S' + '.' * 12] * 13)}&H=9&slip=0.2&tau=0.5", "A map has 1 to 12 rows."),
        ("map=%E0%A4%A&H=9", "A cell of a map"),
    ],
    ids=["script", "tags", "no start", "too long", "too large", "bad bytes"],
)
def test_a_link_that_lies_is_a_sentence_and_the_pond(opened, link, sentence):
    page = opened(f"{HOME}#{link}")
    said = page.locator(".pg-notice").inner_text()
    assert said.startswith("The link holds no world that can be shown, so this is the pond.")
    assert sentence in said
    assert page.locator(".pg-map .pg-cell").count() == 25


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ({"rows": ["XXX", "XSX", "XXX"]}, "No safe way from S."),
        ({"rows": ["S.", ".X"]}, "You can stay safe."),
        ({"rows": ["#G", "S#"]}, "You can stay safe."),
        ({"rows": ["S"], "H": 1}, "You can stay safe."),
        ({"rows": ["SX"], "H": 1}, "You can stay safe."),
        ({"rows": ["S" + "~" * 11, *["~" * 12] * 10, "~" * 11 + "G"], "H": 60}, "There is a safe"),
    ],
    ids=["all water", "no goal", "walled in", "one cell", "one step", "largest"],
)
def test_extremes(opened, told, verdict):
    page = opened(address(**told))
    assert verdict in page.locator(".pg-title").inner_text()
    for name in TOOLS:
        tool(page, name)
    tool(page, "Let it learn")
    page.get_by_role("button", name="One episode").click()
    tool(page, "Walk")
    page.get_by_role("button", name="right").click()


MORE = pytest.mark.thorough


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", 390), ("dark", 1100),
        pytest.param("light", 1100, marks=MORE), pytest.param("dark", 390, marks=MORE),
    ],
)  # fmt: skip
def test_axe_finds_nothing_in_any_tool_and_nothing_is_too_wide(opened, theme, width):
    page = opened(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.add_style_tag(content="*, ::before, ::after { transition: none !important }")
    page.evaluate(AXE)
    for name in TOOLS:
        tool(page, name)
        if name == "Let it learn":
            page.get_by_role("button", name="One episode").click()
        page.wait_for_function(LAID_OUT, arg=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        found = page.evaluate("axe.run().then(run => run.violations)")
        told = [(one["id"], node["html"][:150]) for one in found for node in one["nodes"]]
        assert told == [], name


@pytest.mark.parametrize(("name", "tools"), SMALL.items(), ids=SMALL)
def test_small_ones_stand_where_chapters_need_them(new_page, site, name, tools):
    page = new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{site}/{name}.html")
    place = page.locator(".playground")
    place.locator(".pg-board:visible").first.wait_for()
    assert place.get_by_role("tab").all_inner_texts() == tools
    large = place.get_by_role("link", name="Take this world to the whole playground")
    page.goto(large.evaluate("link => link.href"))
    assert page.url.startswith(f"{site}/book/playground.html#map=")
    page.locator(".playground .pg-board").first.wait_for()
    assert page.locator(".playground .pg-notice").inner_text() == ""
    page.close()


def test_without_a_script_a_picture_or_a_sentence_stands_there(new_page, site):
    page = new_page(java_script_enabled=False)
    for name in SMALL:
        page.goto(f"{site}/{name}.html", wait_until="domcontentloaded")
        image = page.locator(".playground img")
        image.scroll_into_view_if_needed()  # it is fetched when a reader comes near it
        assert image.is_visible() and image.get_attribute("alt")
    page.goto(f"{site}/book/playground.html", wait_until="domcontentloaded")
    assert page.get_by_text("needs JavaScript").is_visible()
    page.close()
