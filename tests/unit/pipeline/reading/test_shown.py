"""A text is read as a person sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.document import ReadText, read_shown


@pytest.mark.parametrize(
    "disguised",
    [
        "The m\u00adayor was\u200b arr\u200dested in P\ufeffaris.",
        "\u202aThe mayor was arrest\u2060\u200b\u200bed in Par\U000e0041\u0336is.",
        "T\u0332h\u0332e\u0332 mayor was arrested in Pa\u0336r\u0336is.",
        "Thе mауоr wаs аrrеstеd іn Раris.",
        "The mayοr was arrested in Ρaris.",
    ],
)
def test_a_disguised_text_is_read_as_it_looks(disguised: str) -> None:
    read = read_shown("summary", disguised)
    assert read.text == "The mayor was arrested in Paris."
    assert read.whole().quote in disguised


@pytest.mark.parametrize("text", ["Он жил в Москве.", "The β-blocker and Δx.", "Café, naïve, Łódź.", "Ελλάδα", "x²"])
def test_words_of_other_scripts_and_letters_with_marks_stay(text: str) -> None:
    assert read_shown("source", text).text == text.replace("²", "2")


@given(st.text(alphabet="ab1 ,.-'`()ﬁ２éа\u200b\u0332", max_size=80))
def test_every_place_leads_back_to_what_was_sent(original: str) -> None:
    read = read_shown("source", original)
    for index in range(len(read.text)):
        passage = read.passage(index, index + 1)
        assert original[passage.start : passage.end] == passage.quote


@pytest.mark.parametrize(
    ("decorated", "read"),
    [
        ("Ana left 👋🏽. It employs 300 people 🏭!", "Ana left. It employs 300 people!"),
        ("[Ana](https://x.org/a_(b)) left ![now](/x.png).", "Ana left now."),
        ("Ana left (https://x.org/ana). It rained.", "Ana left. It rained."),
        ("Ana left.[1] It rained. [2, 3][4-6]", "Ana left. It rained."),
    ],
)
def test_decoration_is_no_part_of_a_sentence(decorated: str, read: str) -> None:
    made = read_shown("summary", decorated)
    assert made.text == read
    assert made.whole().quote in decorated


@pytest.mark.parametrize(
    "text",
    [
        "The toll was [42].",
        "Ana (1912 - 2006) won (1) and Ben (1,275).",
        "It rained. [42] people died.",
        "It rained 🅼🅰🆈🅾🆁 🇹🇭🇮🇪🇫 🔟.",
        "It has ★★★ and ✗.",
        "Read [this] (today).",
        "It is at https://x.org/a.",
        "✅ It rained.",
        "It rained. \U000e0041\U000e0042.",  # no part of a word
        "\u202edeniar tI\u202c It rained.",
        "So. \u200b",
        "\u200b\u00ad",  # nothing that is seen
    ],
)
def test_what_says_something_or_is_no_part_of_a_word_stays(text: str) -> None:
    assert read_shown("summary", text).text == text


def test_a_quote_is_never_far_longer_than_what_is_read() -> None:
    original = "Ann Holt" + "\u200b" * 100_000 + " closed the bridge. It rained."
    first, second = ReadText.of("source", original, 700).passages
    assert len(first.quote) < 2_000
    assert first.quote.startswith("Ann Holt\u200b")
    assert first.quote.endswith(" closed the bridge.")
    assert original[second.start : second.end] == second.quote == "It rained."
