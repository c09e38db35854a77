"""An evidence table becomes a message without losing or swapping anything."""

from dataclasses import replace
from enum import Enum

import pytest
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from precis.v1 import evidence_pb2 as pb

from pipeline.judge.evidence.claim import Claim, ClaimLabel, MismatchKind
from pipeline.judge.evidence.table import (
    EvidenceTable,
    EvidenceTimings,
    KeyPoint,
    KeyPointCoverage,
    LexiconKind,
    LexiconSeverity,
    Question,
    SummarySegment,
    Tone,
    ToneReading,
)
from server.services.evidence_reply import (
    COVERED,
    LABELS,
    LEXICON_KINDS,
    MISMATCH_KINDS,
    SEVERITIES,
    TONES,
    to_claim,
    to_evidence,
    to_question,
)
from tests.unit.server.mirror import Names, assert_mirrors, filled

NAMES: Names = {
    Claim: {"nli_label": "nli_label"},
    KeyPoint: {"covered": "coverage"},
    SummarySegment: {"theme_cosine": "theme_cosine"},
    ToneReading: {
        "source": "source_tone",
        "summary": "summary_tone",
        "source_subjectivity": "source_subjectivity",
        "summary_subjectivity": "summary_subjectivity",
        "source_sentiment": "source_sentiment",
        "summary_sentiment": "summary_sentiment",
    },
    EvidenceTimings: {f"{name}_ms": name for name in ("total", "reading", "embedding", "proposals", "nli", "assembly")},
}


def test_every_part_of_the_table_is_sent() -> None:
    table = filled(EvidenceTable)
    message = to_evidence(table)
    for value, sent in (
        *zip(table.claims, message.claims, strict=True),
        *zip(table.twin_key_points, message.twin_key_points, strict=True),
        *zip(table.judge_key_points, message.judge_key_points, strict=True),
        *zip(table.segments, message.segments, strict=True),
        *zip(table.coverage_questions, message.coverage_questions, strict=True),
        *zip(table.claim_questions, message.claim_questions, strict=True),
        *zip(table.lexicon_hits, message.lexicon_hits, strict=True),
        (table.tone, message.tone),
        (table.timings, message.timings),
    ):
        assert_mirrors(value, sent, NAMES)


def test_the_numbers_of_the_whole_table_are_sent() -> None:
    table = filled(EvidenceTable)
    message = to_evidence(table)
    unset = set(message.DESCRIPTOR.fields_by_name) - {field.name for field, _ in message.ListFields()}
    assert unset == set()
    same = (
        *("omitted_claim_count", "window_count", "summary_token_count", "extraneous_token_count", "intent"),
        *("question_author", "notes"),
    )
    renamed = {"question_author": "question_author"}
    for name in same:
        sent = getattr(message, renamed.get(name, name))
        assert (tuple(sent) if name == "notes" else sent) == getattr(table, name)
    assert (message.scored_pair_count, message.exact_pair_count) == (
        table.pairs.scored_pair_count,
        table.pairs.exact_pair_count,
    )
    assert message.tokenizer == table.models.tokenizer
    assert message.theme.text == table.theme.quote


def test_what_was_not_found_is_not_set() -> None:
    claim = to_claim(replace(filled(Claim), support=None, opposition=None))
    assert not claim.HasField("support")
    assert not claim.HasField("opposition")
    question = to_question(replace(filled(Question), given=None, given_span=None))
    assert not question.HasField("given")
    assert not question.HasField("given_span")


@pytest.mark.parametrize(
    ("numbers", "kind", "known"),
    [
        (LABELS, ClaimLabel, pb.ClaimLabel),
        (COVERED, KeyPointCoverage, pb.KeyPointCoverage),
        (TONES, Tone, pb.Tone),
        (MISMATCH_KINDS, MismatchKind, pb.MismatchKind),
        (LEXICON_KINDS, LexiconKind, pb.LexiconKind),
        (SEVERITIES, LexiconSeverity, pb.LexiconSeverity),
    ],
)
def test_every_member_has_a_number_of_its_own(
    numbers: dict[Enum, int], kind: type[Enum], known: EnumTypeWrapper
) -> None:
    assert set(numbers) == set(kind)
    assert set(numbers.values()) == set(known.values()) - {0}
    assert all(known.Name(number).endswith(member.name) for member, number in numbers.items())
