"""Benchmark: a manual of 350 pages summarized without a language model, by the extractive writer and the real models.

A real `precis serve` with its default settings cuts the text and summarizes it. The Debian administrator's handbook
(GPL-2+ or CC BY-SA 3.0) is not part of the project; --data names the folder that holds it.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from precis.v1 import summarize_pb2 as pb

from pipeline.reading.terms import TermKind
from scripts.benchmarks.shared.corpus import MANUAL
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Figure, Report, Target
from scripts.benchmarks.summaries.served_summary import ServedSummary, summarize

TITLE = "handbook: share of the distinct terms of each call's input that its output has; summary: of the book's"
QUICK_CHARS = 300_000  # a quarter of the book
SECONDS_PER_MINUTE = 60
KINDS = (TermKind.NUMBER, TermKind.UNIT, TermKind.PART_NUMBER)
TARGETS = (
    *(Target(f"map_{kind}", 0.95) for kind in KINDS),
    Target("compression", 0.2, at_least=False),
)


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Summarizes the handbook, or says that it is not there."""
    file = data / MANUAL
    if not file.is_file():
        missing = f"not measured: no {file}; name its folder with --data"
        return Report(TITLE, ("stage",), [[missing]], {"minutes": None}, TARGETS)
    text = file.read_text(encoding="utf-8")
    text = text[:QUICK_CHARS] if quick else text
    document = pb.Document(document_id="handbook", name="Handbook", text=text)
    with TemporaryDirectory(prefix="precis-bench-") as folder:
        settings = {"PRECIS_SUMMARY_STORAGE__DIRECTORY": folder}
        with PrecisServer(models, settings) as server:
            served = asyncio.run(summarize(server, document))
    return _report(served)


def _report(served: ServedSummary) -> Report:
    summary = served.summary
    stages = {f"{one.stage} {one.level}" if one.level else one.stage: one.retention for one in summary.stages}
    stages["summary"] = summary.retention
    figures: dict[str, Figure] = {
        "minutes": served.wall_s / SECONDS_PER_MINUTE,
        "cpu_minutes": served.cpu_s / SECONDS_PER_MINUTE,
        "added_mb": served.added_mb,
        "first_event_ms": served.first_event_ms,
        "calls": summary.calls_done,
        "planned_calls": served.planned_calls,
        "input_tokens": summary.input_tokens,
        "output_tokens": summary.output_tokens,
        "compression": summary.output_tokens / summary.input_tokens,
        "map_share": stages["map"].share,
        "final_share": summary.retention.share,
    }
    for stage, name in (("map", "map"), ("summary", "final")):
        figures |= {f"{name}_{kind}": share for kind, share in _shares(stages[stage]).items()}
    kinds = [one.kind for one in summary.retention.kinds]
    return Report(
        title=TITLE,
        columns=("stage", *(kind.replace("_", " ") for kind in kinds), "all"),
        rows=[
            [name, *(f"{one:.3f}" for one in _shares(stages[name]).values()), f"{stages[name].share:.3f}"]
            for name in stages
        ],
        figures=figures,
        targets=TARGETS,
    )


def _shares(retention: pb.Retention) -> dict[str, float]:
    """Returns the share of each kind of term that was kept; 1 if there was nothing to keep."""
    return {one.kind: one.kept_count / one.input_count if one.input_count else 1.0 for one in retention.kinds}
