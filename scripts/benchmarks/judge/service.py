"""Twin-Lock through gRPC: judgements per second, and which part of the server's time the models take."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from precis.v1 import judge_pb2 as pb

from scripts.benchmarks.judge.data import HumanRow
from scripts.benchmarks.shared.load_client import LoadClient
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage

JUDGE = "/precis.v1.JudgeService/Judge"
IN_FLIGHT = 4
ARTICLE_WORDS = 600
SUMMARY_WORDS = 60
# Judgements are not kept, but the engine's rows are: what the second pass costs is all that is not the models.
NO_JUDGEMENTS_KEPT = {"PRECIS_JUDGE__CACHE__MAX_JUDGEMENTS": "0"}


@dataclass(frozen=True)
class ServiceRun:
    """What serving costs.

    Attributes:
        requests_per_s: with every pair new to the server.
        onnx_share: of the server's CPU time, what it spends less when all rows are known: that of the models.
        request_count: distinct requests.
    """

    requests_per_s: float
    onnx_share: float
    request_count: int


def serve_twin_lock(models: Path, requests: Sequence[bytes]) -> ServiceRun:
    """Sends distinct requests twice to a server of its own. CPU time, not wall time: neighbours do not count."""
    with PrecisServer(models, NO_JUDGEMENTS_KEPT) as server, LoadClient(server.address) as client:
        cpu_s = [read_usage(server.pid).cpu_s]
        first = client.run(JUDGE, requests, in_flight=IN_FLIGHT)
        cpu_s.append(read_usage(server.pid).cpu_s)
        second = client.run(JUDGE, requests, in_flight=IN_FLIGHT)
        cpu_s.append(read_usage(server.pid).cpu_s)
    _check(first.responses, second.responses)
    computing, remembering = cpu_s[1] - cpu_s[0], cpu_s[2] - cpu_s[1]
    return ServiceRun(first.calls_per_s, max(0.0, 1 - remembering / computing), len(requests))


def twin_lock_requests(rows: Sequence[HumanRow], count: int) -> list[bytes]:
    """Makes requests of a 600-word article and a 60-word summary; every article and its summary is another one."""
    articles = list(dict.fromkeys(row.source for row in rows if len(row.source.split()) >= ARTICLE_WORDS))
    by_source = {row.source: row for row in rows}
    return [
        pb.JudgeRequest(
            source=" ".join(article.split()[:ARTICLE_WORDS]),
            summary=" ".join(by_source[article].summary.split()[:SUMMARY_WORDS]),
            frameworks=[pb.JUDGE_FRAMEWORK_TWIN_LOCK],
        ).SerializeToString()
        for article in articles[:count]
    ]


def _check(first: Sequence[bytes], second: Sequence[bytes]) -> None:
    """Compares scores: rows that come from the cache must not change any."""
    for one, other in zip(first, second, strict=True):
        results = [pb.JudgeResponse.FromString(answer).result.frameworks[0] for answer in (one, other)]
        if results[0] != results[1]:
            raise RuntimeError("the same request got two different judgements")
