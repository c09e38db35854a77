"use strict";
// Reading needs none of this: everything is listed, and links lead from a claim to its card and on to the source. The
// script keeps claim and passage in sight of each other, lights up what was checked, and filters and sorts.
{% include "claims.js" %}
{% include "items.js" %}
for (const tool of document.querySelectorAll("[data-tool]")) tool.hidden = false;

// What is laid out only when it comes into sight may be higher than was guessed, a few frames long: the target of a jump
// is met again in each.
const FRAMES = 8;

function meet(target, frames) {
  target.scrollIntoView();
  if (frames > 1) requestAnimationFrame(() => meet(target, frames - 1));
}

document.addEventListener("click", (event) => {
  const hash = event.target.closest("a[href^='#']")?.hash;
  const target = hash && document.getElementById(hash.slice(1));
  if (target?.matches(".item, .card") && !event.defaultPrevented) requestAnimationFrame(() => meet(target, FRAMES));
});
