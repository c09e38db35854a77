import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.language_model.metric_evidence import QuoteFinder
from pipeline.reading.characters import normalize

TEXT = normalize("source", "İzmir's Old Bridge\nopened in 1932 for £9,000. The old bridges closed. ﬁnally")
finder = QuoteFinder(normalize("summary", "It opened in 1932."), TEXT)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("old bridge opened", "Old Bridge\nopened"),
        ("“OLD   BRIDGE opened in 1932.”", "Old Bridge\nopened in 1932"),
        ("for £9,000", "for £9,000"),
        ("closed. finally", "closed. ﬁnally"),
        ("İzmir's Old", "İzmir's Old"),
    ],
)
def test_case_white_space_and_edges_do_not_count(quote: str, found: str) -> None:
    (place,) = finder.find([quote])
    assert place.quote == found
    assert TEXT.original[place.start : place.end] == found


@pytest.mark.parametrize(
    "quote", ["", "old", "the bridge opened", "bridge opened in 193", "ld bridge opened", ". . . , ,"]
)
def test_what_does_not_stand_there_word_for_word_is_not_found(quote: str) -> None:
    assert finder.find([quote]) == ()


def test_a_word_that_only_begins_alike_does_not_hide_a_later_place() -> None:
    (place,) = QuoteFinder(normalize("source", "xopened in May, opened in May")).find(["opened in May"])
    assert place.start == 16


def test_the_first_text_counts_and_places_do_not_repeat() -> None:
    (place,) = finder.find(["opened in 1932", "Opened in 1932."])
    assert place.text_id == "summary"


@given(st.text(max_size=40), st.text(max_size=80))
def test_a_place_always_holds_the_quote(quote: str, text: str) -> None:
    for place in QuoteFinder(normalize("source", text)).find([quote]):
        assert text[place.start : place.end] == place.quote != ""


@given(st.lists(st.sampled_from(["Old", "bridge", "ÉCOLE", "1932", "straße"]), min_size=3, max_size=9), st.data())
def test_every_run_of_words_is_found(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 2))
    quote = " ".join(words[first : first + 3])
    if len(quote) > 10:
        assert QuoteFinder(normalize("source", "  ".join(words))).find([quote.upper() if "ß" not in quote else quote])
