"""Answers that are heard while they are written."""

import asyncio
import json
from dataclasses import replace

import pytest

from pipeline.llm.chat_model import ChatRequest
from pipeline.llm.completion import DraftReader, parse_completion
from pipeline.llm.errors import EndpointFailedError
from tests.scripted_endpoint.faults import Fault
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import bench, request

WORDS = " ".join(f"word{number}" for number in range(16))
ANSWER = (Reply("", WORDS),)


def heard_request() -> tuple[ChatRequest, list[str]]:
    """A request, and what is heard of its answer."""
    heard: list[str] = []
    return replace(request(), on_draft=heard.append), heard


def pieces(*texts: str) -> bytes:
    events = ({"choices": [{"delta": {"content": text}}]} for text in texts)
    return b"".join(b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n" for event in events)


def drafts_of(*parts: bytes, most_chars: int = 1_000) -> list[str]:
    heard: list[str] = []
    reader = DraftReader(heard.append, most_chars)
    for part in parts:
        reader.feed(part)
    return heard


async def test_the_beginning_is_heard_before_the_end_is_sent() -> None:
    async with bench(Script(replies=ANSWER)) as at:
        at.scripted.piece_gate.clear()
        half = asyncio.Event()
        heard: list[str] = []

        def hear(text: str) -> None:
            heard.append(text)
            half.set()

        call = asyncio.create_task(at.model.complete(replace(request(), on_draft=hear)))
        await half.wait()
        assert not call.done()
        assert heard[-1]
        assert WORDS.startswith(heard[-1])
        at.scripted.piece_gate.set()
        assert (await call).text == WORDS
    assert heard[-1] == WORDS


async def test_an_answer_costs_the_same_whether_or_not_it_is_heard() -> None:
    asked, _ = heard_request()
    async with bench(Script(replies=ANSWER)) as at, bench(Script(replies=ANSWER)) as other:
        assert await at.model.complete(asked) == await other.model.complete(request())
        assert vars(at.endpoint.usage) == vars(other.endpoint.usage)
        assert at.scripted.log.requests == other.scripted.log.requests


async def test_the_next_answer_is_asked_for_whole_again() -> None:
    asked, _ = heard_request()
    async with bench(Script(replies=ANSWER, keep_bodies=True)) as at:
        await at.model.complete(asked)
        await at.model.complete(request())
        assert [body.get("stream") for body in at.scripted.log.bodies] == [True, None]


async def test_an_endpoint_that_sends_no_pieces_answers_once_and_is_not_heard() -> None:
    asked, heard = heard_request()
    async with bench(Script(replies=ANSWER, streams="ignored")) as at:
        assert (await at.model.complete(asked)).text == WORDS
        assert at.scripted.log.requests.total() == 1
    assert heard == []


async def test_an_endpoint_that_refuses_pieces_is_asked_whole_from_then_on() -> None:
    asked, heard = heard_request()
    async with bench(Script(replies=ANSWER, streams="refused", keep_bodies=True)) as at:
        for _ in range(2):
            assert (await at.model.complete(asked)).text == WORDS
        assert [body.get("stream") for body in at.scripted.log.bodies] == [True, None, None]
        assert at.scripted.log.answered.total() == 2
    assert heard == []


async def test_an_attempt_that_fails_takes_its_draft_back() -> None:
    asked, heard = heard_request()
    async with bench(Script(replies=ANSWER, first_faults=(Fault.CUT,))) as at:
        assert (await at.model.complete(asked)).text == WORDS
    voided = heard.index("")
    assert 0 < voided < len(heard) - 1
    assert heard[-1] == WORDS


async def test_a_call_that_fails_for_good_is_not_heard_whole() -> None:
    asked, heard = heard_request()
    async with bench(Script(first_faults=(Fault.SERVER_ERROR,) * 3), retries={"max_attempts": 2}) as at:
        with pytest.raises(EndpointFailedError):
            await at.model.complete(asked)
    assert heard == [""]


def test_pieces_may_break_anywhere() -> None:
    whole = pieces("Zwölf ", "bar – \u2028", "jetzt.")
    assert drafts_of(*(whole[at : at + 1] for at in range(len(whole))))[-1] == "Zwölf bar – \u2028jetzt."
    end = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    assert parse_completion(whole + end, "text/event-stream").text == "Zwölf bar – \u2028jetzt."


def test_thoughts_are_not_heard_and_no_more_than_an_answer_may_have() -> None:
    parts = ("\n<th", "ink>So ", "far", "</think>\nTwelve", " bar.")
    assert drafts_of(*map(pieces, parts)) == ["Twelve", "Twelve bar."]
    assert drafts_of(pieces("<table>"))[-1] == "<table>"
    assert drafts_of(pieces("a" * 6), pieces("a" * 6), pieces("a"), most_chars=10) == ["a" * 6]


@pytest.mark.parametrize(
    "bad",
    [
        b"data: {\n",
        b"data: \xff\n",
        b'data: {"choices": [{"delta": {"content": 7}}]}\n',
    ],
    ids=["half", "bytes", "number"],
)
def test_what_cannot_be_read_ends_the_draft(bad: bytes) -> None:
    assert drafts_of(pieces("Twelve"), bad, pieces(" bar.")) == ["Twelve"]
