"""What a chat model says of claims is believed where it quotes the passage."""

import json

import pytest

from pipeline.judge.language_model.second_reading import LlmSecondReader
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import bench

CLAIMS = [(f"Bridge {number} opened in 1932, it is old.", f"Bridge {number} is old.") for number in range(20)]


def readings(*given: tuple[int, bool, str | None]) -> str:
    return json.dumps({"readings": [{"id": at, "supported": told, "quote": quote} for at, told, quote in given]})


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (readings((0, True, "IT is  old"), (1, False, None)), {0: (True, "it is old"), 1: (False, "")}),
        (readings((0, True, "it is ancient"), (1, False, "ancient")), {1: (False, "")}),
        (readings((0, True, None), (7, True, "it is old"), (1, True, "it is old")), {1: (True, "it is old")}),
        (readings((0, True, "it is ancient")), {}),
        ("Yes, it is.", {}),
    ],
    ids=["as asked", "a quote that does not stand", "no quote, no such claim", "nothing usable", "no JSON"],
)
async def test_a_claim_is_called_supported_by_words_of_its_passage_alone(
    reply: str, expected: dict[int, tuple[bool, str]]
) -> None:
    async with bench(Script(replies=(Reply("", reply),))) as at:
        assert await LlmSecondReader(at.model).read(CLAIMS[:2]) == expected


async def test_many_claims_share_a_call_and_none_sees_more_than_its_passage() -> None:
    async with bench(
        Script(replies=(Reply("", readings((0, False, None), (19, False, None))),), keep_bodies=True)
    ) as at:
        found = await LlmSecondReader(at.model).read(CLAIMS)
        prompts = [json.dumps(body["messages"]) for body in at.scripted.log.bodies]
    assert (len(prompts), sorted(found)) == (2, [0, 19])
    assert sum(prompt.count("opened in 1932") for prompt in prompts) == len(CLAIMS)
