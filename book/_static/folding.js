"use strict";

// What the browser does not do for folded text by itself: one button for the whole page, links that
// open what they lead to, and keys for code that scrolls.
document.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector(".fold-switch");
  if (button) {
    // Solutions stay as they are: who opens all of the code has not asked for the answers.
    const folds = [...document.querySelectorAll("details.fold-code, details.fold-proof")];
    const say = () => {
      button.setAttribute("aria-pressed", String(folds.every((fold) => fold.open)));
    };
    button.addEventListener("click", () => {
      const open = !folds.every((fold) => fold.open);
      for (const fold of folds) {
        fold.open = open;
      }
      say();
    });
    for (const fold of folds) {
      fold.addEventListener("toggle", say);
    }
    button.hidden = false;
  }

  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let fold = target?.closest("details.fold:not([open])");
    if (!fold) {
      return;
    }
    while (fold) {
      fold.open = true;
      fold = fold.parentElement.closest("details.fold:not([open])");
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  // A second click on a link does not change the address.
  document.addEventListener("click", ({ target }) => {
    if (target.closest("a[href*='#']")?.href === location.href) {
      openTarget();
    }
  });
  openTarget();

  // The theme gives code that scrolls a stop for the keyboard, and finds none in what is folded.
  document.addEventListener("toggle", ({ target }) => {
    for (const code of target.querySelectorAll("pre")) {
      code.tabIndex = code.scrollWidth > code.clientWidth ? 0 : -1;
    }
  }, true);
});
