"""What endpoints really send, played against the real client and the real graph over a real socket."""

import asyncio
import json
import random
import socket
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.completion import JsonProblemError, extract_json, parse_completion
from pipeline.llm.config import LlmConfig, LlmRole
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import AnswerTimeoutError, ConnectionFailedError, EmptyAnswerError
from pipeline.llm.metering import FallbackChatModel
from pipeline.llm.openai import OpenAiChatModel, leave_time_before
from pipeline.llm.spoken import spoken
from scripts.benchmarks.endpoints.oddities import ODDITIES, Asked, Oddity, Sent, refused, sent
from scripts.benchmarks.endpoints.played import play, played
from tests.growth import grows_like_square
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Answer
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import SCHEMA, bench, request
from tests.unit.pipeline.summarize.fake_chat import FakeChat

ANSWER = "Pump P-3 runs at 12 bar.\n\n- Oil it <daily>.\n- Read `<think>` in the manual."
THOUGHTS = (
    *("", "<think>Hm.</think>\n", "Hm.\n</think>\n\n", "[THINK]Hm.[/THINK]", "◁think▷Hm.◁/think▷"),
    *('<Thinking time="3">Hm.</Thinking >', "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>"),
    *("<|channel>thought\nHm.<channel|>", "<tool_call>{}</tool_call>", "<|im_assistant|>assistant<|im_middle|>"),
)
CHANNEL = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>"
STOPS = ("", "<|im_end|>", "</s>\n", "<|eot_id|> </s>", "<|im_end|>\n<|im_start|>user\nHm.", "<|fim|>Hm.", "<pad><pad>")
NOISE: tuple[str, ...] = (
    "",
    ": hold on",
    "event: ping",
    'data: {"type": "ping"}',
    "data:",
    "data: 7",
    'data: {"choices": []}',
)
NOISE += (
    'data: {"choices": [{"index": 1, "delta": {"content": "Hm."}}]}',
    'data: {"choices": [{"delta": {"role": "a"}}]}',
)
FRAMES = ("data: {}", "data:{}", "data: {}\r\n", "{}")
ENDS = ("data: [DONE]", 'data: {"choices": [{"delta": null, "finish_reason": "stop"}]}')
GOOD = '{"topics": ["pumps", "valves"]}'
INSIDE = (', "more": NaN', ' // that is "all"\n', ', "why": {"a": [1,],}')
WRAPS = ("@", "[@]", '{"answer": @}', '{"type": "object", "properties": @,}')
AROUND = ("@", "```JSON\n@\n```", "So: @ {fine}", 'Is it {"topics": ["one"]}? No: @')
DOUBTED = ("logprobs", "response_format", "seed", "system", "temperature")
UNITS = (
    *("<think>", "</think>", "<think></think>", "\n<think>", "a<think>", "<|im_end|>", "<|im_end|> ", "\x1b[", "\x1b]"),
    *("</s> ", "[THINK]", "\n[THINK]", "<|channel|>", "<s>", "analysisassistantfinal", " \n", "<a>", "a<|x|>"),
)


@pytest.mark.parametrize("oddity", ODDITIES, ids=lambda oddity: f"{oddity.group} {oddity.name}")
async def test_an_oddity_ends_pollutes_and_halves_no_summary(oddity: Oddity, tmp_path: Path) -> None:
    played = await play(oddity, tmp_path)
    assert not played.problem
    assert not played.is_silent
    assert not (oddity.warns and played.resumed_calls)


@given(
    st.sampled_from((*THOUGHTS, CHANNEL)),
    st.sampled_from(STOPS),
    st.lists(st.sampled_from(NOISE), max_size=4),
    st.integers(1, 9),
    st.sampled_from(["text/event-stream", "application/json", "text/plain", ""]),
    st.sampled_from(ENDS),
    st.sampled_from(FRAMES),
)
def test_oddities_may_come_together(  # noqa: PLR0913, PLR0917 - one for each kind
    thoughts: str, stop: str, noise: list[str], pieces: int, kind: str, end: str, frame: str
) -> None:
    whole = thoughts + ANSWER + stop
    cuts = sorted(random.Random(pieces).sample(range(1, len(whole)), pieces))
    parts = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
    events = [{"choices": [{"delta": {"content": part}}]} for part in parts]
    lines = [line for event in events for line in (*noise, frame.format(_spread(event, pieces)))]
    completion = parse_completion("\r\n\r\n".join([*lines, end, ""]).encode(), kind)
    assert (completion.text.strip(), completion.finish_reason) == (ANSWER, "stop")


def _spread(event: object, pieces: int) -> str:
    """Writes an event, now and then over several lines of data."""
    return "\ndata:".join(json.dumps(event, indent=1).splitlines()) if pieces == 1 else json.dumps(event)


@given(st.permutations(INSIDE), st.integers(0, 3), st.sampled_from(WRAPS), st.sampled_from(AROUND))
def test_json_is_read_in_whatever_a_model_dresses_it(inside: list[str], count: int, wrap: str, around: str) -> None:
    text = '{"topics": ["pumps // oil", "valves, ]"]' + "".join(inside[:count]) + "}"
    found = extract_json(around.replace("@", wrap.replace("@", text)), SCHEMA)
    assert json.loads(found) == {"topics": ["pumps // oil", "valves, ]"]}


@pytest.mark.parametrize("fields", [*({name} for name in DOUBTED), set(DOUBTED)], ids=",".join)
async def test_a_refusal_that_names_nothing_is_understood_by_asking_otherwise(fields: set[str]) -> None:
    def refuses(asked: Asked) -> Sent:
        is_refused = fields & (asked.body.keys() | ({"system"} if asked.has_system else set()))
        return refused("Nein.") if is_refused else sent(GOOD, Answer(GOOD, "stop", 9, 9))

    async with played(refuses) as (base_url, requests):
        config = LlmConfig.model_validate({"base_url": base_url, "model": "m"})
        async with Endpoint(config) as endpoint:
            model = OpenAiChatModel(endpoint)
            asked = replace(request(json_schema=SCHEMA, top_logprobs=3), seed=1)
            for tries in (len(requests) + 8, 1):
                before = len(requests)
                assert (await model.complete(asked)).text == GOOD
                assert len(requests) - before <= tries
            assert fields <= model.dialect.refused <= fields | {"max_tokens"}


@given(st.text())
@settings(max_examples=300)
def test_what_holds_no_tag_is_left_as_it_is(text: str) -> None:
    plain = "".join(letter for letter in text if letter in "\n\t\r" or letter.isprintable())
    plain = plain.translate(dict.fromkeys(map(ord, "<[◁\x1b")))
    assert spoken(plain) == plain


@pytest.mark.parametrize("unit", UNITS)
def test_no_answer_costs_the_square_of_its_length(unit: str) -> None:
    assert not grows_like_square(spoken, lambda size: unit * (size // len(unit)))


def test_an_answer_in_runaway_fences_or_with_endless_values_costs_little() -> None:
    assert not grows_like_square(_json_of, lambda size: "```" + "\n" * size)
    schema = {"type": "array", "items": {"anyOf": [{"const": number} for number in range(1_150)]}}
    with pytest.raises(JsonProblemError, match="too many values"):
        extract_json(json.dumps([7] * 2_000), schema)


def _json_of(text: str) -> None:
    with suppress(JsonProblemError):
        extract_json(text, {"type": "object"})


def test_a_role_asks_in_its_own_way_and_leaves_the_rest_to_us() -> None:
    roles = {"all": {"reasoning_effort": "low"}, "critic": {"thinking_tokens": 900, "fallback": {"model": "small"}}}
    config = LlmConfig.model_validate({"base_url": "http://e/v1", "model": "m", "roles": roles})
    writer, critic = config.of_role(LlmRole.WRITER), config.of_role(LlmRole.CRITIC)
    assert (writer.reasoning_effort, writer.thinking_tokens, writer.fallback) == ("low", 0, None)
    assert (critic.reasoning_effort, critic.thinking_tokens) == ("low", 900)
    assert critic.fallback is not None
    assert (critic.fallback.model, critic.fallback.thinking_tokens) == ("small", 900)
    with pytest.raises(ValueError, match="messages"):
        LlmConfig.model_validate(
            {"base_url": "http://e/v1", "model": "m", "roles": {"all": {"extra_body": {"messages": 1}}}}
        )


async def test_a_silent_endpoint_is_left_while_the_caller_has_time() -> None:
    async with bench(Script(faults=FaultPlan({Fault.HANG: 1.0}))) as at:
        leave_time_before(time.monotonic() + 0.5)
        with pytest.raises(AnswerTimeoutError, match="while the caller has time"):  # else it waits without end
            await at.model.complete(request())


async def test_an_endpoint_without_a_sign_of_life_is_left_by_a_caller_who_can_do_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OpenAiChatModel, "silent_s", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as dead:  # connects, and reads nothing
        url = f"http://127.0.0.1:{dead.getsockname()[1]}/v1"
        async with bench(base_url=url, timeouts={"connect_s": 0.05}) as at:
            for is_known in (False, True):
                assert at.endpoint.is_silent is is_known
                with pytest.raises(ConnectionFailedError, match="no sign of life"):
                    await at.model.complete(replace(request(), asks_once=True))


async def test_a_slow_model_of_a_living_endpoint_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenAiChatModel, "silent_s", 0.0)
    async with bench() as at:
        at.scripted.gate.clear()
        asking = asyncio.create_task(at.model.complete(replace(request(), asks_once=True)))
        await at.scripted.log.until(lambda log: log.in_flight == 1)
        assert await at.endpoint.lives()
        assert not asking.done()
        at.scripted.gate.set()
        assert (await asking).text


async def test_a_fallback_answers_where_a_model_fails_and_both_are_paid() -> None:
    failure = EmptyAnswerError("nothing", finish_reason="stop")
    failure.usage = LlmUsage(2, 20, 2)
    first, second = FakeChat(failure), FakeChat("Twelve bar.", context_tokens=4_000)
    model = FallbackChatModel(first, second)
    completion = await model.complete(request())
    assert (completion.text, completion.usage) == ("Twelve bar.", LlmUsage(3, 30, 7))
    assert model.context_tokens == 4_000


async def test_what_a_role_adds_is_sent() -> None:
    roles = {"all": {"reasoning_effort": "low", "extra_body": {"top_k": 3}, "extra_headers": {"x-team": "pumps"}}}
    async with bench(Script(keep_bodies=True), roles=roles) as at:
        await at.model.complete(request())
        (body,) = at.scripted.log.bodies
    assert (body["reasoning_effort"], body["top_k"]) == ("low", 3)
