"""Language models that lie or fail: how long others wait for what they answer, and which summaries come through."""

import asyncio
import json
import multiprocessing
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from precis.v1 import judge_pb2
from precis.v1 import summarize_pb2 as pb

from scripts.benchmarks.chaos.over_http import longest_check
from scripts.benchmarks.chaos.victim import HEAVY, Route, connection, outcome_of, victim
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.summaries.endpoint_process import EndpointProcess, scripted
from tests.scripted_endpoint.faults import Fault

_SUMMARIZE = Route("/precis.v1.SummarizeService/Summarize", is_read=True)
_JUDGE = Route("/precis.v1.JudgeService/Judge")
_SPAWN = multiprocessing.get_context("spawn")
_SETTINGS = {
    "PRECIS_LLM__MODEL": "scripted",
    "PRECIS_LLM__CONTEXT_TOKENS": "4096",
    "PRECIS_LLM__RETRIES__BASE_DELAY_S": "0.05",
    "PRECIS_LLM__TIMEOUTS__ATTEMPT_S": "3",
}
_CONSTANTS = [{"const": number} for number in range(1_000, 2_150)]
_SCHEMA = json.dumps({"type": "object", "properties": {"a": {"type": "array", "items": {"anyOf": _CONSTANTS}}}})
_MOST = 60_000  # characters of a lie that ends
_LIES = {
    "a fence and newlines": "```" + "\n" * _MOST,
    "numbers for a schema of 1,150 choices": json.dumps({"a": [7] * 2_000}),
    "thoughts without an end": "<think>" * (_MOST // 7),
    "control characters and markup": "\x1b[2J\x1b]0;owned\x07<script>alert(1)</script> Pump 1 runs at 7 bar. " * 500,
    "half a character": '{"questions": ["\ud800"]}',
    "deep JSON": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "a long number": '{"a": ' + "7" * 5_000 + "}",
    "brackets": "[" * _MOST,
    "quotes": '"' * _MOST,
    "blanks": " " * _MOST + "x",
    "full stops": "a. " * (_MOST // 3),
}
"""Texts of answers."""
_STREAMS = {
    "words for ever": b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n',
    "nothing for ever": b'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n',
    "comments for ever": b": ping\n\n" * 100,
    "a line without an end": b"data: xxxxxxxxxxxxxxxx",
    "large events": b'data: {"choices":[{"index":0,"delta":{"content":"' + b"word " * 140_000 + b'"}}]}\n\n',
}
"""Parts of answers that do not end."""
_MIXES: list[dict[Fault, float]] = [
    {fault: 0.03 for fault in Fault if fault not in {Fault.QUOTA, Fault.ENDLESS_ERROR, Fault.PACKED}},
    *({fault: 0.3} for fault in (Fault.TRUNCATED_JSON, Fault.EMPTY, Fault.ENDLESS, Fault.RESET, Fault.CUT)),
    *({fault: 0.3} for fault in (Fault.HTML, Fault.RATE_LIMIT, Fault.HANG)),
]


async def lies(models: Path, *, quick: bool) -> Mapping[str, float | str]:
    """Lets a language model answer in 16 hostile ways. Returns the longest wait of a health check meanwhile."""
    mine, theirs = _SPAWN.Pipe()
    kind = _SPAWN.Value("i", 0)
    liar = _SPAWN.Process(target=_lie, args=(theirs, kind), daemon=True)
    liar.start()
    settings = {**_SETTINGS, "PRECIS_LLM__BASE_URL": mine.recv(), "PRECIS_LLM__STREAM": "true"}
    longest_s, worst = 0.0, ""
    try:
        with victim(models, settings) as server:
            await asyncio.gather(*_asked(server, "what is loaded by the first call", 10))
            for kind.value, name in enumerate([*_LIES, *_STREAMS]):
                async with longest_check(server) as stalls_s:
                    await asyncio.gather(*_asked(server, name, 2 if quick else 20))
                longest_s, worst = max((longest_s, worst), (max(stalls_s), name))
    finally:
        liar.kill()
        liar.join()
    return {"llm_answer_stall_s": longest_s, "llm_answer_worst": worst}


def _asked(server: PrecisServer, name: str, timeout_s: float) -> list["asyncio.Task[None]"]:
    """Begins a summary in a caller's format and a judgement."""
    judged = judge_pb2.JudgeRequest(source=_text(name, 40), summary="Pump 1 runs at 9 bar in hall 1.")
    summarized = pb.SummarizeRequest.FromString(_document(name, 60))
    summarized.options.json_schema = _SCHEMA

    async def ask(route: Route, raw: bytes) -> None:
        async with connection(server) as channel:
            await outcome_of(route.begin(channel, [raw], timeout_s, HEAVY), is_read=route.is_read)

    pairs = ((_JUDGE, judged.SerializeToString()), (_SUMMARIZE, summarized.SerializeToString()))
    return [asyncio.create_task(ask(route, raw)) for route, raw in pairs]


def _text(name: str, sections: int) -> str:
    return "".join(
        f"Section {at} of {name}. Pump {at} runs at {at * 7 % 991} bar in hall {at}. " for at in range(sections)
    )


def _document(name: str, sections: int) -> bytes:
    document = pb.Document(document_id=name, text=_text(name, sections))
    return pb.SummarizeRequest(document=document).SerializeToString()


async def faulty(models: Path, *, quick: bool) -> Mapping[str, float]:
    """Summarizes with endpoints of which 30% of the answers are faulty, in nine mixes.

    Returns which share is done, and the most requests over those that were planned.
    """
    done, ratios = [], []
    for seed in range(1 if quick else 4):
        for mix in _MIXES:
            with EndpointProcess(scripted(0.02, faults=mix, seed=seed)) as endpoint:
                settings = {**_SETTINGS, "PRECIS_LLM__BASE_URL": endpoint.base_url}
                with victim(models, settings) as server:
                    async with connection(server) as channel:
                        raw = _document("faults", 100 if quick else 700)
                        ended = await outcome_of(_SUMMARIZE.begin(channel, [raw], 120, HEAVY), is_read=True)
                events = [pb.SummarizeResponse.FromString(one).event for one in ended.answers]
                planned = next((one.plan.plan.calls for one in events if one.HasField("plan")), 0)
                done.append(bool(events) and events[-1].summary.status == pb.SUMMARY_STATUS_DONE)
                ratios.append(endpoint.seen().requests / max(1, planned))
    return {"faulty_completed_share": sum(done) / len(done), "faulty_calls_ratio": max(ratios)}


def _lie(pipe: Connection, kind: "Synchronized[int]") -> None:
    asyncio.run(_serve(pipe, kind))


async def _serve(pipe: Connection, kind: "Synchronized[int]") -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            _, _, length = head.lower().partition(b"content-length:")
            await reader.readexactly(int(length.split()[0] if length else 0))
            name = [*_LIES, *_STREAMS][kind.value]
            type_ = b"text/event-stream" if name in _STREAMS else b"application/json"
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: " + type_ + b"\r\nconnection: close\r\n\r\n")
            if name in _LIES:
                message = {"role": "assistant", "content": _LIES[name]}
                choice = {"index": 0, "finish_reason": "stop", "message": message}
                writer.write(json.dumps({"id": "x", "object": "chat.completion", "choices": [choice]}).encode())
            while name in _STREAMS:
                writer.write(_STREAMS[name])
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    pipe.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    await server.serve_forever()
