"""What a judgement costs the server: one of a usual size, many claims, a long source, and many summaries of a source.

CPU time, not wall time, where neighbours must not count. Caches are off, but where they are what is measured.
"""

from __future__ import annotations  # ValueType is known to type checkers only

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import process_time

from precis.v1 import judge_pb2 as pb

from inference.compile.install import NLI
from inference.core.library import load_library
from scripts.benchmarks.judge.data import HumanRow, sentences_of
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.service import JUDGE, make_requests
from scripts.benchmarks.nli.contenders import PAIR_TOKENS, Contenders
from scripts.benchmarks.shared.corpus import source_text
from scripts.benchmarks.shared.load_client import LoadClient, LoadResult
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage

NOTHING_KEPT = {
    "PRECIS_INFERENCE__CACHE__MAX_BYTES": "0",
    "PRECIS_JUDGE__CACHE__MAX_JUDGEMENTS": "0",
    "PRECIS_JUDGE__CACHE__MAX_SOURCES": "0",
}
ALL = (pb.JUDGE_FRAMEWORK_TWIN_LOCK, pb.JUDGE_FRAMEWORK_JUDGE_LOCK, pb.JUDGE_FRAMEWORK_ULTRA)
ARTICLE_WORDS = 560
MANY_SENTENCES = 60
LONG_WORDS = 60_000
LONG_SENTENCES = 100
PAIR_ROUNDS = 60
_CLAIM_WORDS = range(6, 31)


def measure_speed(models: Path, data: Path, rows: Sequence[HumanRow], count: int, results: Results) -> None:
    """Measures with a server of its own that keeps nothing.

    Args:
        models: models folder.
        data: folder with a manual; without one, bundled text stands in.
        rows: articles with summaries, several of each.
        count: judgements of the usual size.
    """
    requests = make_requests(rows, count + 1, ALL)
    with PrecisServer(models, NOTHING_KEPT) as server, LoadClient(server.address) as client:
        client.run(JUDGE, requests[:1], in_flight=1)  # reads word lists
        alone, alone_s = _timed(server, client, requests[1:])
        many, _ = _timed(server, client, [many_claims(rows)])
        long, long_s = _timed(server, client, [long_request(data)])
    p50_s, cpu_ms = median(alone.latencies_s), 1000 * alone_s / len(alone.responses)
    many_result, long_result = (pb.JudgeResponse.FromString(one.responses[0]).result for one in (many, long))
    claims_per_s = many_result.checked_claim_count / many.seconds
    cost = cpu_ms / 1000 / pair_cpu_s()
    results.add("Judge, 600-word article, 60-word summary, server CPU ms", f"{cpu_ms:.0f}")
    results.add(f"  over ONNX Runtime's in fp32 for a pair of {PAIR_TOKENS} tokens", f"{cost:.1f}")
    results.add("  alone, p50 ms", f"{1000 * p50_s:.0f}")
    results.add(f"claims/s, article of {ARTICLE_WORDS} words", f"{claims_per_s:.1f}")
    read = f"{long_result.checked_claim_count} of {long_result.claim_count}"
    results.add(f"{LONG_SENTENCES} sentences of {LONG_WORDS} words: claims read", read)
    results.add("  server CPU s", f"{long_s:.1f}")
    results.figures |= {
        "judge_cost": cost,
        "judge_cpu_ms": cpu_ms,
        "judge_p50_ms": 1000 * p50_s,
        "judge_requests": len(alone.responses),
        "claims_per_s": claims_per_s,
        "long_cpu_s": long_s,
        "long_claims": long_result.claim_count,
        "long_all_read": long_result.checked_claim_count == long_result.claim_count,
    }


def pair_cpu_s() -> float:
    """Returns the median CPU seconds of ONNX Runtime in fp32 for one pair of the NLI model."""
    if (library := load_library()) is None:
        raise RuntimeError("the core was not compiled; install Precis again where a C compiler is")
    taken: list[float] = []
    with tempfile.TemporaryDirectory(prefix="precis-") as folder:
        nli = Contenders(NLI, Path(folder), library)
        feed = nli.random_feed(1, PAIR_TOKENS)
        for _ in range(PAIR_ROUNDS):
            before = process_time()
            nli.graph.run(feed)
            taken.append(process_time() - before)
    return median(taken)


def many_claims(rows: Sequence[HumanRow]) -> bytes:
    """Makes a request for one article and distinct sentences of its summaries."""
    article = next(row.source for row in rows if len(row.source.split()) >= ARTICLE_WORDS)
    told = dict.fromkeys(one for row in rows if row.source == article for one in _claims(row.summary))
    told |= dict.fromkeys(_claims(article))
    return pb.JudgeRequest(
        source=" ".join(article.split()[:ARTICLE_WORDS]), summary=" ".join(list(told)[:MANY_SENTENCES])
    ).SerializeToString()


def long_request(data: Path) -> bytes:
    """Makes a request for a source as long as a book and a hundred of its sentences, spread evenly."""
    source = " ".join(source_text(data).split()[:LONG_WORDS])
    sentences = list(dict.fromkeys(_claims(source)))
    step = max(1, len(sentences) // LONG_SENTENCES)
    summary = " ".join(sentences[::step][:LONG_SENTENCES])
    return pb.JudgeRequest(source=source, summary=summary).SerializeToString()


def _claims(text: str) -> list[str]:
    sentences = sentences_of(text)
    return [one for one in sentences if len(one.split()) in _CLAIM_WORDS and one[0].isupper() and one.endswith(".")]


def _timed(server: PrecisServer, client: LoadClient, requests: Sequence[bytes]) -> tuple[LoadResult, float]:
    """Sends requests one at a time; returns the server's CPU seconds too."""
    before = read_usage(server.pid).cpu_s
    answered = client.run(JUDGE, requests, in_flight=1)
    return answered, read_usage(server.pid).cpu_s - before
