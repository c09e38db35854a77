import json

import pytest

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.datum import GeneratedSummary
from pipeline.evaluate.hard_fails import SplitText, read_summary
from pipeline.evaluate.result import HardFail, HardFailRule

CONFIG = EvaluateConfig()


def fail_of(
    text: str, *, finish_reason: str = "", structured: bool = False, config: EvaluateConfig = CONFIG
) -> HardFail:
    read = read_summary(GeneratedSummary(text=text, finish_reason=finish_reason, structured_output=structured), config)
    assert isinstance(read, HardFail)
    return read


def text_of(text: str, *, structured: bool = False, config: EvaluateConfig = CONFIG) -> SplitText:
    read = read_summary(GeneratedSummary(text=text, finish_reason="stop", structured_output=structured), config)
    assert isinstance(read, SplitText)
    return read


@pytest.mark.parametrize("text", ["", "  \n", "...", "🎉", "—", "\u037a."])
def test_empty_text_fails_without_evidence(text: str) -> None:
    fail = fail_of(text)
    assert (fail.rule, fail.evidence) == (HardFailRule.TRUNCATION, None)


@pytest.mark.parametrize("finish_reason", ["length", "LENGTH", "MAX_TOKENS", "max_tokens", "model_length"])
def test_a_text_that_hit_the_token_limit_fails_however_it_ends(finish_reason: str) -> None:
    assert fail_of("Fees rose.", finish_reason=finish_reason).rule is HardFailRule.TRUNCATION


def test_an_open_ending_fails_with_the_ending_as_evidence() -> None:
    fail = fail_of("Fees rose.\nCosts ﬁnally fell by")
    assert fail.rule is HardFailRule.TRUNCATION
    assert fail.evidence is not None
    assert (fail.evidence.quote, fail.evidence.start, fail.evidence.end) == ("Costs ﬁnally fell by", 11, 31)


def test_meta_commentary_fails() -> None:
    fail = fail_of("Fees rose. The document states why.")
    assert fail.rule is HardFailRule.META_COMMENTARY
    assert fail.evidence is not None
    assert fail.evidence.quote == "The document states"


def test_json_is_only_asked_for_when_structured_output_was_requested() -> None:
    assert fail_of("Fees rose.", structured=True).rule is HardFailRule.INVALID_JSON
    assert text_of("Fees rose.").source.text == "Fees rose."


def test_broken_json_is_pointed_at() -> None:
    fail = fail_of('{"summary": Fees rose.}', structured=True)
    assert fail.rule is HardFailRule.INVALID_JSON
    assert fail.evidence is not None
    assert (fail.evidence.start, fail.evidence.quote) == (12, "Fees rose.}")


def test_structured_text_is_evaluated_with_positions_in_the_answer() -> None:
    answer = '{"summary": "Fees \\u201crose\\u201d. Costs fell."}'
    summary = text_of(answer, structured=True)
    claims = summary.read().passages
    assert [claim.text for claim in claims] == ["Fees “rose”.", "Costs fell."]
    assert claims[0].quote == r"Fees \u201crose\u201d."
    assert answer[claims[1].start : claims[1].end] == "Costs fell."


def test_a_structured_summary_that_breaks_off_fails_with_positions_in_the_answer() -> None:
    answer = json.dumps({"title": "T", "summary": "Fees rose. Costs"})
    fail = fail_of(answer, structured=True)
    assert fail.rule is HardFailRule.TRUNCATION
    assert fail.evidence is not None
    assert answer[fail.evidence.start : fail.evidence.end] == "Fees rose. Costs"


@pytest.mark.parametrize(
    "value",
    [
        {"summary": "Fees rose.\n- costs\n- wages"},
        {"summary": "Fees rose.\n\n| a | b |"},
        {"title": "Fees in the city", "points": ["fees rose", "costs fell"]},
        ["fees rose " * 20],
    ],
)
def test_bullets_tables_lists_and_labels_may_end_openly_when_structured(value: object) -> None:
    assert text_of(json.dumps(value), structured=True).sentences


def test_long_prose_outside_lists_must_end_when_structured() -> None:
    assert fail_of(json.dumps({"body": "fees rose " * 20}), structured=True).rule is HardFailRule.TRUNCATION


@pytest.mark.parametrize("answer", ["{}", "[]", "12", '{"summary": " "}', '{"n": 1}'])
def test_structured_output_without_text_fails(answer: str) -> None:
    assert fail_of(answer, structured=True).rule is HardFailRule.TRUNCATION


def test_meta_commentary_is_found_inside_structured_output() -> None:
    fail = fail_of('{"summary": "The document states why."}', structured=True)
    assert fail.rule is HardFailRule.META_COMMENTARY
    assert fail.evidence is not None
    assert (fail.evidence.start, fail.evidence.end) == (13, 32)


def test_the_topics_below_a_summary_are_no_open_ending() -> None:
    topics = "\n\n## Key topics\n\n- city fees\n- council votes\n"
    assert text_of(f"Fees rose.{topics}").read().passages[0].text == "Fees rose."
    fail = fail_of(f"Fees rose. Costs fell by{topics}")
    assert fail.rule is HardFailRule.TRUNCATION
    assert fail.evidence is not None
    assert fail.evidence.quote == "Fees rose. Costs fell by"
    assert fail_of(f"Fees rose.{topics}", finish_reason="length").rule is HardFailRule.TRUNCATION


def test_open_lists_in_plain_text_fail_unless_the_setting_allows_them() -> None:
    text = "Fees rose:\n- costs\n- wages"
    assert fail_of(text).rule is HardFailRule.TRUNCATION
    assert text_of(text, config=EvaluateConfig(lists_may_end_open=True)).sentences
