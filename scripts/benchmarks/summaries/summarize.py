"""Benchmark: what summaries cost besides the language model, against a scripted endpoint with a fixed latency.

The endpoint is a real HTTP server in a process of its own that counts every request. What is measured here runs as in
`precis serve`: same summarizer, storage, client and event loop.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import uvloop

from pipeline.reading.rules import without as switched_off
from scripts.benchmarks.shared.corpus import ROOT, source_text
from scripts.benchmarks.shared.report import Figure, Report, Target
from scripts.benchmarks.summaries.bench import Documents, open_bench
from scripts.benchmarks.summaries.cited_sentences import measure_citations
from scripts.benchmarks.summaries.counts import (
    count_calls,
    count_edits,
    count_second_iteration,
    measure_faults,
)
from scripts.benchmarks.summaries.endpoint_process import EndpointProcess, scripted
from scripts.benchmarks.summaries.lies import measure_lies
from scripts.benchmarks.summaries.quality import measure_quality
from scripts.benchmarks.summaries.series import LATENCY_S, Load, Series, measure_series
from scripts.benchmarks.summaries.served_summary import measure_served
from server.run import spared

CHUNKS, EVEN_CHUNKS = 1_403, 1_400  # the last of 201 batches holds 3 chunks
# All chunks are then different: what is said twice is left out once, and an edit changes where.
SOURCE_CHARS = 1_200_000
WARM_UP_CHUNKS, WARM_UP_CONCURRENCY = 448, 64
FAULTS, FAULTS_QUICK = (CHUNKS, 2), (700, 1)  # chunks, and a seed with which nearly 30% of the requests fail
# The largest first: memory that it took is not taken again.
FULL = (Load(64, CHUNKS, 3), Load(32, CHUNKS, 3), Load(8, CHUNKS), Load(1, 203))
QUICK = (Load(64, CHUNKS, 3), Load(32, 224), Load(8, 56), Load(1, 7))
MANUAL = ROOT / "scripts" / "data" / "manual" / "pump-skid.md"
TARGETS = (
    Target("calls_1403", 270, at_least=False),
    Target("calls_1400", 269, at_least=False),
    Target("calls_1403_second", 539, at_least=False),
    Target("calls_rename", 0, at_least=False),
    Target("calls_insert", 10, at_least=False),
    Target("calls_append", 6, at_least=False),
    Target("calls_chapter", 21, at_least=False),  # 10 batches, the next one's context, at most 8 merges, 2
    Target("wall_ratio", 1.1, at_least=False),
    Target("cpu_ms_per_call", 5.0, at_least=False),
    Target("added_mb", 300, at_least=False),
    Target("faulty_calls_ratio", 1.5, at_least=False),
    Target("rerun_calls", 0, at_least=False),
    Target("lies_noticed", 12),
    Target("lies_delivered", 0, at_least=False),
    Target("false_alarms", 0, at_least=False),
    Target("citations_verbatim_right", 1.0),
    Target("citations_written_right", 0.95),
    Target("rerun_time_ratio", 0.03, at_least=False),
    Target("length_within_10pct", 0.95),
    Target("rouge1_75", 41.7),
    Target("worst_over_lexrank", 0.0),
    Target("newsroom_human_worst_over_lexrank", 0.0),
    Target("repeated_pairs", 0, at_least=False),
    Target("newsroom_human_repeated_pairs", 0, at_least=False),
    Target("dangling_share", 0.01, at_least=False),
    Target("values_by_lexrank", 2.0),
)


def run(models: Path, data: Path, *, quick: bool, without: Sequence[str] = ()) -> Report:
    """Measures speed and memory first, then counts, then a real server.

    Args:
        without: rules to switch off; the report then has what texts are worth, with and without them.

    Raises:
        ValueError: a rule is unknown.
    """
    if without:
        return _compare(models, data, without, quick=quick)
    load_average = os.getloadavg()[0]
    text = source_text(data, SOURCE_CHARS)
    documents = Documents(text)
    series = uvloop.run(_measure(documents, QUICK if quick else FULL))
    figures = uvloop.run(_count(documents))
    figures |= uvloop.run(measure_faults(text, *(FAULTS_QUICK if quick else FAULTS)))
    figures |= uvloop.run(_worth(models, data, quick=quick))
    if not quick:  # starting the server takes half of the time that --quick has
        figures |= measure_served(models, documents, CHUNKS)
    return Report(
        title=f"summarize: every call takes the endpoint {LATENCY_S:g} s",
        columns=("load", "calls", "rounds", "path s", "wall s", "ratio min", "median", "CPU ms/call min", "median"),
        rows=[one.row() for one in series],
        figures=_figures(series) | figures | {"latency_s": LATENCY_S, "load_average": load_average},
        targets=TARGETS,
    )


def _compare(models: Path, data: Path, without: Sequence[str], *, quick: bool) -> Report:
    """Returns what texts are worth, with all rules and without some."""
    with switched_off(without):  # an unknown name is told before anything is measured
        reduced = uvloop.run(_worth(models, data, quick=quick))
    whole = uvloop.run(_worth(models, data, quick=quick))
    rows = [(key, _shown(value), _shown(reduced[key])) for key, value in whole.items()]
    figures = whole | {f"{key}_without": value for key, value in reduced.items()}
    return Report(f"summarize: with and without {', '.join(without)}", ("figure", "with", "without"), rows, figures)


def _shown(value: Figure) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


async def _worth(models: Path, data: Path, *, quick: bool) -> dict[str, Figure]:
    """Measures lengths, news, manuals, citations, and the gate behind a writer that lies."""
    return {
        **await measure_quality(models, data, quick=quick),
        **await measure_citations(data),
        **await measure_lies(models, MANUAL.read_text(encoding="utf-8")),
    }


async def _measure(documents: Documents, loads: tuple[Load, ...]) -> list[Series]:
    """Has all modules loaded and the first calls behind, as in a server that has run for a minute, then measures."""
    with EndpointProcess(scripted()) as endpoint:
        async with open_bench(endpoint.base_url, WARM_UP_CONCURRENCY) as bench:
            await bench.time(documents.next(WARM_UP_CHUNKS))
    with EndpointProcess(scripted(LATENCY_S)) as endpoint, spared():  # as in `precis serve`
        return [await measure_series(endpoint, documents, load) for load in loads]


async def _count(documents: Documents) -> dict[str, Figure]:
    return {
        **await count_calls(documents, CHUNKS),
        **await count_calls(documents, EVEN_CHUNKS),
        **await count_second_iteration(documents, CHUNKS),
        **await count_edits(documents, CHUNKS),
    }


def _figures(series: list[Series]) -> dict[str, Figure]:
    """Returns the figures of the promises. CPU time and rerun are the worst of all loads of whole documents.

    A call that is made alone finds cold caches: it costs up to twice the CPU time of one among others. A document of a
    few chunks also spreads what a summary costs by itself over a few calls. Both stand in `cpu_ms_by_concurrency`.
    """
    whole = [one for one in series if one.load.chunks == CHUNKS]
    return {
        "wall_ratio": {f"{one.load.concurrency}": median(one.ratios) for one in series},
        "wall_ratio_min": {f"{one.load.concurrency}": min(one.ratios) for one in series},
        "cpu_ms_per_call": max(median(one.cpu_ms) for one in whole),
        "cpu_ms_by_concurrency": {f"{one.load.concurrency}": median(one.cpu_ms) for one in series},
        "cpu_ms_per_call_min": max(min(one.cpu_ms) for one in whole),
        "added_mb": series[0].added_mb,
        "rerun_calls": max(one.rerun_calls for one in series),
        "rerun_time_ratio": max(one.rerun_time_ratio for one in whole),
    }
