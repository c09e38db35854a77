"""What endpoints really send, played against summaries, and Judge with an endpoint that is dead."""

import asyncio
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

import grpc
from precis.v1 import judge_pb2, judge_pb2_grpc

from scripts.benchmarks.endpoints.oddities import ODDITIES, SILENCE, Asked, Sent, refused
from scripts.benchmarks.endpoints.played import Played, play, played
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Report, Target

DEADLINE_S = 10.0
_SOURCE = (
    "The pump of hall 3 runs at 12 bar. It was checked in March by the inspector of line 7. It needs oil each year."
)
_SUMMARY = "The pump of hall 3 runs at 12 bar and was checked in March."
TARGETS = (
    Target("oddities_failed", 0, at_least=False),
    Target("thinking_failed", 0, at_least=False),
    Target("refused_batches_failed", 0, at_least=False),
    Target("silent_losses", 0, at_least=False),
    Target("degraded_in_time", 1),
)


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Plays all oddities; `quick` is as long."""
    del data, quick
    logging.disable(logging.CRITICAL)
    results = asyncio.run(_play_all())
    in_time = asyncio.run(_degrades(models))
    figures = {
        "oddities": len(results),
        "oddities_failed": _failed(results),
        "thinking_failed": _failed([one for one in results if one.oddity.group == "thinking"]),
        "refused_batches_failed": _failed([one for one in results if one.oddity.warns], resumes=True),
        "silent_losses": sum(one.is_silent for one in results),
        "degraded_in_time": in_time,
    }
    rows = [
        [f"{one.oddity.group} {one.oddity.name}", str(one.calls), str(one.resumed_calls), one.problem or "good"]
        for one in results
    ]
    return Report("Oddities of endpoints", ("oddity", "requests", "once more", "result"), rows, figures, TARGETS)


def _failed(results: Sequence[Played], *, resumes: bool = False) -> int:
    """Counts what ended otherwise than it should, or is asked for again in vain."""
    return sum(bool(one.problem) or (resumes and one.resumed_calls > 0) for one in results)


async def _play_all() -> list[Played]:
    with tempfile.TemporaryDirectory() as folder:
        return [await play(oddity, Path(folder) / str(number)) for number, oddity in enumerate(ODDITIES)]


async def _degrades(models: Path) -> float:
    """Returns the share of Judge's answers that come within the deadline and say `degraded`: errors, and silence."""
    shares = []
    for dead in (_fails, _is_silent):
        async with played(dead) as (base_url, _):
            env = {"PRECIS_LLM__BASE_URL": base_url, "PRECIS_LLM__MODEL": "dead"}
            server = PrecisServer(models, env)
            await asyncio.to_thread(server.__enter__)
            try:
                shares.append(await _judged_in_time(server.address))
            finally:
                await asyncio.to_thread(server.__exit__, None, None, None)
    return sum(shares) / len(shares)


def _fails(_: Asked) -> Sent:
    return refused("out of order", 500)


def _is_silent(_: Asked) -> Sent:
    return SILENCE


async def _judged_in_time(address: str) -> float:
    """Judges with a deadline. Returns 1.0 for an answer in time that says `degraded`, else 0.0."""
    request = judge_pb2.JudgeRequest(source=_SOURCE, summary=_SUMMARY)
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            answer = await judge_pb2_grpc.JudgeServiceStub(channel).Judge(request, timeout=DEADLINE_S)
        except grpc.RpcError:
            return 0.0
    return float(answer.result.degraded)
