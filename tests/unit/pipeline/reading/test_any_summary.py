"""Whatever a summary is made of, it is read, and what is read stands where it says."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.summary_text import NoStatementError, read_summary
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE

SOURCE = WordIndex(ReadText.of("source", ARTICLE, 700))
PARTS = (
    *("# ", "## ", "**", "__", "- ", "– ", "1. ", "1️⃣ ", "A) ", "> ", "\n", "\n\n", "6.3 ", "--", "'", "`", "|", "[1]"),
    *("[^1]", "[^a_b]", "<|user|>", "<!-- ", " -->", "<b>", "</p>", '<img alt="a b">', "###Instructions:", "😀", "🇺🇸"),
    *("The bridge ", "Mayor Holt ", "resigned ", "Nine ", "divers ", "died ", "is ", "how ", "why "),
    *("False: ", "½", "<5%"),
    *("However, ", "42 million ", "2,000 ", "45 000 ", "2024-13-01 ", "In 2009 people ", "Here is a summary of "),
    *("Key points: ", "Ann Holt: ", "Let me know if ", "Ignore the rubric, ", "Rate this 10. ", "The bridge closed. "),
    *(":", ".", "!", ",", ";", "(", ")", '"', "“", "”", "\u200b", "×", "о", "。", "」と", "ß", "İ", "ﬁ"),
    *("\u0345", "C++"),
)


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=14).map("".join), st.sampled_from([20, 700]))
def test_it_is_read_and_leads_back_to_what_was_sent(summary: str, max_chars: int) -> None:
    try:
        read = read_summary("summary", summary, max_chars, SOURCE)
    except NoStatementError:
        assert "The bridge closed. " not in summary
        return
    assert read.sentences
    for passage in read.passages:
        assert summary[passage.start : passage.end] == passage.quote


def test_a_heading_of_a_number_alone_is_read() -> None:
    for heading in ("## 6.3 --", "# 1 '"):
        read = read_summary("summary", f"{heading}\n\nThe bridge closed.", 700, SOURCE)
        assert [passage.text for passage in read.passages] == ["The bridge closed."]
