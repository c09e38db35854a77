"""Which sentences of a summary are claims."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.evidence.plan import most_consequential
from pipeline.reading.document import ReadText


def claims(text: str) -> list[str]:
    read = ReadText.of("summary", text, 700)
    return [read.passages[at].quote for at in read.claims]


def test_headings_are_no_claims() -> None:
    assert claims("# The old bridge\n\nThe bridge was closed.") == ["The bridge was closed."]


def test_the_claims_that_say_most_are_kept_in_order() -> None:
    summary = ReadText.of(
        "summary", "It was so. In 1931 Anna Holt paid 40 dollars. And then. The court fined Bob Ray.", 700
    )
    kept = most_consequential(summary, 2)
    assert [summary.passages[at].quote for at in kept] == [
        "In 1931 Anna Holt paid 40 dollars.",
        "The court fined Bob Ray.",
    ]


def test_text_without_words_has_no_claims() -> None:
    assert claims("🙂🙂") == []
    assert claims("費用が上がりました。公聴会が開かれます。") == ["費用が上がりました。", "公聴会が開かれます。"]


@given(st.lists(st.sampled_from(["the", "mayor", "won", "and", "but", ",", ".", ";", "she", "was", '"', "Ann", "\n"])))
def test_every_content_word_is_in_one_claim(words: list[str]) -> None:
    summary = ReadText.of("summary", " ".join(words), 700)
    content = [index for span in summary.ranges for index in span if summary.table.content[index]]
    claimed = [index for at in summary.claims for index in summary.ranges[at] if summary.table.content[index]]
    assert claimed == content
