"use strict";
// Judges and summarizes by the server's own paths. Texts from people, documents and models become text nodes, never markup.
const byId = (id) => document.getElementById(id);
const SYMBOLS = { supported: "✓", partial: "~", unsupported: "✗", unspecified: "?" };
const METRICS = { COVERAGE: "Coverage", ALIGNMENT: "Alignment", HALLUCINATION: "Hallucination", RELEVANCE: "Relevance", BIAS_TOXICITY: "Bias and toxicity" };
const COUNTING = ["SCORED", "PARTIAL", "NO_CLAIMS"]; // statuses with a score that counts
const MOST_SHOWN = 4000; // characters of source around a passage
const PAGE = 50; // claims shown at a time
const MOST_BYTES = 32 * 1024 * 1024; // of a file
const EXAMPLE = {
  source: "The town council met on Monday. The harbour bridge will close for nine months from March. Repairs cost 4.2 million dollars. A ferry runs every hour meanwhile, and takes 18 minutes.",
  summary: "The harbour bridge will close for nine months. Repairs cost 42 million dollars. Meanwhile a ferry runs every hour.",
};
let running = null;

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function say(text, hasFailed = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("failed", hasFailed);
}

// Events of the server, one after another; data of an event is one line of JSON.
async function* events(path, body, signal) {
  const headers = { "content-type": "application/json" };
  const key = byId("key").value.trim();
  if (key) headers.authorization = `Bearer ${key}`;
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  if (response.status === 401) askForKey();
  if (!response.ok) throw new Error(problemText(await response.json()));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [name, data] = block.split("\n").map((line) => line.slice(line.indexOf(":") + 2));
      if (name === "error") throw new Error(problemText(JSON.parse(data)));
      yield [name, JSON.parse(data)];
    }
  }
}

function askForKey() {
  byId("key-field").hidden = false;
  byId("key").focus();
}

// Shows one result, in place of the other, and brings it into view.
function reveal(id) {
  for (const section of ["judgement", "written"]) byId(section).hidden = section !== id;
  byId("status").scrollIntoView({ block: "start" });
}

function download(name, text, type) {
  const link = element("a");
  Object.assign(link, { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function open(file, id) {
  if (!file) return;
  const text = file.size > MOST_BYTES ? "" : await file.text();
  if (!text || text.includes("\0")) {
    say(`${file.name} is no text, or longer than 32 MiB. The command line reads PDF, HTML, DOCX and more.`, true);
    return;
  }
  byId(id).value = text;
  say(`${file.name}: ${text.length.toLocaleString()} characters.`);
}

function problemText(problem) {
  const broken = (problem.violations ?? []).map((one) => `${one.field}: ${one.description}`);
  return broken.join("; ") || problem.detail || problem.title || "The server refused.";
}

async function run(work) {
  running?.abort();
  const mine = (running = new AbortController());
  byId("stop").hidden = false;
  try {
    await work(mine.signal);
  } catch (error) {
    if (running === mine) say(mine.signal.aborted ? "Stopped." : `It failed. ${error.message}`, !mine.signal.aborted);
  } finally {
    if (running === mine) {
      running = null;
      byId("stop").hidden = true;
    }
  }
}

async function judge(signal) {
  const [source, summary] = [byId("source").value, byId("summary").value];
  byId("verdict").textContent = "";
  byId("scores").replaceChildren();
  showClaims([]);
  byId("save-judgement").hidden = true;
  say("Reading claims …");
  reveal("judgement");
  for await (const [name, event] of events("/v1/judge/stream", { source, summary, view: "RESULT_VIEW_FULL" }, signal)) {
    if (name === "evidence") showClaims(event.evidence.claims);
    else if (name === "metric") byId("scores").append(score(event.metric.metric));
    else if (name === "result") showVerdict(event.result);
    say(name === "result" ? "Judged." : "Scoring …");
  }
}

const word = (value, prefix) => value.replace(prefix, "").replaceAll("_", " ").toLowerCase();

function labelOf(claim) {
  return word(claim.label, "CLAIM_LABEL_");
}

function showClaims(claims, shown = PAGE) {
  byId("claims").replaceChildren(...claims.slice(0, shown).map(card));
  byId("more").hidden = claims.length <= shown;
  byId("more").textContent = `Show more: ${shown} of ${claims.length} are shown`;
  byId("more").onclick = () => showClaims(claims, shown + PAGE);
}

function card(claim, index) {
  const label = labelOf(claim);
  const made = element("li", "", `card ${label}`);
  const head = element("p", "", "card-head");
  head.append(element("span", `${SYMBOLS[label] ?? "?"}${index + 1}`, `badge ${label}`), element("b", label));
  head.append(element("span", `probability ${claim.probability.toFixed(2)}`, "numbers"));
  made.append(head, claimText(claim), ...claim.mismatches.map(difference));
  if (claim.support) {
    const isAgainst = label !== "supported" && claim.contradiction > Math.max(claim.probability, 0.5);
    const said = label === "supported" ? "supported by " : isAgainst ? "contradicted by " : "closest sentence ";
    made.append(quoted("p", "passage", said, claim.support.text));
  }
  if (claim.premise && claim.premise.text !== claim.support?.text) {
    const passage = element("details", "", "premise");
    passage.append(element("summary", "The passage that was checked"), element("p", claim.premise.text));
    made.append(passage);
  }
  return made;
}

function quoted(name, className, said, text) {
  const made = element(name, "", className);
  made.append(element("span", said, "from"), element("q", text));
  return made;
}

// A claim, with the words that the source does not support. Places count code points.
function claimText(claim) {
  const letters = Array.from(claim.passage.text);
  const made = element("p", "", "claim-text");
  let end = 0;
  for (const span of claim.unsupported) {
    const [from, to] = [span.start - claim.passage.start, span.end - claim.passage.start];
    if (from < end) continue;
    made.append(letters.slice(end, from).join(""), element("em", letters.slice(from, to).join(""), "doubt"));
    end = to;
  }
  made.append(letters.slice(end).join(""));
  return made;
}

// A value of the claim beside that of the source.
function difference({ kind, claim, source }) {
  const made = element("p", "", "doubt-line");
  made.append(element("span", `${word(kind, "MISMATCH_KIND_")} `, "from"), element("em", claim.text, "doubt"));
  made.append(source ? ": the source has " : ": the source has nothing like it");
  if (source) made.append(element("q", source.text));
  return made;
}

// A score as in the reports: its bar, what is special about it, and behind it why.
function score(metric) {
  const status = metric.status.replace("JUDGE_METRIC_STATUS_", "");
  const counts = COUNTING.includes(status) && typeof metric.score === "number";
  const made = element("details", "", counts ? "metric" : "metric aside");
  const head = element("summary");
  const name = METRICS[metric.name.replace("JUDGE_METRIC_NAME_", "")] ?? metric.name;
  const number = typeof metric.score === "number" ? metric.score.toFixed(2) : "–";
  head.append(element("span", name, "metric-name"), element("span", number, "metric-score"), bar(metric.score, counts));
  const caps = metric.caps.filter((cap) => cap.lowered && ["", "score"].includes(cap.applies_to));
  const remarks = [
    status === "SCORED" ? "" : status.replaceAll("_", " ").toLowerCase(),
    caps.length ? `capped at ${Math.min(...caps.map((cap) => cap.limit)).toFixed(2)}` : "",
    typeof metric.confidence === "number" ? `confidence ${metric.confidence.toFixed(2)}` : "",
  ];
  const shown = element("span", "", "remarks");
  shown.append(...remarks.filter(Boolean).map((remark) => element("span", remark, "remark")));
  head.append(shown);
  const why = element("div", "", "why");
  why.append(element("p", metric.error || metric.reason || "Nothing was said."));
  const untold = metric.caps.filter((cap) => !metric.reason?.includes(cap.reason));
  why.append(...untold.map((cap) => element("p", `Limit ${cap.limit.toFixed(2)}: ${cap.reason}`, "from")));
  made.append(head, why);
  return made;
}

function bar(score, counts) {
  const drawn = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const has = typeof score === "number";
  const label = has ? `${score.toFixed(2)} of 10` : "no score";
  const made = drawn("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label });
  const kind = !counts ? "" : score >= 7 ? "supported" : score >= 4 ? "partial" : "unsupported";
  made.append(drawn("rect", { class: "bar-track", x: 0, y: 0, width: 100, height: 10 }));
  if (has) made.append(drawn("rect", { class: `bar-fill ${kind}`, x: 0, y: 0, width: 10 * score, height: 10 }));
  return made;
}

function showVerdict(result) {
  const claims = result.evidence?.claims ?? [];
  const unsupported = claims.filter((claim) => labelOf(claim) === "unsupported").length;
  const omitted = result.evidence?.omitted_claim_count ?? 0;
  const left = omitted ? ` ${omitted} more were not checked.` : "";
  const isForeign = JSON.stringify(result.frameworks).includes("STATUS_UNSUPPORTED_LANGUAGE");
  const none = isForeign ? "a text is not English, and other languages are not scored." : "the summary states nothing that can be checked.";
  byId("verdict").textContent = claims.length
    ? `${claims.length} ${claims.length === 1 ? "claim was" : "claims were"} checked against the source: ${unsupported} ${unsupported === 1 ? "is" : "are"} not supported.${left}`
    : `No claim was checked: ${none}`;
  byId("save-judgement").hidden = false;
  byId("save-judgement").onclick = () => download("judgement.json", JSON.stringify(result, null, 2), "application/json");
}

async function summarize(signal) {
  const source = byId("source").value;
  const words = byId("words").value;
  byId("use").hidden = byId("save-summary").hidden = true;
  byId("text").replaceChildren();
  byId("text").classList.add("draft");
  byId("passage").textContent = "Choose a sentence.";
  say("Planning …");
  reveal("written");
  const options = words ? { target_words: Number(words) } : {};
  const body = { document: { text: source }, options, include_text: true, include_draft: true };
  for await (const [name, { event }] of events("/v1/summarize", body, signal)) {
    if (name === "summary") return showSummary(event.summary, source);
    const progress = event[name]?.progress;
    if (progress) say(`${progress.phase.replace("SUMMARY_PHASE_", "").toLowerCase()}: ${progress.calls_done} of ${progress.calls_total} calls`);
    if (name === "draft") showDraft(event.draft);
    else if (event[name]?.text) byId("text").textContent = event[name].text;
  }
}

function showDraft({ text = "", begins_anew, is_checked }) {
  if (begins_anew) byId("text").textContent = "";
  byId("text").append(text);
  say(is_checked ? "Checked. The critic reads it." : "Writing: a draft, not checked yet.");
}

function showSummary(summary, source) {
  byId("text").classList.remove("draft");
  byId("text").replaceChildren(...rendered(summary, Array.from(source)));
  byId("use").hidden = byId("save-summary").hidden = !summary.text;
  byId("use").onclick = () => {
    byId("summary").value = summary.text;
    run(judge);
  };
  byId("save-summary").onclick = () => download("summary.md", summary.text, "text/markdown");
  const isDone = summary.status === "SUMMARY_STATUS_DONE";
  const flaws = summary.trust?.flaw_count ? ` Flawed in ${summary.trust.flaw_count} places: see its end.` : "";
  byId("text").title = summary.writer;
  say(isDone ? `Written by ${summary.writer.split("/")[0]}. Choose a sentence to see where it stands.${flaws}` : `Partial. ${summary.failure?.message ?? ""}`, !isDone);
}

// The Markdown of summaries: headings, lists, code, bold words. All of it becomes text nodes, its sentences links.
function rendered(summary, origin) {
  const letters = Array.from(summary.text); // places count code points
  const blocks = [];
  let [start, list, code] = [0, null, null];
  for (const line of summary.text.split("\n")) {
    const end = start + Array.from(line).length;
    const [mark] = /^(#{1,6} |[-*] |\d+[.)] )?/.exec(line);
    const inner = () => inline(letters, start + mark.length, end, summary.citations, origin);
    const item = mark && !mark.startsWith("#") ? element("li") : null;
    if (!item || list?.tagName !== (/\d/.test(mark) ? "OL" : "UL")) list = null;
    if (line.startsWith("```")) code = code ? null : element("pre");
    else if (code) code.append(`${line}\n`);
    else if (item) {
      if (!list) blocks.push((list = element(/\d/.test(mark) ? "ol" : "ul")));
      if (list.tagName === "OL") item.value = parseInt(mark, 10);
      item.append(...inner());
      list.append(item);
    } else if (line.trim()) {
      const block = element(mark ? "h4" : "p");
      block.append(...inner());
      blocks.push(block);
    }
    if (code && !code.parentNode && !blocks.includes(code)) blocks.push(code);
    start = end + 1;
  }
  return blocks;
}

function inline(letters, start, end, citations, origin) {
  const parts = [];
  let [at, isBold, isCode] = [start, false, false];
  const words = (to) => {
    const pieces = letters.slice(at, to).join("").split(/(\*\*|`)/);
    at = to;
    return pieces.flatMap((piece) => {
      if (piece === "`") isCode = !isCode;
      else if (piece === "**" && !isCode) isBold = !isBold;
      else if (piece) return [isCode ? element("code", piece) : isBold ? element("b", piece) : piece];
      return [];
    });
  };
  for (const citation of citations) {
    if (citation.end <= at || citation.start >= end) continue;
    parts.push(...words(Math.max(at, citation.start)));
    parts.push(sentence(words(Math.min(end, citation.end)), citation, origin));
  }
  return [...parts, ...words(end)];
}

const SUPPORT = {
  CITATION_SUPPORT_VERBATIM: ["verbatim", "word for word"],
  CITATION_SUPPORT_SUPPORTED: ["supported", "supported"],
  CITATION_SUPPORT_MARKED: ["unsupported", "not supported"],
};

function sentence(words, citation, origin) {
  const [className, said] = SUPPORT[citation.support] ?? ["unread", "not compared"];
  const link = element("a", "", `claim ${className}`); // a button would not flow with the text
  link.append(...words);
  Object.assign(link, { href: "#passage", title: said });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    byId("text").querySelector("[aria-current]")?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    showPassage(said, citation.places, origin);
  });
  return link;
}

function showPassage(said, places, origin) {
  const parts = [element("p", `This sentence is ${said}${places.length ? ":" : "; nothing in the source speaks of it."}`, "from")];
  for (const place of places) {
    const [start, end] = [place.document_start, place.document_start + place.end - place.start];
    const around = element("p");
    const mark = element("mark", origin.slice(start, end).join(""));
    around.append(origin.slice(Math.max(0, start - MOST_SHOWN / 10), start).join(""), mark);
    around.append(origin.slice(end, end + MOST_SHOWN / 10).join(""));
    parts.push(around);
  }
  byId("passage").replaceChildren(...parts);
  byId("passage").querySelector("mark")?.scrollIntoView({ block: "nearest" });
}

byId("texts").addEventListener("submit", (event) => {
  event.preventDefault();
  const isSummary = event.submitter?.value === "summarize";
  if (!isSummary && !byId("summary").value.trim()) {
    say("Write or paste a summary to judge.", true);
    byId("summary").focus();
    return;
  }
  run(isSummary ? summarize : judge);
});
byId("example").addEventListener("click", () => {
  for (const [id, text] of Object.entries(EXAMPLE)) byId(id).value = text;
  run(judge);
});
for (const input of document.querySelectorAll("input[data-into]")) {
  input.addEventListener("change", () => open(input.files[0], input.dataset.into));
}
for (const id of ["source", "summary"]) {
  const isFile = (event) => event.dataTransfer?.types.includes("Files");
  const light = (event, isOver) => {
    if (!isFile(event)) return;
    event.preventDefault();
    byId(id).classList.toggle("over", isOver);
  };
  byId(id).addEventListener("dragover", (event) => light(event, true));
  byId(id).addEventListener("dragleave", (event) => light(event, false));
  byId(id).addEventListener("drop", (event) => {
    light(event, false);
    if (isFile(event)) open(event.dataTransfer.files[0], id);
  });
}
byId("stop").addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("texts").requestSubmit(byId("judge"));
  else if (event.key === "Escape") running?.abort();
});
