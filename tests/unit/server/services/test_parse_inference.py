"""Requests of InferenceService are checked field by field."""

from typing import Any

import pytest
from precis.v1 import inference_pb2

from inference.errors import InputTooLongError, ListTooLongError
from server.config import LimitsConfig
from server.errors import FieldViolation, InvalidRequestError
from server.services.inference import MAX_VIOLATIONS, parse_pairs, parse_texts, to_invalid_request

LIMITS = LimitsConfig(max_items=4, max_text_chars=10)


def violations(request: inference_pb2.EmbedRequest | inference_pb2.EntailRequest) -> list[tuple[str, str]]:
    """Returns field and description of everything that is wrong with a request."""
    parse: Any = parse_texts if isinstance(request, inference_pb2.EmbedRequest) else parse_pairs
    with pytest.raises(InvalidRequestError) as caught:
        parse(request, LIMITS)
    return [(violation.field, violation.description) for violation in caught.value.violations]


def embed(*texts: str, priority: int = 0) -> inference_pb2.EmbedRequest:
    return inference_pb2.EmbedRequest(texts=texts, priority=priority)  # type: ignore[arg-type]  # unknown enums too


def entail(*pairs: tuple[str, str]) -> inference_pb2.EntailRequest:
    return inference_pb2.EntailRequest(
        pairs=[inference_pb2.TextPair(premise=premise, hypothesis=hypothesis) for premise, hypothesis in pairs]
    )


def test_texts_come_out_in_order() -> None:
    assert parse_texts(embed("one", "two", priority=2), LIMITS) == ["one", "two"]


def test_pairs_come_out_in_order() -> None:
    assert parse_pairs(entail(("p", "h"), ("q", "i")), LIMITS) == [("p", "h"), ("q", "i")]


def test_a_text_at_the_limit_is_accepted() -> None:
    assert parse_texts(embed("x" * 10), LIMITS) == ["x" * 10]


def test_no_texts_is_a_violation_of_the_list() -> None:
    assert violations(embed()) == [("texts", "expected 1 to 4 texts, got 0")]


def test_too_many_pairs_is_a_violation_of_the_list() -> None:
    assert violations(entail(*[("p", "h")] * 5)) == [("pairs", "expected 1 to 4 pairs, got 5")]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2003"])
def test_an_empty_text_is_named(text: str) -> None:
    assert violations(embed("one", "two", text)) == [("texts[2]", "expected a text, got an empty one")]


def test_a_too_long_text_is_named_and_not_quoted() -> None:
    assert violations(embed("x" * 11)) == [("texts[0]", "expected at most 10 characters, got 11")]


def test_each_side_of_a_pair_is_named() -> None:
    assert violations(entail(("p", "h"), ("", "x" * 11))) == [
        ("pairs[1].premise", "expected a text, got an empty one"),
        ("pairs[1].hypothesis", "expected at most 10 characters, got 11"),
    ]


def test_an_unknown_priority_is_named_with_the_known_ones() -> None:
    [(field, description)] = violations(embed("one", priority=7))
    assert field == "priority"
    assert "PRIORITY_BULK (2)" in description
    assert description.endswith("got 7")


def test_the_number_of_violations_is_bounded() -> None:
    request = embed(*[""] * 1000)
    assert len(violations(request)) == MAX_VIOLATIONS


def test_the_engines_refusal_of_one_item_becomes_its_field() -> None:
    error = to_invalid_request(InputTooLongError(3, char_count=12, limit=9), "pairs")
    assert error.violations == (FieldViolation("pairs[3]", "expected at most 9 characters, got 12"),)


def test_the_engines_refusal_of_a_list_becomes_its_field() -> None:
    error = to_invalid_request(ListTooLongError(900, limit=512, unit="tokens"), "texts")
    assert error.violations == (FieldViolation("texts", "expected at most 512 tokens in one request, got 900"),)
