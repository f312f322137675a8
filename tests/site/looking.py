"""Questions about formulas, folds and paper, asked of a page that is open in the browser."""

from contextlib import suppress

from built import ROOT
from playwright.sync_api import TimeoutError as PlaywrightTimeout

AXE = (ROOT / ".vendor" / "axe.min.js").read_text("utf-8")
SETTLING = 30_000  # milliseconds; only what is wrong takes so long

LAID_OUT = """width => innerWidth === width && new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))
)"""

# Unfold all, also the comments on the answers of a quiz, and let the page fit what was hidden.
OPEN_ALL = """() => {
    for (const fold of document.querySelectorAll('details.fold')) fold.open = true
    for (const comment of document.querySelectorAll('.quiz .comment p')) comment.hidden = false
    document.querySelector('article')?.dispatchEvent(new Event('change'))
    return new Promise(
        done => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))
    )
}"""

# The formulas of which a reader cannot see a part: it lies behind an edge that cuts it off, or
# beyond the screen, or behind one that scrolls and does not say so.
CUT_FORMULAS = """() => {
    const inReach = math => {
        const lines = [...math.getClientRects()].filter(line => line.width)
        if (lines.length === 0) return true
        const left = Math.min(...lines.map(line => line.left))
        const right = Math.max(...lines.map(line => line.right))
        for (let node = math; node.localName !== 'article'; node = node.parentElement) {
            const edge = node.getBoundingClientRect()
            const {overflowX, display} = getComputedStyle(node)
            if (overflowX === 'visible' || display === 'inline') continue
            if (left >= edge.left - 1 && right <= edge.right + 1) continue
            if (!['auto', 'scroll'].includes(overflowX)) return false
            const frame = node.closest('.math')
            return frame === null || node.tabIndex === 0
                && node.getAttribute('aria-label')?.includes('scrolls')
                && getComputedStyle(frame, '::after').content.includes('›')
        }
        return left >= 0 && right <= innerWidth
    }
    return [...document.querySelectorAll('article mjx-math')].filter(math => !inReach(math))
        .map(math => math.parentElement.querySelector('math').textContent)
}"""

# Signs that begin a line although the formula before them ended the last one.
STRAY_SIGNS = r"""() => {
    const stray = []
    for (const math of document.querySelectorAll('article mjx-container:not([display]) mjx-math')) {
        const container = math.parentElement
        const block = container.closest('p, li, td, th, dd, dt, h1, h2, h3, label, legend')
        if (!block || !math.getClientRects().length) continue
        const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
        texts.currentNode = container
        let text = texts.nextNode()
        while (text && (container.contains(text) || text.data === '')) text = texts.nextNode()
        if (!text || !/^[.,;:!?)\]]/.test(text.data)) continue
        const sign = document.createRange()
        sign.setStart(text, 0)
        sign.setEnd(text, 1)
        const end = [...math.getClientRects()].at(-1)
        const at = sign.getBoundingClientRect()
        if (at.width && (at.left < end.left || at.top > end.bottom))
            stray.push(`${container.querySelector('math').textContent} ${text.data.slice(0, 20)}`)
    }
    return stray
}"""

# How large the formulas in folded text are and how large those outside: sets of percentages.
SIZES = """() => ['details.fold mjx-container', 'mjx-container:not(details.fold *)'].map(
    where => [...new Set([...document.querySelectorAll(`article :is(${where})`)]
        .map(container => container.style.fontSize))]
)"""

# What should not be on paper and is: buttons, sidebars, bars of what is folded, what scrolls.
ON_PAPER = """() => {
    const shown = node => node.getClientRects().length > 0
    const name = node => `${node.localName}.${node.className}`
    const unwanted = 'button, .bd-sidebar, .bd-header, .bd-footer, input[type=range], '
        + 'details.fold:not([open]), details.fold:not([open]) *'
    const scrolling = [...document.querySelectorAll('article *')].filter(node =>
        getComputedStyle(node).overflowX !== 'visible' && node.scrollWidth > node.clientWidth + 1
        && !node.closest('mjx-math, mjx-assistive-mml, .interactive-said, .visually-hidden'))
    return [...[...document.querySelectorAll(unwanted)].filter(shown), ...scrolling].map(name)
}"""
# Code and output whose lines end beyond the right edge of their box.
TOO_LONG = """() => [...document.querySelectorAll('article pre')]
    .filter(pre => pre.checkVisibility() && pre.scrollWidth > pre.clientWidth + 1)
    .map(pre => pre.textContent.slice(0, 80))"""


def left(page, question):
    """Return what a question still finds when the page has come to rest, or patience has ended.

    A page fits its formulas anew when its width has changed, not at once.
    """
    with suppress(PlaywrightTimeout):
        page.wait_for_function(f"() => ({question})().length === 0", timeout=SETTLING)
    return page.evaluate(question)


def toggle(page, fold, how):
    """Click on the right end of a fold's bar, or press a key on it; whether it is open then."""
    bar = fold.query_selector(":scope > summary")
    if how == "click":
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        bar.click(position={"x": box["width"] - 5, "y": box["height"] / 2})
    else:
        bar.focus()
        page.keyboard.press(how)
    return fold.evaluate("fold => fold.open")
