"""Move the controls of interactive figures with the keyboard, and watch what they do."""

from dataclasses import dataclass

# A move lasts from the key to the frame that shows the new picture, decoded.
WATCH = """() => {
  window.moves = [];
  let pressed = 0;
  addEventListener("keydown", () => { pressed = performance.now(); }, true);
  addEventListener("input", async (event) => {
    await event.target.closest("figure").querySelector("img").decode();
    requestAnimationFrame(() => window.moves.push(performance.now() - pressed));
  });
}"""


@dataclass(frozen=True)
class Walk:
    """A control, moved by the keyboard from its first setting to its last.

    Attributes
    ----------
    name
        What the control is called.
    shown
        Its value at each setting, as a reader sees or hears it.
    pictures
        The source and the alt text of the picture at each setting.
    said
        The words for those who hear the page, at each setting after the first.
    milliseconds
        How long each move took.
    """

    name: str
    shown: list
    pictures: list
    said: list
    milliseconds: list


def walks(page):
    """Walk every control of every interactive figure of a page, one after another."""
    page.evaluate(WATCH)
    return [
        walk(page, figure, control)
        for figure in page.locator("figure.interactive").all()
        for control in figure.locator("input, select").all()
    ]


def walk(page, figure, control):
    """Walk one control."""
    is_range = control.evaluate("control => control.type === 'range'")
    stops = int(control.get_attribute("max")) + 1 if is_range else control.locator("option").count()
    image = figure.locator("img")
    control.focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(100)
    shown, pictures, said = [], [], []
    done = first = page.evaluate("moves.length")
    for stop in range(stops):
        if stop:
            page.keyboard.press("ArrowRight" if is_range else "ArrowDown")
            done += 1
            page.wait_for_function("done => moves.length >= done", arg=done)
            said.append(figure.locator(".interactive-said").text_content())
        shown.append(
            control.get_attribute("aria-valuetext")
            if is_range
            else control.evaluate("control => control.selectedOptions[0].textContent")
        )
        pictures.append((image.get_attribute("src"), image.get_attribute("alt")))
    name = control.evaluate("control => control.labels[0].firstChild.textContent.trim()")
    return Walk(name, shown, pictures, said, page.evaluate("moves")[first:])
