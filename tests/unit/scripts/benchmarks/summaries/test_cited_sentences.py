"""The benchmark of citations counts what is right, and only that."""

from pipeline.summarize.citations.places import CitationSupport, SourcePlace, SummaryCitation
from scripts.benchmarks.summaries.cited_sentences import is_right, sample, tell

DOCUMENT = "\n\n".join(
    f"The pump with number {number} runs at {number} bar and is primed by hand in hall {number}." for number in range(9)
)


def cited(spans: list[tuple[int, int]], support: CitationSupport) -> list[SummaryCitation]:
    places = tuple(SourcePlace(0, 0, start, end, start) for start, end in spans)
    return [SummaryCitation(0, 1, support, None, places)]


def test_a_sentence_is_right_where_it_comes_from_and_nowhere_else() -> None:
    spans = sample(DOCUMENT, 9)
    told = list(tell(DOCUMENT, spans))
    assert [len(one.spans) for one in told[:4]] == [1, 1, 1, 2]
    for one in told:
        support = CitationSupport.UNREAD if one.is_written else CitationSupport.VERBATIM
        assert is_right(one, cited(list(one.spans), support), DOCUMENT)
        others = [span for span in spans if span not in one.spans][: len(one.spans)]
        assert not is_right(one, cited(others, support), DOCUMENT)
        assert not is_right(one, [], DOCUMENT)
    assert not is_right(told[3], cited([told[3].spans[0]], CitationSupport.UNREAD), DOCUMENT)
    assert not is_right(told[1], cited([(0, len(DOCUMENT))], CitationSupport.UNREAD), DOCUMENT)


def test_what_stands_there_twice_is_not_sampled() -> None:
    twice = "This very sentence stands in the document two times in all."
    assert sample(f"{DOCUMENT}\n\n{twice}\n\n{twice}", 20) == sample(DOCUMENT, 20)
