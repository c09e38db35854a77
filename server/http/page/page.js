"use strict";
// Judges and summarizes by the server's own paths. Texts from people, documents and models become text nodes, never markup.
const byId = (id) => document.getElementById(id);
const SYMBOLS = { supported: "✓", partial: "~", unsupported: "✗", unspecified: "?" };
const METRICS = { COVERAGE: "Coverage", ALIGNMENT: "Alignment", HALLUCINATION: "Hallucination", RELEVANCE: "Relevance", BIAS_TOXICITY: "Bias and toxicity" };
const MOST_SHOWN = 4000; // characters of source around a passage
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
  byId("judgement").hidden = true;
  byId("verdict").textContent = "";
  byId("scores").replaceChildren();
  byId("claims").replaceChildren();
  say("Reading claims …");
  for await (const [name, event] of events("/v1/judge/stream", { source, summary, view: "RESULT_VIEW_FULL" }, signal)) {
    byId("judgement").hidden = false;
    if (name === "evidence") showClaims(event.evidence.claims);
    else if (name === "metric") byId("scores").append(...score(event.metric.metric));
    else if (name === "result") showVerdict(event.result);
    say(name === "result" ? "Judged." : "Scoring …");
  }
}

function labelOf(claim) {
  return claim.label.replace("CLAIM_LABEL_", "").toLowerCase();
}

function showClaims(claims) {
  byId("claims").replaceChildren(
    ...claims.map((claim, index) => {
      const label = labelOf(claim);
      const card = element("li", "", `card ${label}`);
      const head = element("p", "", "card-head");
      head.append(element("span", `${SYMBOLS[label] ?? "?"}${index + 1}`, `badge ${label}`), element("b", label));
      head.append(element("span", `probability ${claim.probability.toFixed(2)}`, "numbers"));
      card.append(head, element("p", claim.passage.text, "claim-text"));
      if (claim.support) {
        const passage = element("p", "", "passage");
        passage.append(element("span", label === "supported" ? "supported by " : "closest sentence ", "from"), element("q", claim.support.text));
        card.append(passage);
      }
      return card;
    }),
  );
}

function score(metric) {
  const name = METRICS[metric.name.replace("JUDGE_METRIC_NAME_", "")] ?? metric.name;
  const meter = element("meter");
  const bar = element("dd");
  Object.assign(meter, { min: 0, max: 10, low: 4, high: 7, optimum: 10, value: metric.score ?? 0 });
  meter.setAttribute("aria-label", name);
  bar.append(meter);
  const reason = metric.error || metric.reason || "";
  const number = element("dd", typeof metric.score === "number" ? metric.score.toFixed(2) : "no score");
  number.title = reason;
  return [element("dt", name), bar, number];
}

function showVerdict(result) {
  const claims = result.evidence?.claims ?? [];
  const unsupported = claims.filter((claim) => labelOf(claim) === "unsupported").length;
  const omitted = result.evidence?.omitted_claim_count ?? 0;
  const left = omitted ? ` ${omitted} more were not checked.` : "";
  byId("verdict").textContent = claims.length
    ? `${claims.length} claims were checked against the source: ${unsupported} ${unsupported === 1 ? "is" : "are"} not supported.${left}`
    : "No claim was checked: the summary states nothing, or a text is not English.";
}

async function summarize(signal) {
  const source = byId("source").value;
  const words = byId("words").value;
  byId("written").hidden = true;
  byId("use").hidden = true;
  byId("passage").textContent = "Choose a sentence.";
  say("Planning …");
  const options = words ? { target_words: Number(words) } : {};
  const body = { document: { text: source }, options, include_text: true, include_draft: true };
  for await (const [name, { event }] of events("/v1/summarize", body, signal)) {
    byId("written").hidden = false;
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
  const [text, origin] = [Array.from(summary.text), Array.from(source)]; // places count code points
  const parts = [];
  let end = 0;
  for (const citation of summary.citations) {
    parts.push(text.slice(end, citation.start).join(""));
    parts.push(sentence(text.slice(citation.start, citation.end).join(""), citation, origin));
    end = citation.end;
  }
  parts.push(text.slice(end).join(""));
  byId("text").replaceChildren(...parts);
  byId("use").hidden = !summary.text;
  byId("use").onclick = () => {
    byId("summary").value = summary.text;
    byId("judge").focus();
  };
  const isDone = summary.status === "SUMMARY_STATUS_DONE";
  const flaws = summary.trust?.flaw_count ? ` Flawed in ${summary.trust.flaw_count} places: see its end.` : "";
  say(isDone ? `Written by ${summary.writer}.${flaws}` : `Partial. ${summary.failure?.message ?? ""}`, !isDone);
}

const SUPPORT = {
  CITATION_SUPPORT_VERBATIM: ["verbatim", "word for word"],
  CITATION_SUPPORT_SUPPORTED: ["supported", "supported"],
  CITATION_SUPPORT_MARKED: ["unsupported", "not supported"],
};

function sentence(words, citation, origin) {
  const [className, said] = SUPPORT[citation.support] ?? ["unread", "not compared"];
  const link = element("a", words, `claim ${className}`); // a button would not flow with the text
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
byId("stop").addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("texts").requestSubmit(byId("judge"));
  else if (event.key === "Escape") running?.abort();
});
