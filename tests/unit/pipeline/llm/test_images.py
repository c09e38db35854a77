"""Pictures in messages, and the seed: fields that not every endpoint takes."""

import base64
from dataclasses import replace

import pytest

from pipeline.llm.chat_model import ChatMessage, ChatRequest, ImagePart
from pipeline.llm.errors import RequestRefusedError
from pipeline.llm.refusal import IMAGES
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import bench, request

PICTURE = ImagePart("image/png", b"\x89PNG and more")


def looking(text: str = "What is wrong with this picture?") -> ChatRequest:
    return ChatRequest((ChatMessage("user", text, (PICTURE,)),), max_tokens=20, temperature=0.0)


async def test_pictures_follow_the_text_as_data_urls() -> None:
    async with bench(Script(keep_bodies=True)) as at:
        await at.model.complete(looking())
        (body,) = at.scripted.log.bodies
    text, image = body["messages"][0]["content"]  # type: ignore[index]
    assert text == {"type": "text", "text": "What is wrong with this picture?"}
    url = image["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert base64.b64decode(url.partition(",")[2]) == PICTURE.data


async def test_messages_without_pictures_stay_plain_strings() -> None:
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
