"""What a server still does for callers who have gone, and what it tells callers of each other."""

import asyncio
from collections.abc import Iterator, Mapping
from uuid import uuid4

from google.protobuf.message_factory import GetMessageClass
from precis.calls import SERVICES, SUMMARIZE
from precis.v1 import common_pb2, evaluate_pb2, inference_pb2, judge_pb2
from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.chaos.load import ENTAIL, pairs
from scripts.benchmarks.chaos.victim import HEAVY, LIGHT, STRANGER, Metadata, Outcome, Route, busy_s_after, connection
from scripts.benchmarks.chaos.victim import outcome_of as ended
from scripts.benchmarks.shared.precis_server import PrecisServer

_GRACE_S = 1.0
_BEFORE_CANCEL_S = 0.5
_LIMIT_S = 30.0
_PATTERNS = {
    "sentences": "The pump of hall {0} runs at {0} bar. ",
    "han": "\u4e2d\u3002",
    "right to left": "\u200f\u05d0 ",
    "ellipses": "a... ",
    "invisible": "\u200b\u00ad",
    "digits": "1,234.5 % ",
    "table": "|a|b|\n|-|-|\n",
}


def _long(pattern: str, chars: int) -> str:
    return "".join(pattern.format(number) for number in range(chars // len(pattern)))


def _cases(chars: int) -> Iterator[tuple[str, Route, bytes]]:
    """Yields calls that take long: every kind of RPC, and Judge and Summarize with every kind of text."""
    texts = [f"Pump {uuid4()} hums." for _ in range(2_000)]
    yield "embed", Route("/precis.v1.InferenceService/Embed"), _raw(inference_pb2.EmbedRequest(texts=texts))
    yield "entail", ENTAIL, pairs(2_000)
    for name, pattern in _PATTERNS.items():
        text = _long(pattern, chars)
        judged = judge_pb2.JudgeRequest(source=text, summary="The pump runs at 7 bar.")
        yield f"judge {name}", Route("/precis.v1.JudgeService/Judge"), _raw(judged)
        summarized = pb.SummarizeRequest(document=pb.Document(text=text))
        yield f"summarize {name}", _route("Summarize"), _raw(summarized)
    datum = evaluate_pb2.GoldStandardDatum(
        entry=evaluate_pb2.GoldStandardEntry(
            category="x", source_id="1", text=_long(_PATTERNS["sentences"], chars // 10)
        ),
        summary=evaluate_pb2.GoldStandardSummary(
            main_theme="Pumps", summary="Pumps run.", key_facts=[f"Pump {n} runs at {n} bar." for n in range(12)]
        ),
    )
    generated = evaluate_pb2.GeneratedSummary(text=_long(_PATTERNS["sentences"], chars // 10))
    request = evaluate_pb2.EvaluateRequest(datum=datum, generated=generated, priority=common_pb2.PRIORITY_INTERACTIVE)
    yield "evaluate", Route("/precis.v1.EvaluateService/Evaluate"), _raw(request)


def _raw(message: object) -> bytes:
    raw: bytes = message.SerializeToString()  # type: ignore[attr-defined]  # every message has it
    return raw


async def cancelled_work(server: PrecisServer, *, quick: bool) -> Mapping[str, float | dict[str, float]]:
    """Cancels one call after another. Returns how long the server went on a second later, and in which calls."""
    left: dict[str, float] = {}
    for name, route, request in _cases(200_000 if quick else 1_000_000):
        if quick and name not in _QUICK:
            continue
        channel = connection(server)
        call = route.begin(channel, [request], 120, HEAVY)
        waiting = asyncio.ensure_future(ended(call, is_read=route.is_read))
        await asyncio.sleep(_BEFORE_CANCEL_S)
        call.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        left[name] = await asyncio.to_thread(busy_s_after, server.pid, _GRACE_S, _LIMIT_S)
        await channel.close()
    return {"cancel_left_s": max(left.values()), "cancel_left": left}


_QUICK = ("embed", "entail", "judge sentences", "judge han", "judge ellipses", "summarize sentences", "evaluate")
_BY_ID = [
    method
    for name in SERVICES
    for method in SUMMARIZE.file.pool.FindServiceByName(name).methods
    if "summary_id" in method.input_type.fields_by_name
]


def _route(name: str) -> Route:
    method = SUMMARIZE.methods_by_name[name]
    return Route(f"/{SUMMARIZE.full_name}/{name}", is_read=method.server_streaming)


async def tenants(server: PrecisServer) -> dict[str, float]:
    """Tries all that names a summary with another's key. Counts answers that differ from those of an unknown id."""
    channel, name, leaks = connection(server), uuid4().hex, 0
    document = pb.Document(text="The board of Nightingale will lay off 400 people in Leeds. It agreed on 3 March. " * 5)
    mine = await _summary(server, document, name, HEAVY)
    for method in _BY_ID:
        route = _route(method.name)
        told = []
        for summary_id in (mine, uuid4().hex):
            request = _raw(GetMessageClass(method.input_type)(summary_id=summary_id))
            outcome = await ended(route.begin(channel, [request], 60, STRANGER), is_read=route.is_read)
            told.append((outcome.code, outcome.message.replace(summary_id, "ID"), outcome.answers))
        leaks += told[0] != told[1] or told[0][0] != "NOT_FOUND"
    other = pb.Document(text="Nothing of interest happened in the harbour this winter. " * 5)
    for document_of, key in ((other, STRANGER), (document, LIGHT)):
        leaks += await _summary(server, document_of, name, key) == mine
    await channel.close()
    return {"tenant_leaks": leaks, "tenant_rpcs": len(_BY_ID)}


async def _summary(server: PrecisServer, document: pb.Document, name: str, key: Metadata) -> str:
    """Makes a summary and returns its id, or what was said instead."""
    channel, route = connection(server), _route("Summarize")
    request = pb.SummarizeRequest(document=document, idempotency_key=name)
    outcome: Outcome = await ended(route.begin(channel, [_raw(request)], 120, key), is_read=True)
    await channel.close()
    if not outcome.is_answered:
        return outcome.message
    return pb.SummarizeResponse.FromString(outcome.answers[0]).event.accepted.summary_id
