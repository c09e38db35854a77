"""Requests of InferenceService are checked field by field, and answers become messages without losing a bit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from precis.v1 import common_pb2, inference_pb2

from inference.call import Call
from inference.errors import ListTooLongError, PoisonedItemError
from inference.front_doors import ItemBatch
from server.config import LimitsConfig
from server.errors import InvalidRequestError
from server.services.inference import (
    MAX_VIOLATIONS,
    asked,
    parse_pairs,
    parse_texts,
    to_embed_response,
    to_entail_response,
)

LIMITS = LimitsConfig(max_items=4, max_text_chars=10)


def violations(request: inference_pb2.EmbedRequest | inference_pb2.EntailRequest) -> list[tuple[str, str]]:
    """Returns field and description of everything that is wrong with a request."""
    parse: Any = parse_texts if isinstance(request, inference_pb2.EmbedRequest) else parse_pairs
    with pytest.raises(InvalidRequestError) as caught:
        parse(request, LIMITS)
    return [(violation.field, violation.description) for violation in caught.value.violations]


def embed(*texts: str) -> inference_pb2.EmbedRequest:
    return inference_pb2.EmbedRequest(texts=texts)


def entail(*pairs: tuple[str, str]) -> inference_pb2.EntailRequest:
    return inference_pb2.EntailRequest(
        pairs=[inference_pb2.TextPair(premise=premise, hypothesis=hypothesis) for premise, hypothesis in pairs]
    )


def test_texts_and_pairs_up_to_the_limit_come_out_in_order() -> None:
    assert parse_texts(embed("one", "x" * 10), LIMITS) == ["one", "x" * 10]
    assert parse_pairs(entail(("p", "h"), ("q", "i")), LIMITS) == [("p", "h"), ("q", "i")]


EMPTY = "expected a text, got an empty one"
LONG = "expected at most 10 characters, got 11"  # and not quoted


@pytest.mark.parametrize(
    ("request_", "wrong"),
    [
        (embed(), [("texts", "expected 1 to 4 texts, got 0")]),
        (entail(*[("p", "h")] * 5), [("pairs", "expected 1 to 4 pairs, got 5")]),
        *((embed("one", "two", text), [("texts[2]", EMPTY)]) for text in ("", " ", "\n\t\u2003")),
        (embed("x" * 11), [("texts[0]", LONG)]),
        (entail(("p", "h"), ("", "x" * 11)), [("pairs[1].premise", EMPTY), ("pairs[1].hypothesis", LONG)]),
    ],
)
def test_each_wrong_field_is_named(
    request_: inference_pb2.EmbedRequest | inference_pb2.EntailRequest, wrong: list[tuple[str, str]]
) -> None:
    assert violations(request_) == wrong


def test_the_number_of_violations_is_bounded() -> None:
    request = embed(*[""] * 1000)
    assert len(violations(request)) == MAX_VIOLATIONS


async def test_the_engines_refusal_becomes_its_field() -> None:
    async def refuse(items: Sequence[str], call: Call) -> ItemBatch:
        raise ListTooLongError(900, limit=512, unit="tokens")

    with pytest.raises(InvalidRequestError, match="texts: expected at most 512 tokens in one request, got 900"):
        await asked(refuse, ["one"], Call(), "texts")


MODEL = common_pb2.ModelIdentity(name="tiny", revision="1", sha256="0" * 64)


@pytest.mark.parametrize("dimension", [1, 31, 32, 384, 4096])
def test_vectors_arrive_bit_by_bit(dimension: int) -> None:
    values = np.random.default_rng(dimension).normal(size=(3, dimension)).astype(np.float32)
    batch = ItemBatch(values, {}, (5, 6, 7), (False, True, False), 0.25, 1.5, 2)
    response = to_embed_response(batch, MODEL, "call-1")
    received = np.array([result.embedding.values for result in response.results], np.float32)
    assert received.tobytes() == values.tobytes()
    assert [result.embedding.token_count for result in response.results] == [5, 6, 7]
    assert [result.embedding.truncated for result in response.results] == [False, True, False]
    assert response.model == MODEL
    assert response.timings.queue.ToTimedelta().total_seconds() == 0.25
    assert response.timings.compute.ToTimedelta().total_seconds() == 1.5
    assert response.timings.cache_hit_count == 2


def test_a_failed_text_is_an_error_at_its_place() -> None:
    values = np.ones((2, 4), np.float32)
    values[0] = np.nan
    batch = ItemBatch(values, {0: PoisonedItemError()}, (3, 3), (False, False), 0, 0, 0)
    response = to_embed_response(batch, MODEL, "call-1")
    assert [result.WhichOneof("result") for result in response.results] == ["error", "embedding"]
    assert response.results[0].error.field == "texts[0]"


def test_probabilities_keep_their_names() -> None:
    values = np.array([[0.75, 0.125, 0.125], [np.nan] * 3], np.float32)
    batch = ItemBatch(values, {1: PoisonedItemError()}, (9, 4), (True, False), 0, 0, 0)
    response = to_entail_response(batch, MODEL, "call-1")
    scores = response.results[0].scores
    assert (scores.entailment, scores.neutral, scores.contradiction) == (0.75, 0.125, 0.125)
    assert (scores.token_count, scores.truncated) == (9, True)
    assert response.results[1].error.field == "pairs[1]"
