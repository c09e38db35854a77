"use strict";
// Reading needs none of this: everything is listed, and links lead from a sentence to what it was compared with.

const PAGE = 50; // items shown whole at a time

// The items of a bulk run: the table is filtered and sorted, and items that are filtered out are not shown below either.
function setUpIndex(index) {
  const body = index.querySelector(".items tbody");
  const rows = [...body.rows].map((row) => ({
    row,
    item: document.getElementById(row.querySelector("a")?.hash.slice(1)),
    name: row.cells[0].textContent.toLowerCase(),
    low: Math.min(...[...row.querySelectorAll(".low-cell")].map(numberIn).filter((score) => !Number.isNaN(score))),
    high: numberIn(row.querySelector(".high-cell")),
    statuses: row.dataset.statuses.split("|"),
    category: `=${row.dataset.category}`,
  }));
  const headings = [...index.querySelectorAll(".items thead th")];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sortItems(body, rows, headings, column));
  });
  const more = document.createElement("button");
  more.type = "button";
  more.className = "more-items";
  document.querySelector("main").append(more);
  let limit = PAGE;
  const show = () => filterItems(index, rows, limit, more);
  more.addEventListener("click", () => {
    limit += PAGE;
    show();
  });
  index.addEventListener("input", show);
  show();
}

function numberIn(cell) {
  return parseFloat(cell.textContent);
}

function filterItems(index, rows, limit, more) {
  const value = (name) => index.querySelector(`.tools .${name}`)?.value ?? "";
  const [words, status, most, least] = [value("find").trim().toLowerCase(), value("status"), value("at-most"), value("at-least")];
  const chosen = value("category");
  let [count, whole] = [0, 0];
  for (const { row, item, name, low, high, statuses, category } of rows) {
    const fits =
      name.includes(words) &&
      (!status || statuses.includes(status)) &&
      (!chosen.startsWith("=") || category === chosen) &&
      (most === "" || low <= Number(most)) &&
      (least === "" || high >= Number(least));
    count += fits;
    row.hidden = !fits;
    if (!item) continue;
    whole += fits;
    item.hidden = !fits || whole > limit;
  }
  more.hidden = whole <= limit;
  more.textContent = `Show more: ${limit} of ${whole} items are shown whole`;
  index.querySelector(".shown").textContent = `${count} of ${rows.length} items`;
}

// Up, down, then as it was. What is no number comes last.
function sortItems(body, rows, headings, column) {
  const next = { ascending: "descending", descending: "none" }[headings[column].ariaSort] ?? "ascending";
  for (const heading of headings) heading.ariaSort = null;
  headings[column].ariaSort = next === "none" ? null : next;
  const sign = next === "descending" ? -1 : 1;
  const keyed = rows.map(({ row }) => ({ row, text: row.cells[column].textContent, number: numberIn(row.cells[column]) }));
  const isText = column === 0 || keyed.every(({ number }) => Number.isNaN(number));
  const compare = isText
    ? (one, other) => sign * one.text.localeCompare(other.text, undefined, { numeric: true })
    : (one, other) => Number.isNaN(one.number) - Number.isNaN(other.number) || sign * (one.number - other.number) || 0;
  if (next !== "none") keyed.sort(compare);
  body.replaceChildren(...keyed.map(({ row }) => row));
}

const index = document.getElementById("index");
if (index) setUpIndex(index);
reach(document.getElementById(location.hash.slice(1)));

// What all pages with items do beside that: tools are shown where there is a script, and jumps end where they should.
for (const tool of document.querySelectorAll("[data-tool]")) tool.hidden = false;

// What is laid out only when it comes into sight may be higher than was guessed, a few frames long: the target of a jump
// is met again in each.
const FRAMES = 8;

// An item that is on no page yet is shown when a link leads to it.
function reach(target) {
  const item = target?.closest(".item");
  if (item) item.hidden = false;
}

function meet(target, frames) {
  target.scrollIntoView();
  if (frames > 1) requestAnimationFrame(() => meet(target, frames - 1));
}

document.addEventListener("click", (event) => {
  const hash = event.target.closest("a[href^='#']")?.hash;
  const target = hash && document.getElementById(hash.slice(1));
  if (!target?.matches(".item, .card") || event.defaultPrevented) return;
  reach(target);
  requestAnimationFrame(() => meet(target, FRAMES));
});
