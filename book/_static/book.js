"use strict";

// What the theme leaves unnamed or names twice, for those who hear the page. This runs when the
// page is parsed and before any deferred script, one of which draws the icons with their titles.
document.addEventListener("readystatechange", () => {
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
}, { once: true });
