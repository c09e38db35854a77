"""What is made of a model's answers: joined, judged, listed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.summarize.llm_writer.writer import clean_topics, join_overlapping, parse_topic_lines, parse_verdict
from pipeline.summarize.writer import CriticVerdict


@pytest.mark.parametrize(
    ("text", "continuation", "joined"),
    [
        ("The pump runs", " at 5 bar.", "The pump runs at 5 bar."),
        ("The pump runs at 5 bar", "pump runs at 5 bar all day.", "The pump runs at 5 bar all day."),
        ("Item one\n- ", "\n- two", "Item one\n- \n- two"),
        ("Same end of a text", "Same end of a text", "Same end of a text"),
    ],
)
def test_joining(text: str, continuation: str, joined: str) -> None:
    assert join_overlapping(text, continuation) == joined


@given(st.text(max_size=60), st.text(max_size=60))
def test_joining_loses_nothing(text: str, continuation: str) -> None:
    joined = join_overlapping(text, continuation)
    assert joined.startswith(text)
    assert joined.endswith(continuation)


@pytest.mark.parametrize(
    ("answer", "critic_verdict"),
    [
        ("PASS", CriticVerdict.PASS),
        ("FAIL\n1. Step 3 is missing.", CriticVerdict.FAIL),
        ("**PASS** - all there", CriticVerdict.PASS),
        ("fail: nothing kept", CriticVerdict.FAIL),
        ("Verdict: FAIL", CriticVerdict.FAIL),
        ("## Evaluation\n\nPASS", CriticVerdict.PASS),
        ("Passed.", CriticVerdict.PASS),
        ("PASS or FAIL? Hard to say.", CriticVerdict.UNPARSEABLE),
        ("PASS/FAIL: PASS", CriticVerdict.UNPARSEABLE),
        ("The summary does not fail.", CriticVerdict.UNPARSEABLE),
        ("PASSAGES are missing", CriticVerdict.UNPARSEABLE),
        ("", CriticVerdict.UNPARSEABLE),
    ],
)
def test_verdicts(answer: str, critic_verdict: CriticVerdict) -> None:
    assert parse_verdict(answer) is critic_verdict


def test_topics_are_cleaned() -> None:
    assert clean_topics(["  Oil  change ", "oil change", "", "x" * 101, '"Pumps".', "A"], 2) == ("Oil change", "Pumps")
    marked = ["## 3.1 Ratings", "3.1 Ratings", "- 60-9004, puller", "## 9", "5 S method"]
    assert clean_topics(marked, 9, "## 3.1 Ratings\n\nText.") == ("Ratings", "60-9004, puller", "5 S method")
    assert parse_topic_lines("Topics:\n(1) One\n2) Two\n• Three\n") == ["One", "Two", "Three"]
