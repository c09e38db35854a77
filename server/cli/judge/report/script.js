"use strict";
// Reading needs none of this: links lead to the passages, and the style sheet lights up what they lead to. The script
// keeps the page where it is, so that claim and passage are seen together, and moves between claims by arrow keys.
const SELECTED = "selected";

function select(item, claim, to) {
  item.dataset[SELECTED] = claim;
  for (const link of item.querySelectorAll("a.claim")) {
    link.ariaCurrent = link.dataset.claim === claim ? "true" : null;
  }
  const pane = item.querySelector(".source");
  const passage = pane.querySelector(`[id="${CSS.escape(item.id)}-${to}${claim}"]`);
  if (!passage) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const behavior = calm ? "auto" : "smooth";
  const offset = passage.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  pane.scrollTo({ top: pane.scrollTop + offset - pane.clientHeight / 3, behavior });
  const box = pane.getBoundingClientRect();
  if (box.top > innerHeight * 0.8 || box.bottom < innerHeight * 0.2) {
    pane.scrollIntoView({ block: "center", behavior });
  }
}

function deciding(item, claim) {
  return item.querySelector(`[id="${CSS.escape(item.id)}-a${claim}"]`) ? "a" : "s";
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-claim]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const item = link.closest(".item");
  select(item, link.dataset.claim, link.dataset.to || deciding(item, link.dataset.claim));
});

document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const link = event.target.closest?.("a.claim");
  if (!link || !step) return;
  event.preventDefault();
  const links = [...link.closest(".item").querySelectorAll("a.claim")];
  const next = links[links.indexOf(link) + step];
  if (!next) return;
  next.focus();
  next.click();
});
