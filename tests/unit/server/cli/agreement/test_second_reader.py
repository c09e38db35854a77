"""What `precis calibrate --second-reader` says, and what it would write."""

import random

import pytest
from precis.v1 import evidence_pb2

from server.cli.agreement.calibrate import LabelledClaim, second_reader_of
from server.cli.errors import InputError


def claims_read_by(accuracy: float | None) -> list[LabelledClaim]:
    """Claims that the first reader is half sure of, a third of them; None: the second one gave no answer."""
    drawn, claims = random.Random(3), []
    for number in range(600):
        is_good, sure = number % 2 == 0, 0.9 if number % 3 else 0.45 + 0.1 * drawn.random()
        claim = evidence_pb2.Claim(probability=sure if is_good or number % 3 == 0 else 1 - sure)
        if accuracy is not None:
            claim.second_reading.is_supported = is_good == (drawn.random() < accuracy)
        claims.append(LabelledClaim(claim, f"source {number}", is_good))
    return claims


def test_a_reader_that_helps_is_written_with_what_was_measured_and_another_is_not() -> None:
    words, reader = second_reader_of(claims_read_by(0.95), "a model, prompts 1")
    assert reader is not None
    assert reader.reader == "a model, prompts 1"
    assert reader.low <= 0.5 <= reader.high
    assert reader.measured["claims"] == 600
    assert reader.measured["gain_low"] > 0
    assert f"{reader.low:g} to {reader.high:g}" in words
    words, reader = second_reader_of(claims_read_by(0.5), "a model, prompts 1")
    assert reader is None
    assert "nothing was written" in words


@pytest.mark.parametrize(("accuracy", "model"), [(None, "a model"), (0.95, "")])
def test_without_a_language_model_it_is_said_what_to_set(accuracy: float | None, model: str) -> None:
    with pytest.raises(InputError, match=r"set llm\.base_url"):
        second_reader_of(claims_read_by(accuracy), model)
