"use strict";

// Paper is white: on a dark page letters are light, and a printer leaves their ground out.
{
  const { dataset } = document.documentElement;
  let theme;
  addEventListener("beforeprint", () => {
    theme = dataset.theme;
    dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    dataset.theme = theme;
  });
}
