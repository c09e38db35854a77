"""How reasons quote."""

from pipeline.judge.result import MAX_QUOTE_CHARS, cite, cite_first, count, sentences
from tests.unit.pipeline.judge.tables import place


def test_a_citation_says_what_and_where() -> None:
    assert cite(place("source", 2, "Profits rose.")) == '"Profits rose." (source 200-213)'


def test_a_long_quote_ends_at_a_word() -> None:
    words = "word " * 30
    cited = cite(place("source", 0, words.strip()))
    quote = cited.split('"')[1]
    assert len(quote) <= MAX_QUOTE_CHARS
    assert quote.endswith("word…")
    assert len(cite(place("source", 0, "x" * 500)).split('"')[1]) == MAX_QUOTE_CHARS


def test_many_passages_are_counted_after_the_first() -> None:
    places = [place("summary", index, "a") for index in range(4)]
    assert cite_first(places) == '"a" (summary 0-1); "a" (summary 100-101); and 2 more'
    assert cite_first(places[:2]) == '"a" (summary 0-1); "a" (summary 100-101)'


def test_one_is_not_plural() -> None:
    assert (count(1, "claim"), count(0, "claim"), count(2, "claim")) == ("1 claim", "0 claims", "2 claims")
    assert sentences(("A.", "", "B.")) == "A. B."
