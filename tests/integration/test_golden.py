"""The answers to golden requests are what they were when they were recorded (tests/golden)."""

import math
import struct
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.golden.answer import Answer, Recorded, arithmetic, read_answers
from tests.golden.case import message_class, to_bytes
from tests.golden.difference import difference
from tests.golden.record import all_cases
from tests.golden.runner import Runner
from tests.golden.servers import golden_servers

HEADER, RECORDED = read_answers()
BY_NAME = {one.case.name: one for one in RECORDED}
EMBED, MODELS = BY_NAME["Embed/one"], BY_NAME["ListModels/"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runner(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runner]:
    """Of servers with the installed models."""
    async with golden_servers(tmp_path_factory.mktemp("golden")) as servers:
        yield Runner(servers, [one.case for one in RECORDED])


def differs(recorded: Recorded, answer: Answer, *, is_exact: bool) -> bool:
    name = recorded.case.method.output_type.full_name
    return difference(name, recorded.answer, answer, is_exact=is_exact) != ""


def with_first_float(value: float) -> Answer:
    """The embedding with another first number."""
    [response] = EMBED.answer.responses
    message = message_class("precis.v1.EmbedResponse").FromString(response)
    message.results[0].embedding.values[0] = value  # type: ignore[attr-defined]  # of a message found by name
    return Answer((to_bytes(message),))


def first_float() -> float:
    message = message_class("precis.v1.EmbedResponse").FromString(EMBED.answer.responses[0])
    return float(message.results[0].embedding.values[0])  # type: ignore[attr-defined]  # the same


def next_float32(value: float) -> float:
    [bits] = struct.unpack("<I", struct.pack("<f", value))
    return float(struct.unpack("<f", struct.pack("<I", bits + 1))[0])


@pytest.mark.models
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", BY_NAME)
async def test_the_answer_is_the_recorded_one(runner: Runner, name: str) -> None:
    recorded = BY_NAME[name]
    message_name = recorded.case.method.output_type.full_name
    got = await runner.answer(name)
    assert difference(message_name, recorded.answer, got, is_exact=arithmetic() == HEADER["arithmetic"]) == ""


def test_the_requests_that_are_built_today_are_the_recorded_ones() -> None:
    assert all_cases() == [one.case for one in RECORDED]


def test_every_rpc_has_a_golden_request() -> None:
    services = {one.case.method.containing_service for one in RECORDED}
    asked = {one.case.rpc for one in RECORDED}
    ours = [service for service in services if service.full_name.startswith("precis.")]
    assert len(ours) == 4
    assert {method.full_name for service in ours for method in service.methods} <= asked


def test_a_changed_last_bit_is_seen_unless_floats_may_differ() -> None:
    changed = with_first_float(next_float32(first_float()))
    assert differs(EMBED, changed, is_exact=True)
    assert not differs(EMBED, changed, is_exact=False)


@pytest.mark.parametrize("value", [0.5, math.nan, math.inf])
def test_a_float_that_is_another_number_is_always_seen(value: float) -> None:
    assert differs(EMBED, with_first_float(value), is_exact=False)


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_changed_string_is_seen(is_exact: bool) -> None:  # noqa: FBT001 - a parameter of the test
    [response] = MODELS.answer.responses
    message = message_class("precis.v1.ListModelsResponse").FromString(response)
    message.models[0].license += "x"  # type: ignore[attr-defined]  # of a message found by name
    assert differs(MODELS, Answer((to_bytes(message),)), is_exact=is_exact)


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_missing_message_is_seen(is_exact: bool) -> None:  # noqa: FBT001 - a parameter of the test
    stream = BY_NAME["JudgeStream/city"]
    assert differs(stream, Answer(stream.answer.responses[:-1]), is_exact=is_exact)
    response = message_class("precis.v1.EmbedResponse").FromString(EMBED.answer.responses[0])
    response.ClearField("model")
    assert differs(EMBED, Answer((to_bytes(response),)), is_exact=is_exact)


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_changed_error_is_seen(is_exact: bool) -> None:  # noqa: FBT001 - a parameter of the test
    refused = BY_NAME["Embed/refused, none"]
    assert not differs(refused, refused.answer, is_exact=is_exact)
    for answer in (
        Answer((), "INTERNAL", refused.answer.message, refused.answer.details),
        Answer((), refused.answer.code, "another", refused.answer.details),
        Answer((), refused.answer.code, refused.answer.message, b""),
    ):
        assert differs(refused, answer, is_exact=is_exact)


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("a score of 0.12", "a score of 0.13", True),
        ("a score of 0.12", "a score of 0.14", False),
        ("a score of 0.12000", "a score of 0.12020", False),
        ("3 of 5 claims", "4 of 5 claims", False),
    ],
)
def test_decimals_inside_a_string_may_differ_by_their_rounding(old: str, new: str, *, is_same: bool) -> None:
    kind = message_class("precis.v1.TextSpan")
    answers = []
    for text in (old, new):
        span = kind()
        span.text = text  # type: ignore[attr-defined]  # of a message found by name
        answers.append(Answer((to_bytes(span),)))
    assert (difference("precis.v1.TextSpan", *answers, is_exact=False) == "") is is_same
