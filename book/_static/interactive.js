"use strict";

// Interactive figures without a kernel: the inputs pick one of the pictures that the page holds.
document.addEventListener("DOMContentLoaded", () => {
  for (const figure of document.querySelectorAll("figure.interactive")) {
    const { shown, states, pictures, width } = JSON.parse(
      figure.querySelector("script").textContent,
    );
    const inputs = [...figure.querySelectorAll("input, select")];
    const image = figure.querySelector("img");
    const said = figure.querySelector(".interactive-said");

    const show = () => {
      let state = 0;
      inputs.forEach((input, i) => {
        const at = input.type === "range" ? Number(input.value) : input.selectedIndex;
        state = state * shown[i].length + at;
        if (input.type === "range") {
          input.setAttribute("aria-valuetext", shown[i][at]);
          input.closest("div").querySelector("output").textContent = shown[i][at];
        }
      });
      const picture = pictures[states[state]];
      [image.src, image.alt, image.width, image.height] = picture;
      image.style.width = `${(100 * image.getAttribute("width")) / width}%`;
      said.textContent = image.alt;
    };

    for (const input of inputs) {
      input.addEventListener("input", show);
    }
    // Hidden until now: without this script they would move nothing.
    figure.querySelector(".interactive-controls").hidden = false;
  }
});
