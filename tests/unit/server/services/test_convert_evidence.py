"""An evidence table becomes a message without losing or swapping anything."""

from dataclasses import replace

from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.table import EvidenceTable, EvidenceTimings, Question
from server.rpc.fields import ResultView
from server.services.judge_reply import JUDGE_REPLIES
from tests.unit.server.mirror import Names, assert_mirrors, filled

FULL = JUDGE_REPLIES[ResultView.FULL]
NAMES: Names = {
    EvidenceTimings: {f"{name}_ms": name for name in ("total", "reading", "embedding", "proposals", "nli", "assembly")},
}


def test_every_part_of_the_table_is_sent() -> None:
    table = filled(EvidenceTable)
    message = FULL.to_evidence(table)
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
    message = FULL.to_evidence(table)
    unset = set(message.DESCRIPTOR.fields_by_name) - {field.name for field, _ in message.ListFields()}
    assert unset == set()
    same = (
        *("omitted_claim_count", "summary_token_count", "extraneous_token_count", "intent"),
        *("question_author", "notes"),
    )
    for name in same:
        sent = getattr(message, name)
        assert (tuple(sent) if name == "notes" else sent) == getattr(table, name)
    assert message.scored_pair_count == table.pair_count
    assert message.tokenizer == table.models.tokenizer
    assert message.theme.text == table.theme.quote


def test_what_was_not_found_is_not_set() -> None:
    one = replace(filled(Claim), premise=None, support=None)
    other = replace(filled(Question), given=None, given_span=None)
    table = FULL.to_evidence(replace(filled(EvidenceTable), claims=(one,), claim_questions=(other,)))
    [claim], [question] = table.claims, table.claim_questions
    assert not claim.HasField("support")
    assert not claim.HasField("premise")
    assert not question.HasField("given")
    assert not question.HasField("given_span")
