"""Which field makes a message unreadable."""

from typing import Any

import pytest
from google.protobuf.message import Message
from precis.v1 import common_pb2, evaluate_pb2, inference_pb2, judge_pb2, summarize_pb2

from pipeline.summarize.config import SummarizeLimits
from server.errors import FieldViolation
from server.rpc.wire import MOST_FIELDS, NO_LIMIT, MalformedRequest, explain, tolerant

BAD = b"caf\xe9 au lait"  # Latin-1


def delimited(number: int, value: bytes) -> bytes:
    """Encodes a field that has a length; for values below 2 MiB."""
    size = len(value)
    length = [size] if size < 1 << 7 else [size & 127 | 128, size >> 7 & 127 | 128, size >> 14]
    return bytes([number << 3 | 2, *length]) + value


def number_of(message: Any, field: str) -> int:  # noqa: ANN401 - a class of generated messages
    """Looks a field's number up."""
    number: int = message.DESCRIPTOR.fields_by_name[field].number
    return number


def refused(message: type[Message], data: bytes, max_bytes: int = NO_LIMIT) -> FieldViolation:
    """Returns why bytes are refused without being parsed."""

    def never(data: bytes) -> Message:
        raise AssertionError("parsed")

    request = tolerant(never, message, max_bytes)(data)
    assert isinstance(request, MalformedRequest)
    return request.violation


LIMIT = 1 << 17
CHUNKS = [summarize_pb2.DocumentChunk(text="Torque.", page_number=1)] * SummarizeLimits().max_chunks


@pytest.mark.parametrize(
    ("request_", "max_bytes"),
    [
        (inference_pb2.EmbedRequest(texts=["a", "b"], priority=common_pb2.PRIORITY_BULK), NO_LIMIT),
        (inference_pb2.EmbedRequest(texts=["word " * 2] * 10_000), LIMIT),
        (summarize_pb2.SummarizeRequest(document=summarize_pb2.Document(chunks=CHUNKS)), NO_LIMIT),
    ],
    ids=["small", "within the limits", "as many chunks as may be"],
)
def test_a_good_message_is_parsed_as_ever(request_: Message, max_bytes: int) -> None:
    message = type(request_)
    assert tolerant(message.FromString, message, max_bytes)(request_.SerializeToString()) == request_


def test_the_fourth_text_is_named() -> None:
    data = b"".join(delimited(1, text) for text in (b"one", b"two", b"three", BAD))
    request = tolerant(inference_pb2.EmbedRequest.FromString, inference_pb2.EmbedRequest)(data)
    assert isinstance(request, MalformedRequest)
    assert request.violation == FieldViolation("texts[3]", "expected UTF-8, got an invalid byte at offset 3")


def test_a_field_inside_a_repeated_message_is_named() -> None:
    good = delimited(1, b"premise") + delimited(2, b"hypothesis")
    data = delimited(2, b"") + delimited(1, good) + delimited(1, delimited(1, b"premise") + delimited(2, BAD))
    assert explain(data, inference_pb2.EntailRequest.DESCRIPTOR).violation.field == "pairs[1].hypothesis"


def test_the_first_of_several_is_named() -> None:
    data = delimited(1, BAD) + delimited(1, BAD)
    assert explain(data, inference_pb2.EmbedRequest.DESCRIPTOR).violation.field == "texts[0]"


def test_an_items_id_survives_its_bad_field() -> None:
    summary = delimited(1, BAD)
    request = delimited(2, summary)
    data = delimited(1, b"item-7") + delimited(2, request)
    malformed = explain(data, evaluate_pb2.EvaluateStreamRequest.DESCRIPTOR)
    assert malformed.violation.field.startswith("request.generated.")
    assert malformed.strings == {"id": "item-7"}


@pytest.mark.parametrize(
    "data",
    [
        b"\xff" * 12,  # a number without an end
        b"\x0a\x7fshort",  # a length beyond the end
        b"\x0b",  # a group, which proto3 has not
        b"\x0a",  # a key without a value
        b"\x0d\x00",  # four bytes of which one is there
    ],
)
def test_bytes_that_are_no_message_blame_no_field(data: bytes) -> None:
    request = tolerant(inference_pb2.EmbedRequest.FromString, inference_pb2.EmbedRequest)(data)
    assert isinstance(request, MalformedRequest)
    assert request.violation.field == ""
    assert "precis.v1.EmbedRequest" in request.violation.description


def test_unknown_fields_and_numbers_are_passed_over() -> None:
    data = b"\x10\x01" + b"\x99\x01" + bytes(8) + b"\x1d" + bytes(4) + delimited(9, BAD) + delimited(1, BAD)
    assert explain(data, inference_pb2.EmbedRequest.DESCRIPTOR).violation.field == "texts[0]"


def test_what_is_too_large_is_refused_without_being_parsed() -> None:
    data = inference_pb2.EmbedRequest(texts=["x", "y" * LIMIT, "z"]).SerializeToString()
    violation = refused(inference_pb2.EmbedRequest, data, LIMIT)
    assert (violation.field, "at most 0.125 MiB" in violation.description) == ("texts[1]", True)


UNKNOWN_NUMBERS = b"\x78\x00" * (MOST_FIELDS + 1)


@pytest.mark.parametrize(
    ("message", "data", "field"),
    [
        (judge_pb2.JudgeRequest, UNKNOWN_NUMBERS, ""),
        (judge_pb2.JudgeRequest, b"\x7a\x00" * (MOST_FIELDS + 1), ""),
        (
            judge_pb2.JudgeRequest,
            delimited(number_of(judge_pb2.JudgeRequest, "frameworks"), b"\x01" * (MOST_FIELDS + 1)),
            "frameworks",
        ),
        (
            summarize_pb2.SummarizeRequest,
            delimited(
                number_of(summarize_pb2.SummarizeRequest, "document"),
                delimited(number_of(summarize_pb2.Document, "chunks"), b"") * (MOST_FIELDS + 1),
            ),
            "document.chunks",
        ),
    ],
    ids=["unknown numbers", "unknown texts", "packed", "inside a message"],
)
def test_a_message_of_very_many_fields_is_refused_without_being_parsed(
    message: type[Message], data: bytes, field: str
) -> None:
    violation = refused(message, data)
    assert (violation.field, str(MOST_FIELDS) in violation.description) == (field, True)


def test_a_long_message_of_groups_is_refused_without_being_parsed() -> None:
    assert "precis.v1.JudgeRequest" in refused(judge_pb2.JudgeRequest, b"\x7b\x7c" * MOST_FIELDS).description


def test_nobody_looks_for_the_bad_text_among_very_many_fields() -> None:
    data = delimited(number_of(judge_pb2.JudgeRequest, "options"), UNKNOWN_NUMBERS) + delimited(1, BAD)
    assert explain(data, judge_pb2.JudgeRequest.DESCRIPTOR).violation.field == ""
