"use strict";

// Widgets speak MathJax 2, the pages have MathJax 3: hand their calls on, one after another.
// This runs between the page's MathJax settings and MathJax itself, which replaces the object.
{
  let start;
  let last = new Promise((resolve) => { start = resolve; });
  const hub = {
    Queue([, , element]) {
      last = last.then(() => window.MathJax.typesetPromise([element]));
    },
  };
  window.MathJax.Hub = hub;
  window.MathJax.startup = {
    ready() {
      window.MathJax.Hub = hub;
      window.MathJax.startup.defaultReady();
      start(window.MathJax.startup.promise);
    },
  };
}

// What the theme leaves unnamed or names twice, for those who hear the page.
document.addEventListener("DOMContentLoaded", () => {
  // The button has a name; its icons' titles would be read, though nobody sees them.
  for (const icon of document.querySelectorAll(".theme-switch-button [title]")) {
    icon.removeAttribute("title");
  }
  // Its visible text, with the shortcut, is its name.
  for (const button of document.querySelectorAll(".search-button-field")) {
    button.removeAttribute("aria-label");
  }
  for (const logo of document.querySelectorAll(".sidebar-primary-item > .navbar-brand")) {
    logo.parentElement.setAttribute("role", "navigation");
    logo.parentElement.setAttribute("aria-label", "Home");
  }
});

// Widgets: a slider is named by the description beside it, a player's button by its icon.
const nameWidgets = () => {
  for (const slider of document.querySelectorAll(".jupyter-widgets [role=slider]")) {
    const label = slider.closest(".jupyter-widgets").querySelector("label.widget-label");
    label.id ||= crypto.randomUUID();
    slider.setAttribute("aria-labelledby", label.id);
  }
  for (const icon of document.querySelectorAll(".widget-play button > [class*='fa-']")) {
    const name = [...icon.classList].find((word) => word.startsWith("fa-")).slice("fa-".length);
    icon.parentElement.setAttribute("aria-label", name);
  }
};
document.addEventListener("DOMContentLoaded", () => {
  // They are drawn after the page is loaded, and again when they change.
  if (document.querySelector("script[type='application/vnd.jupyter.widget-state+json']")) {
    new MutationObserver(nameWidgets).observe(document.body, { childList: true, subtree: true });
  }
});
