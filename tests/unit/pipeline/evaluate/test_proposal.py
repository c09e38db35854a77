"""What is proposed as a golden reference, from claims whose support and vectors are given."""

import numpy as np
import pytest

from pipeline.evaluate.proposal import (
    FACT_COUNT,
    CheckedClaim,
    WrittenText,
    fact_candidates,
    find_entities,
    propose_reference,
    rank_by_coverage,
)


def claims_of(*sentences: str, refused: tuple[int, ...] = ()) -> tuple[str, list[CheckedClaim]]:
    """Writes a text with one claim for each sentence."""
    text, claims = "", []
    for index, sentence in enumerate(sentences):
        start = len(text)
        text += sentence + " "
        end = start + len(sentence)
        claims.append(CheckedClaim(start, end, sentence, len(sentence.split()), index not in refused))
    return text, claims


def numbered(count: int) -> list[str]:
    return [f"The pump {number} delivers {number} litres an hour." for number in range(count)]


def test_the_most_central_text_comes_first_and_then_what_it_leaves_unsaid() -> None:
    about_pumps = [[1.0, 0.0, 0.0], [0.96, 0.28, 0.0], [0.96, -0.28, 0.0]]
    vectors = np.array([*about_pumps, [0.0, 0.0, 1.0]])
    assert rank_by_coverage(vectors, np.ones(4))[:2] == [0, 3]


def test_of_two_texts_that_say_the_same_the_shorter_comes_first() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert rank_by_coverage(vectors, np.array([4.0, 2.0])) == [1, 0]


def test_a_fact_that_points_to_something_else_comes_last() -> None:
    text, claims = claims_of("The town will repay it until the year 2048.", *numbered(FACT_COUNT))
    reference = propose_reference(WrittenText(text, text, "Pumps."), claims, np.eye(FACT_COUNT + 1), 1)
    assert list(reference.key_facts) == numbered(FACT_COUNT)


def test_the_ranking_is_bounded() -> None:
    assert len(rank_by_coverage(np.eye(300), np.ones(300))) == 200


def test_a_sentence_with_a_claim_that_is_not_supported_gives_no_facts() -> None:
    text, claims = claims_of("The gate closed on Tuesday evening.", "The market was flooded once again.", refused=(1,))
    assert [claim.text for claim in fact_candidates(claims, text)] == ["The gate closed on Tuesday evening."]


@pytest.mark.parametrize(
    "sentence",
    [
        "They close within eighteen minutes of an alarm.",
        '"We expect no harm at all," she said.',
        "The gate held. The market stayed dry.",
        "The gate held.",
    ],
)
def test_what_is_not_one_statement_that_stands_alone_is_no_fact(sentence: str) -> None:
    text, claims = claims_of(sentence)
    assert fact_candidates(claims, text) == []


def test_a_heading_that_was_put_before_a_sentence_goes_and_a_label_of_the_document_stays() -> None:
    _, claims = claims_of("What it cost: The work cost 76 million dollars.", "WARNING: Close both valves before work.")
    document = "What it cost\n\nThe work cost\n76 million dollars.\n\nWARNING: Close both valves before work."
    assert [claim.text for claim in fact_candidates(claims, document)] == [
        "The work cost 76 million dollars.",
        "WARNING: Close both valves before work.",
    ]


def test_facts_stand_in_the_summary_in_the_order_of_the_document() -> None:
    text, claims = claims_of(*numbered(40))
    vectors = np.eye(40)[::-1]
    reference = propose_reference(WrittenText(text, text, "Pumps."), claims, vectors, 1)
    assert len(reference.key_facts) == FACT_COUNT
    assert sorted(reference.key_facts, key=text.index) == list(reference.key_facts)
    assert reference.summary == " ".join(reference.key_facts)
    assert sorted(reference.logical_outline, key=text.index) == list(reference.logical_outline)


def test_the_summary_has_its_target_length() -> None:
    text, claims = claims_of(*numbered(40))
    reference = propose_reference(WrittenText(text, text, "Pumps."), claims, np.eye(40), 200)
    assert len(reference.summary.split()) == pytest.approx(200, abs=8)


def test_fewer_facts_than_a_reference_must_have_are_none() -> None:
    text, claims = claims_of(*numbered(9))
    reference = propose_reference(WrittenText(text, text, "Pumps."), claims, np.eye(9), 100)
    assert (reference.key_facts, len(reference.logical_outline)) == ((), 7)


def test_entities_are_the_names_that_are_repeated_most_each_once() -> None:
    document = (
        "In spring the Water Authority began with the work and asked an engineer, Ann Holt, for her advice. "
        "Nobody at the Harlow Water Authority had known her before. Later the Water Authority paid her in full, "
        "and on the last day of May the engineer Ann Holt left. The Water Authority still runs the pumps at 5 Nm."
    )
    assert find_entities(document, document) == ["Water Authority", "Ann Holt"]
