"""Twin-Lock through gRPC with the rows of the models kept, and many summaries of one source."""

from __future__ import annotations  # ValueType is known to type checkers only

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from precis.v1 import judge_pb2 as pb

from scripts.benchmarks.judge.data import HumanRow
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.shared.load_client import LoadClient
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage

Frameworks: TypeAlias = "Sequence[pb.JudgeFramework.ValueType]"

JUDGE = "/precis.v1.JudgeService/Judge"
IN_FLIGHT = 4
ARTICLE_WORDS = 600
SUMMARY_WORDS = 60
_SUMMARIES = 16
# Judgements are not kept, but the engine's rows are: what the second pass costs is all that is not the models.
NO_JUDGEMENTS_KEPT = {"PRECIS_JUDGE__CACHE__MAX_JUDGEMENTS": "0"}


def measure_service(models: Path, rows: Sequence[HumanRow], count: int, results: Results) -> None:
    """Measures judgements a second, which part of the server's CPU time the models take, and what a source costs.

    Distinct requests are sent twice: what the server spends less when all rows are known is what the models take. CPU
    time, not wall time: neighbours do not count.
    """
    requests = make_requests(rows, count, [pb.JUDGE_FRAMEWORK_TWIN_LOCK])
    one_source, many_sources = summaries_of(rows, count)
    with PrecisServer(models, NO_JUDGEMENTS_KEPT) as server, LoadClient(server.address) as client:
        cpu_s = [read_usage(server.pid).cpu_s]
        answers = []
        for sent in (requests, requests, one_source, many_sources):
            answers.append(client.run(JUDGE, sent, in_flight=IN_FLIGHT))
            cpu_s.append(read_usage(server.pid).cpu_s)
    _check(answers[0].responses, answers[1].responses)
    computing, remembering, one, many = (after - before for before, after in pairwise(cpu_s))
    onnx_share, ratio = max(0.0, 1 - remembering / computing), one / many if many else None
    results.add("Twin-Lock requests/s through gRPC", f"{answers[0].calls_per_s:.2f}")
    results.add("share of ONNX in the server's CPU time", onnx_share)
    if ratio is not None:
        results.add(f"{len(one_source)} summaries of one source, CPU against as many sources", ratio)
    results.figures |= {
        "twin_lock_requests_per_s": answers[0].calls_per_s,
        "onnx_share": onnx_share,
        "one_source_cpu_ratio": ratio,
        "one_source_summaries": len(one_source),
    }


def make_requests(rows: Sequence[HumanRow], count: int, frameworks: Frameworks) -> list[bytes]:
    """Makes requests of a 600-word article and a 60-word summary; every article and its summary is another one."""
    articles = list(dict.fromkeys(row.source for row in rows if len(row.source.split()) >= ARTICLE_WORDS))
    by_source = {row.source: row for row in rows}
    return [_request(by_source[article], frameworks) for article in articles[:count]]


def summaries_of(rows: Sequence[HumanRow], count: int) -> tuple[list[bytes], list[bytes]]:
    """Makes requests for at most 16 summaries of one source, and for as many sources with one summary each."""
    by_source: dict[str, dict[str, HumanRow]] = {}
    for row in rows:
        by_source.setdefault(row.source, {})[row.summary] = row
    most = max(reversed(by_source), key=lambda source: len(by_source[source]))  # the first ones are warm
    others = [next(iter(found.values())) for source, found in by_source.items() if source != most]
    one = list(by_source[most].values())[: min(count, _SUMMARIES, len(others))]
    return [_request(row, ()) for row in one], [_request(row, ()) for row in others[-len(one) :]]


def _request(row: HumanRow, frameworks: Frameworks) -> bytes:
    source, summary = " ".join(row.source.split()[:ARTICLE_WORDS]), " ".join(row.summary.split()[:SUMMARY_WORDS])
    return pb.JudgeRequest(source=source, summary=summary, frameworks=frameworks).SerializeToString()


def _check(first: Sequence[bytes], second: Sequence[bytes]) -> None:
    """Compares scores: rows that come from the cache must not change any."""
    for one, other in zip(first, second, strict=True):
        results = [pb.JudgeResponse.FromString(answer).result.frameworks[0] for answer in (one, other)]
        if results[0] != results[1]:
            raise RuntimeError("the same request got two different judgements")
