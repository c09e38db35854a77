"""Clock jumps: the wall clock of a server leaps under load, as after a wrong NTP answer or a restored machine.

libfaketime (Debian: `apt install libfaketime`; elsewhere its path in LIBFAKETIME) gives one server process a
wall clock of its own. Its monotonic clock, which nobody sets, goes on as it is.
"""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc
from precis.v1 import inference_pb2, judge_pb2
from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.chaos.load import EMBED, ENTAIL, pairs
from scripts.benchmarks.chaos.victim import HEAVY, LIGHT, Outcome, Route, connection, outcome_of
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.endpoint_process import EndpointProcess, scripted

_VARIABLE = "LIBFAKETIME"
_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
_LIBRARY = "**/faketime/libfaketimeMT.so.1"  # the one for programs with threads
_HOUR_S, _DAY_S = 3_600, 86_400
_JUMPS = (_HOUR_S, _HOUR_S - _DAY_S, 0, _DAY_S, 0)
"""Where the clock stands after each jump, in seconds from the true time: by an hour and by a day, both ways."""
_BETWEEN_S = 1.5  # longer than a heartbeat of a lease
_CHECK = Route("/grpc.health.v1.Health/Check")
_JUDGE = Route("/precis.v1.JudgeService/Judge")
_SUMMARIES = "/precis.v1.SummarizeService"
_RESUME = Route(f"{_SUMMARIES}/ResumeSummary", is_read=True)
_QUOTA = 60  # items a minute of the light key, which owes those of ten minutes
_LATENCY_S = 0.1  # of the language model, for each jump
_TIMEOUT_S = 120.0


def find_faketime() -> Path | None:
    """Returns libfaketime, or None where it is not installed."""
    if named := os.environ.get(_VARIABLE):
        return Path(named)
    return next((path for folder in _FOLDERS for path in Path(folder).glob(_LIBRARY)), None)


async def clock_jumps(models: Path, *, quick: bool) -> Mapping[str, Figure]:
    """Lets the clock leap, with calls, a summary and a queued summary in flight.

    Returns counts: calls that failed; finished calls of summaries that were made again; second readers who were given a
    running summary. It also counts results that a cache had no more, and calls that a quota let in.
    """
    library = find_faketime()
    if library is None:
        return {"clock": f"not measured (no libfaketime, nor {_VARIABLE})", "clock_failed": None}
    jumps = _JUMPS[:2] if quick else _JUMPS * 3
    with _leaping_server(library, models, _LATENCY_S * len(jumps)) as (server, endpoint, clock):
        seen = _Clients(connection(server))
        found = await seen.watch(clock, jumps)
        await seen.channel.close()
        llm = endpoint.seen()
    return {"clock": "measured", **found, "clock_llm_calls": llm.answered, "clock_repeated": llm.repeated}


@contextmanager
def _leaping_server(
    library: Path, models: Path, latency_s: float
) -> Iterator[tuple[PrecisServer, EndpointProcess, Path]]:
    with TemporaryDirectory() as name, EndpointProcess(scripted(latency_s, is_honest=True)) as endpoint:
        clock, keys = Path(name) / "clock", Path(name) / "keys"
        keys.write_text("heavy-key\nlight-key light\n", encoding="utf-8")
        _set(clock, 0)
        settings = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "PRECIS_AUTH__KEYS_FILE": str(keys),
            "PRECIS_AUTH__QUOTAS": f'{{"light": {{"items_per_minute": {_QUOTA}}}}}',
            "PRECIS_SUMMARY_STORAGE__DIRECTORY": str(Path(name) / "summaries"),
            "PRECIS_INFERENCE__RUNTIME__WARMUP_S": "1",
            "PRECIS_LLM__BASE_URL": endpoint.base_url,
            "PRECIS_LLM__MODEL": "scripted",
            "PRECIS_LLM__RATES__MAX_CONCURRENCY": "2",
        }
        with PrecisServer(models, settings) as server:
            yield server, endpoint, clock


def _set(clock: Path, offset_s: int) -> None:
    """Moves the clock in one step: the server may read the file at any moment."""
    draft = clock.with_suffix(".new")
    draft.write_text(f"{offset_s:+d}\n", encoding="utf-8")
    draft.replace(clock)


def _document(hall: str, bolts: int) -> pb.Document:
    said = (f"Torque bolt {hall}{number} to {number + 10} Nm before start." for number in range(bolts))
    return pb.Document(
        chunks=[pb.DocumentChunk(text=text, page_number=number // 7 + 1) for number, text in enumerate(said)]
    )


@dataclass
class _Clients:
    """The clients of one server whose clock leaps, and what they see of it."""

    channel: grpc.aio.Channel
    calls: int = 0
    failed: Counter[str] = field(default_factory=Counter)

    async def watch(self, clock: Path, jumps: Sequence[int]) -> dict[str, Figure]:
        """Sends all kinds of calls while the clock leaps, then waits for the summaries."""
        accepted: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        first, second = (pb.SummarizeRequest(document=_document(hall, 170)) for hall in "BC")
        summary = asyncio.create_task(self.followed("Summarize", first, accepted))
        submit = pb.SubmitSummaryRequest(request=second).SerializeToString()
        answer = await self.made(Route(f"{_SUMMARIES}/SubmitSummary"), submit)
        queued = pb.SubmitSummaryResponse.FromString(answer.answers[0]).summary_id
        watched = self.followed("WatchSummary", pb.WatchSummaryRequest(summary_id=queued))
        tasks = {await accepted: summary, queued: asyncio.create_task(watched)}
        judged = judge_pb2.JudgeRequest(
            source="Pump 7 runs at 7 bar. " * 400,
            summary="Pump 7 runs at 7 bar.",
            frameworks=[judge_pb2.JUDGE_FRAMEWORK_TWIN_LOCK],  # asks the language model nothing
        )
        load = [asyncio.create_task(self.repeated(ENTAIL, lambda: pairs(4))) for _ in range(3)]
        load.append(asyncio.create_task(self.repeated(_JUDGE, judged.SerializeToString)))
        load.append(asyncio.create_task(self.repeated(_CHECK, bytes)))
        found = await self.leaps(clock, jumps, tasks)
        for task in load:
            task.cancel()
        await asyncio.gather(*load, return_exceptions=True)
        await asyncio.gather(*tasks.values())
        failures: dict[str, float] = dict(self.failed)
        return {"clock_calls": self.calls, "clock_failed": self.failed.total(), "clock_failures": failures, **found}

    async def leaps(
        self, clock: Path, offsets_s: Sequence[int], tasks: Mapping[str, asyncio.Task[None]]
    ) -> dict[str, Figure]:
        """Lets the clock leap, and looks each time at what could depend on it. Raises RuntimeError if it stands still.

        Args:
            tasks: by the names of their summaries.
        """
        once = inference_pb2.EmbedRequest(texts=["The pump hums."]).SerializeToString()
        many = inference_pb2.EmbedRequest(texts=[f"Text {number}." for number in range(10 * _QUOTA)])
        await self.made(EMBED, many.SerializeToString(), LIGHT)
        await self.made(EMBED, once)
        running = taken = missed = let_in = 0
        for offset_s in offsets_s:
            _set(clock, offset_s)
            names = [name for name, task in tasks.items() if not task.done()]
            running += len(names)
            taken += sum([await self.is_given_away(name) for name in names])
            missed += not _hits(await self.made(EMBED, once))
            let_in += (await outcome_of(EMBED.begin(self.channel, [once], _TIMEOUT_S, LIGHT))).is_answered
            await asyncio.sleep(_BETWEEN_S)
            if names and not await self.is_ahead_by(offset_s):
                raise RuntimeError("the clock of the server did not leap: is libfaketime that of this system?")
        return {
            "clock_jumps": len(offsets_s),
            "clock_summaries_running": running / len(offsets_s),
            "clock_given_away": taken,
            "clock_cache_missed": missed,
            "clock_quota_let_in": let_in,
        }

    async def is_ahead_by(self, offset_s: int) -> bool:
        """Tells whether the server has written to a summary just now, by a clock that is off by so much."""
        outcome = await self.made(Route(f"{_SUMMARIES}/ListSummaries"), b"")
        listed = pb.ListSummariesResponse.FromString(outcome.answers[0]).summaries
        now_s = time.time() + offset_s
        return any(abs(one.updated.ToMicroseconds() / 1e6 - now_s) < _HOUR_S / 2 for one in listed)

    async def made(self, route: Route, request: bytes, key: object = HEAVY) -> Outcome:
        """Makes a call that must be answered."""
        outcome = await outcome_of(route.begin(self.channel, [request], _TIMEOUT_S, key))  # type: ignore[arg-type]
        self.calls += 1
        if not outcome.is_answered:
            self.failed[f"{route.path.rpartition('/')[2]} {outcome.code}: {outcome.message[:60]}"] += 1
        return outcome

    async def repeated(self, route: Route, make: Callable[[], bytes]) -> None:
        """Keeps one call in flight until it is cancelled."""
        while True:
            await self.made(route, make())

    async def followed(
        self, rpc: str, request: pb.SummarizeRequest | pb.WatchSummaryRequest, name: asyncio.Future[str] | None = None
    ) -> None:
        """Reads a summary to its end, which must be good; passes on how it is called."""
        call = Route(f"{_SUMMARIES}/{rpc}", is_read=True).begin(
            self.channel, [request.SerializeToString()], _TIMEOUT_S, HEAVY
        )
        event = pb.SummaryEvent()
        try:
            async for raw in call:
                event = pb.SummarizeResponse.FromString(raw).event  # the responses of all RPCs have one field
                if name is not None and event.HasField("accepted"):
                    name.set_result(event.accepted.summary_id)
        except grpc.aio.AioRpcError as error:
            self.failed[f"{rpc} {error.code().name}: {error.details()}"] += 1
        else:
            status = event.summary.status
            if status != pb.SUMMARY_STATUS_DONE:
                self.failed[f"{rpc} {pb.SummaryStatus.Name(status)}: {event.summary.failure.message[:60]}"] += 1
        self.calls += 1

    async def is_given_away(self, summary_id: str) -> bool:
        """Tells whether a second reader is given a summary that runs."""
        request = pb.ResumeSummaryRequest(summary_id=summary_id).SerializeToString()
        call = _RESUME.begin(self.channel, [request], _TIMEOUT_S, HEAVY)
        try:
            event = pb.ResumeSummaryResponse.FromString(await call.read()).event
        except grpc.aio.AioRpcError:
            return False
        call.cancel()
        return bool(event.HasField("accepted"))


def _hits(outcome: Outcome) -> int:
    if not outcome.answers:
        return 0
    return inference_pb2.EmbedResponse.FromString(outcome.answers[0]).timings.cache_hit_count
