"""Checks the requests of InferenceService and takes the texts out of them."""

from collections.abc import Iterator, Sequence
from itertools import islice

from precis.v1 import inference_pb2

from inference.errors import InputTooLongError, ListTooLongError
from server.call_terms import priority_violations
from server.config import LimitsConfig
from server.errors import FieldViolation, InvalidRequestError

MAX_VIOLATIONS = 10  # of one response: they travel in a header, whose size clients limit to 8 KiB


def parse_texts(request: inference_pb2.EmbedRequest, limits: LimitsConfig) -> list[str]:
    """Returns the texts of an Embed request. Raises InvalidRequestError naming each wrong field."""
    texts = list(request.texts)
    if not _all_fit(texts, limits) or len(texts) > limits.max_items or request.priority:
        _refuse(_text_violations(request, texts, limits))
    return texts


def parse_pairs(request: inference_pb2.EntailRequest, limits: LimitsConfig) -> list[tuple[str, str]]:
    """Returns premise and hypothesis of every pair. Raises InvalidRequestError naming each wrong field."""
    pairs = [(pair.premise, pair.hypothesis) for pair in request.pairs]
    is_fit = _all_fit([text for pair in pairs for text in pair], limits)
    if not is_fit or len(pairs) > limits.max_items or request.priority:
        _refuse(_pair_violations(request, pairs, limits))
    return pairs


def to_invalid_request(error: InputTooLongError | ListTooLongError, field: str) -> InvalidRequestError:
    """Names the field that the engine refused; it knows items, not requests."""
    if isinstance(error, InputTooLongError):
        expected = f"expected at most {error.limit} characters, got {error.char_count}"
        return InvalidRequestError([FieldViolation(f"{field}[{error.index}]", expected)])
    expected = f"expected at most {error.limit} {error.unit} in one request, got {error.size}"
    return InvalidRequestError([FieldViolation(field, expected)])


def _all_fit(texts: Sequence[str], limits: LimitsConfig) -> bool:
    """Passes almost every request without looking at it twice."""
    limit = limits.max_text_chars
    return bool(texts) and all(text and len(text) <= limit and not text.isspace() for text in texts)


def _refuse(violations: Iterator[FieldViolation]) -> None:
    found = list(islice(violations, MAX_VIOLATIONS))
    if found:
        raise InvalidRequestError(found)


def _text_violations(
    request: inference_pb2.EmbedRequest, texts: Sequence[str], limits: LimitsConfig
) -> Iterator[FieldViolation]:
    yield from priority_violations(request.priority)
    yield from _count_violations("texts", len(texts), limits)
    for index, text in enumerate(texts):
        yield from _violations_of(f"texts[{index}]", text, limits)


def _pair_violations(
    request: inference_pb2.EntailRequest, pairs: Sequence[tuple[str, str]], limits: LimitsConfig
) -> Iterator[FieldViolation]:
    yield from priority_violations(request.priority)
    yield from _count_violations("pairs", len(pairs), limits)
    for index, (premise, hypothesis) in enumerate(pairs):
        yield from _violations_of(f"pairs[{index}].premise", premise, limits)
        yield from _violations_of(f"pairs[{index}].hypothesis", hypothesis, limits)


def _count_violations(field: str, count: int, limits: LimitsConfig) -> Iterator[FieldViolation]:
    if not 1 <= count <= limits.max_items:
        yield FieldViolation(field, f"expected 1 to {limits.max_items} {field}, got {count}")


def _violations_of(field: str, text: str, limits: LimitsConfig) -> Iterator[FieldViolation]:
    if not text or text.isspace():
        yield FieldViolation(field, "expected a text, got an empty one")
    elif len(text) > limits.max_text_chars:
        yield FieldViolation(field, f"expected at most {limits.max_text_chars} characters, got {len(text)}")
