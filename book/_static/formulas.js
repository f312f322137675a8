"use strict";

// Formulas on narrow screens and at the ends of lines. MathJax lays each out as one box that never
// breaks, so a formula can be wider than its column, and a line can break between it and its comma.
(() => {
  const OPENING = /[([{"'“‘]+$/;
  const CLOSING = /^(?:-(?:th|s)\b)?[.,;:!?%)\]}"'’”…]*/;

  // The part of a text that matches, as a node of its own.
  const cut = (text, pattern) => {
    const found = text?.nodeType === Node.TEXT_NODE && text.data.match(pattern);
    if (!found?.[0]) {
      return null;
    }
    if (found.index) {
      return text.splitText(found.index);
    }
    text.splitText(found[0].length);
    return text;
  };

  // No line begins with what closes after a formula, or ends with what opens before it.
  const keepTogether = (formula) => {
    const around = formula.parentElement;
    if (around.matches("em, strong") && formula === around.lastChild) {
      const after = cut(around.nextSibling, CLOSING);
      if (after) {
        around.append(after);
      }
    }
    const before = cut(formula.previousSibling, OPENING);
    const after = cut(formula.nextSibling, CLOSING);
    if (before || after) {
      const together = document.createElement("span");
      together.className = "formula";
      formula.before(together);
      together.append(...[before, formula, after].filter(Boolean));
    }
  };

  // Where to break a formula, from the best places to the worst: where a wide space parts it, after
  // a relation, after a sign between two terms, after a comma. The space that MathJax leaves around
  // a sign says which it is; a bar, "given", is a relation that holds together what it parts.
  const space = (node) => Number(node.getAttribute("space") ?? 0);
  const isSign = (node) => node?.localName === "mjx-mo";
  const afterSpace = ({ previousElementSibling: before }) => {
    const wide = before?.localName === "mjx-mstyle" && before.querySelector("mjx-mspace");
    return wide && parseFloat(wide.style.width) >= 1;
  };
  const afterSign = (wide) => (node) => {
    const sign = node.previousElementSibling;
    return isSign(sign) && space(sign) === wide && space(node) === wide
      && !sign.querySelector(".mjx-c2223");
  };
  const afterComma = ({ previousElementSibling: sign }) => (
    isSign(sign) && sign.querySelector(".mjx-c2C")
  );
  const PLACES = [afterSpace, afterSign(4), afterSign(3), afterComma];

  // The width of the column that a part of a line stands in.
  const room = (node) => {
    let block = node.parentElement;
    while (getComputedStyle(block).display.startsWith("inline")) {
      block = block.parentElement;
    }
    const style = getComputedStyle(block);
    return block.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  };

  // A formula in the page: `frame` is the element that holds it, `scroller` the one that scrolls if
  // need be.
  const parts = (container) => {
    const math = container.querySelector("mjx-math");
    const frame = container.closest(".math") ?? container;
    if (container.hasAttribute("display")) {
      const isTooWide = () => container.scrollWidth > container.clientWidth + 1;
      return { math, frame, scroller: container, isTooWide };
    }
    const whole = frame.closest(".formula") ?? frame;
    const isTooWide = () => {
      const most = room(whole) + 1;
      return [...whole.getClientRects()].some((line) => line.width > most);
    };
    return { math, frame, scroller: frame, isTooWide };
  };

  const reset = ({ math, frame }) => {
    frame.classList.remove("breaks", "scrolls");
    for (const place of math.querySelectorAll("wbr")) {
      place.remove();
    }
  };

  // A formula that is wider than its column continues on the next line; if it has no place for a
  // break, it scrolls.
  const fit = ({ math, frame, isTooWide }) => {
    frame.classList.add("breaks");
    for (const place of PLACES) {
      for (const node of [...math.children].filter(place)) {
        node.before(document.createElement("wbr"));
      }
      if (!isTooWide()) {
        return;
      }
    }
    reset({ math, frame });
    frame.classList.add("scrolls");
  };

  // What scrolls says so, and on which side it goes on.
  const say = ({ frame, scroller }) => {
    const { scrollLeft, scrollWidth, clientWidth } = scroller;
    const hidden = frame.classList.contains("scrolls") ? scrollWidth - clientWidth : 0;
    frame.classList.toggle("more-before", hidden > 1 && scrollLeft > 1);
    frame.classList.toggle("more-after", hidden - scrollLeft > 1);
    if (hidden > 1) {
      scroller.tabIndex = 0;
      scroller.setAttribute("role", "group");
      scroller.setAttribute("aria-label", "Formula, scrolls sideways");
    } else {
      scroller.removeAttribute("role");
      scroller.removeAttribute("aria-label");
    }
  };

  addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    const article = document.querySelector("article");
    if (!article) {
      return;
    }
    const containers = [...article.querySelectorAll("mjx-container")];
    for (const container of containers.filter((one) => !one.hasAttribute("display"))) {
      keepTogether(container.closest("span.math") ?? container);
    }
    // A table grows with what is in it, and scrolls as a whole.
    const formulas = containers.filter((one) => !one.closest("td, th")).map(parts);
    for (const formula of formulas) {
      formula.scroller.addEventListener("scroll", () => say(formula), { passive: true });
    }
    const fitAll = () => {
      formulas.forEach(reset);
      formulas.filter(({ isTooWide }) => isTooWide()).forEach(fit);
      formulas.forEach(say);
    };
    // When the column gets another width, and when what had none is shown: a fold or an answer. A
    // page that has just become wider may still be on its way, so its formulas are fitted again when
    // it has been shown.
    let width = 0;
    new ResizeObserver(() => {
      if (article.clientWidth !== width) {
        width = article.clientWidth;
        fitAll();
        requestAnimationFrame(() => requestAnimationFrame(fitAll));
      }
    }).observe(article);
    article.addEventListener("toggle", fitAll, true);
    article.addEventListener("change", fitAll);
  });
})();
