"""Endpoints that leave out parts of the protocol, and fields that not every endpoint takes."""

import asyncio
import base64
import json
import logging
from dataclasses import replace

import pytest

from pipeline.llm.chat_model import ChatMessage, ChatRequest, ImagePart
from pipeline.llm.errors import RequestRefusedError, SchemaMismatchError
from pipeline.llm.refusal import IMAGES
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import SCHEMA, bench, request

TOPICS = '{"topics": ["pumps", "valves"]}'


async def test_a_schema_is_enforced_by_the_endpoint_where_it_can() -> None:
    async with bench(Script(keep_bodies=True)) as at:
        completion = await at.model.complete(request(json_schema=SCHEMA))
        assert len(json.loads(completion.text)["topics"]) == 2
        (body,) = at.scripted.log.bodies
        assert body["response_format"]["json_schema"]["schema"] == SCHEMA  # type: ignore[index]


async def test_where_it_cannot_the_prompt_says_it() -> None:
    script = Script(
        keep_bodies=True, supports_json_schema=False, replies=(Reply("", f"Sure!\n```json\n{TOPICS}\n```"),)
    )
    async with bench(script) as at:
        completion = await at.model.complete(request(json_schema=SCHEMA))
        assert json.loads(completion.text) == json.loads(TOPICS)
        refused, asked = at.scripted.log.bodies
        assert "response_format" in refused
        assert "response_format" not in asked
        assert "JSON schema" in json.dumps(asked["messages"])


async def test_what_is_not_supported_is_found_out_by_the_first_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    script = Script(supports_json_schema=False, replies=(Reply("", TOPICS),))
    async with bench(script, rates={"max_concurrency": 4}) as at:
        with caplog.at_level(logging.WARNING):
            await asyncio.gather(*(at.model.complete(request(f"{n}", json_schema=SCHEMA)) for n in range(4)))
            refused = at.scripted.log.faults["unsupported_parameter"]
            await asyncio.gather(*(at.model.complete(request(f"{n}", json_schema=SCHEMA)) for n in range(16)))
        assert 1 <= refused == at.scripted.log.faults["unsupported_parameter"] <= 4
        assert at.scripted.log.requests.total() == 20 + refused
        assert [record.getMessage() for record in caplog.records] == [
            "endpoint_refuses model=scripted fields=response_format"
        ]


async def test_no_call_waits_for_another_to_find_out_what_is_supported() -> None:
    async with bench() as at:
        at.scripted.gate.clear()
        calls = [asyncio.create_task(at.model.complete(request(f"{n}", json_schema=SCHEMA))) for n in range(8)]
        await at.scripted.log.until(lambda log: log.in_flight == 8)
        at.scripted.gate.set()
        await asyncio.gather(*calls)


async def test_a_wrong_answer_is_an_error_without_the_answer() -> None:
    async with bench(Script(replies=(Reply("", "confidential pumps"),))) as at:
        with pytest.raises(SchemaMismatchError, match="no JSON") as caught:
            await at.model.complete(request(json_schema=SCHEMA))
        assert "confidential" not in str(caught.value)


async def test_json_that_ran_out_of_tokens_says_so() -> None:
    async with bench(Script(replies=(Reply("", TOPICS),))) as at:
        with pytest.raises(SchemaMismatchError, match="allow more max_tokens"):
            await at.model.complete(request(json_schema=SCHEMA, max_tokens=3))
        assert at.scripted.log.requests.total() == 1


async def test_settings_can_insist_on_enforcement_or_do_without() -> None:
    async with bench(Script(supports_json_schema=False), structured_output="json_schema") as at:
        with pytest.raises(RequestRefusedError, match="response_format"):
            await at.model.complete(request(json_schema=SCHEMA))
    script = Script(keep_bodies=True, replies=(Reply("", TOPICS),))
    async with bench(script, structured_output="prompt") as at:
        await at.model.complete(request(json_schema=SCHEMA))
        assert "response_format" not in at.scripted.log.bodies[0]


async def test_logprobs_are_returned_place_by_place() -> None:
    async with bench(Script(replies=(Reply("", "PASS it is"),))) as at:
        completion = await at.model.complete(request(top_logprobs=3))
        assert [place.alternatives[0][0] for place in completion.top_logprobs] == ["PASS ", "it ", "is"]
        best = [logprob for _, logprob in completion.top_logprobs[0].alternatives]
        assert len(best) == 3
        assert best == sorted(best, reverse=True)


async def test_without_logprobs_the_answer_comes_alone() -> None:
    async with bench(Script(supports_logprobs=False)) as at:
        for _ in range(2):
            assert (await at.model.complete(request(top_logprobs=3))).top_logprobs == ()
        assert at.scripted.log.requests.total() == 3


@pytest.mark.parametrize("stream", [False, True])
async def test_reasoning_models_get_the_fields_they_take(*, stream: bool) -> None:
    async with bench(Script(is_reasoning_model=True, keep_bodies=True), stream=stream) as at:
        await at.model.complete(request())
        await at.model.complete(request("again"))
        body = at.scripted.log.bodies[-1]
        assert body["max_completion_tokens"] == 100
        assert not {"max_tokens", "temperature"} & set(body)
        assert at.scripted.log.requests.total() == 4  # one refusal for each field, once


PICTURE = ImagePart("image/png", b"\x89PNG and more")


def looking(text: str = "What is wrong with this picture?") -> ChatRequest:
    return ChatRequest((ChatMessage("user", text, (PICTURE,)),), max_tokens=20, temperature=0.0)


async def test_pictures_follow_the_text_as_data_urls_and_other_messages_stay_plain_strings() -> None:
    async with bench(Script(keep_bodies=True)) as at:
        await at.model.complete(looking())
        (body,) = at.scripted.log.bodies
    text, image = body["messages"][0]["content"]  # type: ignore[index]
    assert text == {"type": "text", "text": "What is wrong with this picture?"}
    url = image["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert base64.b64decode(url.partition(",")[2]) == PICTURE.data
    async with bench(Script(keep_bodies=True)) as at:
        await at.model.complete(request())
        (body,) = at.scripted.log.bodies
    assert all(isinstance(message["content"], str) for message in body["messages"])  # type: ignore[attr-defined]


async def test_an_endpoint_that_takes_no_pictures_is_asked_once() -> None:
    async with bench(Script(supports_images=False)) as at:
        with pytest.raises(RequestRefusedError, match="takes no images") as caught:
            await at.model.complete(looking())
        assert caught.value.refused_fields == {IMAGES}
        assert at.scripted.log.requests.total() == 1


async def test_a_seed_is_sent_and_dropped_where_it_is_refused() -> None:
    seeded = replace(request(), seed=0)
    async with bench(Script(keep_bodies=True)) as at:
        await at.model.complete(seeded)
        assert at.scripted.log.bodies[0]["seed"] == 0
    async with bench(Script(keep_bodies=True, supports_seed=False)) as at:
        await at.model.complete(seeded)
        await at.model.complete(seeded)
        assert ["seed" in body for body in at.scripted.log.bodies] == [True, False, False]
