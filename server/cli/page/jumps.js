// What all pages with items do beside that: tools are shown where there is a script, and jumps end where they should.
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
