"""Data to evaluate: golden references with machine-written summaries.

With labelled data (RealSumm: news articles, one human reference each, 24 summarizers), several articles make one long
document. So texts have the length that the service is built for. Without, the bundled example stands in.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from precis.v1 import evaluate_pb2 as pb

from scripts.benchmarks.shared.corpus import BUNDLED

REALSUMM = Path("summaries") / "realsumm.jsonl"
ARTICLES = 3  # their references have 10 to 15 sentences
MIN_FACTS, MAX_FACTS = 10, 20
SEED = 11
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9'\"])")
NAME = re.compile(r"\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)+")

Row = Mapping[str, Any]


def evaluation_requests(data: Path) -> Iterator[pb.EvaluateRequest]:
    """Yields requests for ever, in the same order every time; bundled ones repeat."""
    file = data / REALSUMM
    return _from_realsumm(file) if file.is_file() else _bundled()


def _bundled() -> Iterator[pb.EvaluateRequest]:
    document = json.loads(BUNDLED.read_text(encoding="utf-8"))
    while True:
        for candidate in document["candidates"]:
            generated = {key: value for key, value in candidate.items() if key != "name"}
            yield json_format.ParseDict({"datum": document["datum"], "generated": generated}, pb.EvaluateRequest())


def _from_realsumm(file: Path) -> Iterator[pb.EvaluateRequest]:
    by_system: dict[str, list[Row]] = defaultdict(list)
    with file.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            by_system[row["model"]].append(row)
    chooser = random.Random(SEED)
    systems = sorted(by_system)
    while True:
        request = _request(chooser.sample(by_system[chooser.choice(systems)], ARTICLES))
        if len(request.datum.summary.key_facts) >= MIN_FACTS:
            yield request


def _request(rows: Sequence[Row]) -> pb.EvaluateRequest:
    """Joins the articles of one summarizer; every reference sentence is a fact, each first one an outline point."""
    references = [SENTENCE_END.split(" ".join(row["references"])) for row in rows]
    facts = [sentence for reference in references for sentence in reference][:MAX_FACTS]
    gold = pb.GoldStandardSummary(
        main_theme=facts[0],
        summary=" ".join(facts),
        key_facts=facts,
        logical_outline=[reference[0] for reference in references],
        entity_list=sorted({name for fact in facts for name in NAME.findall(fact)}),
    )
    entry = pb.GoldStandardEntry(category="news", text="\n\n".join(row["source"] for row in rows))
    return pb.EvaluateRequest(
        datum=pb.GoldStandardDatum(entry=entry, summary=gold),
        generated=pb.GeneratedSummary(text=" ".join(_finished(row["summary"]) for row in rows)),
    )


def _finished(summary: str) -> str:
    """Ends a summary with a full stop: a cut one would fail the truncation rule and measure nothing."""
    return summary if summary.rstrip().endswith((".", "!", "?")) else f"{summary.rstrip()}."
