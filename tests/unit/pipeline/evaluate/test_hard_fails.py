import json

import pytest

from pipeline.evaluate.config import EvaluateConfig
from pipeline.evaluate.datum import GeneratedSummary
from pipeline.evaluate.hard_fails import read_summary
from pipeline.evaluate.result import HardFail, HardFailRule
from pipeline.reading.document import ReadText

CONFIG = EvaluateConfig()


def fail_of(
    text: str, *, finish_reason: str = "", structured: bool = False, config: EvaluateConfig = CONFIG
) -> HardFail:
    read = read_summary(GeneratedSummary(text=text, finish_reason=finish_reason, structured_output=structured), config)
    assert isinstance(read, HardFail)
    return read


def text_of(text: str, *, structured: bool = False, config: EvaluateConfig = CONFIG) -> ReadText:
    read = read_summary(GeneratedSummary(text=text, finish_reason="stop", structured_output=structured), config)
    assert isinstance(read, ReadText)
    return read


@pytest.mark.parametrize("text", ["", "  \n", "...", "🎉", "—", "\u037a."])
def test_empty_text_fails_without_evidence(text: str) -> None:
    fail = fail_of(text)
    assert (fail.rule, fail.evidence) == (HardFailRule.TRUNCATION, None)


@pytest.mark.parametrize("finish_reason", ["length", "LENGTH", "MAX_TOKENS", "max_tokens", "model_length"])
def test_a_text_that_hit_the_token_limit_fails_however_it_ends(finish_reason: str) -> None:
    assert fail_of("Fees rose.", finish_reason=finish_reason).rule is HardFailRule.TRUNCATION


TOPICS = "\n\n## Key topics\n\n- city fees\n- council votes\n"


@pytest.mark.parametrize(
    ("text", "rule", "quote"),
    [
        ("Fees rose.\nCosts ﬁnally fell by", HardFailRule.TRUNCATION, "Costs ﬁnally fell by"),
        (f"Fees rose. Costs fell by{TOPICS}", HardFailRule.TRUNCATION, "Fees rose. Costs fell by"),
        ("Fees rose. The document states why.", HardFailRule.META_COMMENTARY, "The document states"),
        ('{"summary": "The document states why."}', HardFailRule.META_COMMENTARY, "The document states"),
        ('{"summary": Fees rose.}', HardFailRule.INVALID_JSON, "Fees rose.}"),
        ('{"title": "T", "summary": "Fees rose. Costs"}', HardFailRule.TRUNCATION, "Fees rose. Costs"),
    ],
)
def test_what_fails_is_quoted_from_its_place_in_the_answer(text: str, rule: HardFailRule, quote: str) -> None:
    fail = fail_of(text, structured=text.startswith("{"))
    assert fail.rule is rule
    assert fail.evidence is not None
    assert text[fail.evidence.start : fail.evidence.end] == fail.evidence.quote == quote


def test_json_is_only_asked_for_when_structured_output_was_requested() -> None:
    assert fail_of("Fees rose.", structured=True).rule is HardFailRule.INVALID_JSON
    assert text_of("Fees rose.").text.text == "Fees rose."


def test_structured_text_is_evaluated_with_positions_in_the_answer() -> None:
    answer = '{"summary": "Fees \\u201crose\\u201d. Costs fell."}'
    summary = text_of(answer, structured=True)
    claims = summary.passages
    assert [claim.text for claim in claims] == ["Fees “rose”.", "Costs fell."]
    assert claims[0].quote == r"Fees \u201crose\u201d."
    assert answer[claims[1].start : claims[1].end] == "Costs fell."


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


def test_the_topics_below_a_summary_are_no_open_ending() -> None:
    assert text_of(f"Fees rose.{TOPICS}").passages[0].text == "Fees rose."
    assert fail_of(f"Fees rose.{TOPICS}", finish_reason="length").rule is HardFailRule.TRUNCATION


def test_open_lists_in_plain_text_fail_unless_the_setting_allows_them() -> None:
    text = "Fees rose:\n- costs\n- wages"
    assert fail_of(text).rule is HardFailRule.TRUNCATION
    assert text_of(text, config=EvaluateConfig(lists_may_end_open=True)).sentences
