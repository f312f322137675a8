"""Move the controls of interactive figures with the keyboard, and see what they do."""

from dataclasses import dataclass

# Note how long a move lasts: from the key to the frame that shows the new picture, decoded.
WATCH = """() => {
    window.moved = new Map()
    let pressed = 0
    addEventListener('keydown', () => { pressed = performance.now() }, true)
    addEventListener('input', async ({target}) => {
        await target.closest('figure').querySelector('img').decode()
        const stop = target.type === 'range' ? Number(target.value) : target.selectedIndex
        requestAnimationFrame(() => moved.set(stop, performance.now() - pressed))
    })
}"""
# What a figure shows once its control is at the stop asked for and the new picture is decoded.
SHOWN = """([figure, control, stop]) => {
    const range = control.type === 'range'
    if ((range ? Number(control.value) : control.selectedIndex) !== stop) return null
    if (stop && !moved.has(stop)) return null
    const image = figure.querySelector('img')
    return image.decode().then(() => ({
        shown: range
            ? control.getAttribute('aria-valuetext')
            : control.selectedOptions[0].textContent,
        beside: range ? control.closest('div').querySelector('output').textContent : null,
        src: image.getAttribute('src'),
        alt: image.alt,
        said: figure.querySelector('.interactive-said').textContent,
        milliseconds: moved.get(stop),
    }))
}"""


@dataclass(frozen=True)
class Walk:
    """A control, moved by the keyboard from its first setting to its last.

    Attributes
    ----------
    name
        What the control is called.
    is_slider
        Whether it is one, or else a menu.
    stops
        What the figure shows at each setting: the control's value as a reader sees or hears it
        and, of a slider, as it stands beside; source and alt text of the picture; and the words
        for those who hear the page.
    """

    name: str
    is_slider: bool
    stops: list

    @property
    def milliseconds(self):
        """How long each move took, from the second setting on."""
        return [stop["milliseconds"] for stop in self.stops[1:]]


def walks(page):
    """Walk every control of every interactive figure of a page, one after another."""
    page.evaluate(WATCH)
    return [
        walk(page, figure, control)
        for figure in page.query_selector_all("figure.interactive")
        for control in figure.query_selector_all("input, select")
    ]


def walk(page, figure, control):
    """Walk one control."""
    is_slider = control.evaluate("control => control.type === 'range'")
    last = control.evaluate("control => Number(control.max ?? control.options.length - 1)")
    control.focus()
    page.evaluate("moved.clear()")
    stops = []
    for stop in range(last + 1):
        page.keyboard.press("Home" if not stop else "ArrowRight" if is_slider else "ArrowDown")
        stops.append(page.wait_for_function(SHOWN, arg=[figure, control, stop]).json_value())
    name = control.evaluate("control => control.labels[0].firstChild.textContent.trim()")
    return Walk(name, is_slider, stops)
