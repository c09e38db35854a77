"use strict";
// Reading needs none of this: everything is listed, and links lead from a claim to its card and on to the source. The
// script keeps claim and passage in sight of each other, lights up what was checked, and filters and sorts.

// The claims of an item: chosen by click or key, filtered, sorted. What is looked up is found once for each item.
const views = new WeakMap();

function viewOf(item) {
  if (!views.has(item)) {
    const links = new Map();
    for (const link of item.querySelectorAll("a.claim")) {
      if (!links.has(link.dataset.claim)) links.set(link.dataset.claim, []);
      links.get(link.dataset.claim).push(link);
    }
    const cards = [...item.querySelectorAll(".card")];
    views.set(item, {
      cards: new Map(cards.map((card) => [card.dataset.claim, card])),
      links,
      pieces: item.querySelectorAll(".piece"),
      texts: new Map(cards.map((card) => [card.dataset.claim, searched(card)])),
      lit: [],
    });
  }
  return views.get(item);
}

function searched(card) {
  return [...card.querySelectorAll(".claim-text, q")].map((text) => text.textContent.toLowerCase()).join("\n");
}

function choose(item, claim) {
  const view = viewOf(item);
  const card = view.cards.get(claim);
  for (const [element, name] of view.lit) element.classList.remove(name);
  view.lit = [];
  if (card.hidden) showAll(item);
  item.querySelector("[aria-current]")?.removeAttribute("aria-current");
  for (const link of view.links.get(claim) ?? []) light(view, link, "current");
  view.links.get(claim)?.[0].setAttribute("aria-current", "true");
  light(view, card, "current");
  const places = { premise: card.dataset.premise, [card.dataset.role]: card.dataset.deciding, instead: card.dataset.instead };
  for (const [name, place] of Object.entries(places)) {
    for (const piece of piecesAt(view, place)) light(view, piece, name);
  }
  const copy = [...card.childNodes].map((node) => node.cloneNode(true));
  const chosen = item.querySelector(".chosen");
  chosen.replaceChildren(...copy);
  chosen.dataset.claim = claim;
  return piecesAt(view, card.dataset.deciding || card.dataset.premise)[0];
}

function light(view, element, name) {
  element.classList.add(name);
  view.lit.push([element, name]);
}

function piecesAt(view, place) {
  const numbers = place ? place.split(" ").map(Number) : [];
  const found = [];
  for (let at = 0; at < numbers.length; at += 2) {
    for (let piece = numbers[at]; piece <= numbers[at + 1]; piece += 1) found.push(view.pieces[piece]);
  }
  return found;
}

// Scrolls a pane to an element of it, and tells where from the pane's top that is going to be.
function scrollInside(pane, element) {
  const offset = element.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  if (offset >= 0 && offset <= pane.clientHeight * 0.8) return offset;
  const most = pane.scrollHeight - pane.clientHeight;
  const top = Math.min(Math.max(pane.scrollTop + offset - pane.clientHeight / 3, 0), most);
  const moved = top - pane.scrollTop;
  pane.scrollTo({ top, behavior: behavior() });
  return offset - moved;
}

function behavior() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}

function showPassage(item, passage) {
  const source = item.querySelector(".source");
  const inside = passage ? scrollInside(source, passage) : 0;
  const place = source.getBoundingClientRect().top + inside;
  if (place < 0 || place > innerHeight * 0.9) {
    item.querySelector(".source-pane").scrollIntoView({ block: "start", behavior: behavior() });
  }
}

function filterClaims(item) {
  const view = viewOf(item);
  const left = new Set([...item.querySelectorAll(".legend input:not(:checked)")].map((box) => box.value));
  const words = item.querySelector(".find").value.trim().toLowerCase();
  let count = 0;
  for (const [claim, card] of view.cards) {
    const fits = !left.has(card.dataset.label) && view.texts.get(claim).includes(words);
    count += fits;
    if (card.hidden !== fits) continue;
    card.hidden = !fits;
    for (const link of view.links.get(claim) ?? []) link.classList.toggle("off", !fits);
  }
  item.querySelector(".shown").textContent = `${count} of ${view.cards.size} claims`;
}

function showAll(item) {
  for (const box of item.querySelectorAll(".legend input")) box.checked = true;
  item.querySelector(".find").value = "";
  filterClaims(item);
}

const ORDERS = {
  place: (one, other) => one.dataset.claim - other.dataset.claim,
  worst: (one, other) => one.dataset.probability - other.dataset.probability || ORDERS.place(one, other),
  best: (one, other) => other.dataset.probability - one.dataset.probability || ORDERS.place(one, other),
};

function sortClaims(item, order) {
  item.querySelector(".cards").replaceChildren(...[...viewOf(item).cards.values()].sort(ORDERS[order]));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest(".item a[href*='-c'], .item a[href*='-s'], .item a[href*='-m'], .verdict a[data-claim]");
  const claim = link?.closest("[data-claim]")?.dataset.claim;
  if (!claim || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const item = document.getElementById(link.dataset.item) ?? link.closest(".item");
  const passage = choose(item, claim);
  if (link.matches(".claim, [data-show]")) {
    event.preventDefault();
    showPassage(item, passage);
  } else if (passage) {
    scrollInside(item.querySelector(".source"), passage);
  }
  const inSummary = viewOf(item).links.get(claim)?.[0];
  if (inSummary) scrollInside(item.querySelector(".marked"), inSummary);
});

document.addEventListener("input", (event) => {
  const item = event.target.closest(".item");
  if (!item) return;
  if (event.target.matches(".sort")) sortClaims(item, event.target.value);
  else filterClaims(item);
});

// The claims of a summary are one stop of the Tab key; arrows, Home and End go from one to another.
document.addEventListener("keydown", (event) => {
  const link = event.target.closest?.("a.claim");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  if (!link || !step) return;
  event.preventDefault();
  const links = [...viewOf(link.closest(".item")).links.values()].map(([first]) => first);
  const open = links.filter((one) => one === link || !one.classList.contains("off"));
  const next = open[Math.min(Math.max(open.indexOf(link) + step, 0), open.length - 1)];
  if (next === link) return;
  next.focus();
  next.click();
});

document.addEventListener("focusin", (event) => {
  if (event.target.matches("a.claim")) makeStop(event.target);
});

function makeStop(link) {
  link.closest(".marked").querySelector("a.claim:not([tabindex])")?.setAttribute("tabindex", "-1");
  link.removeAttribute("tabindex");
}

for (const text of document.querySelectorAll(".marked")) {
  for (const link of [...text.querySelectorAll("a.claim")].slice(1)) link.tabIndex = -1;
}

{% include "items.js" %}
