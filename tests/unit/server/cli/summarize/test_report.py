"""The page of a summary: sentences lead to what they stand on, and nothing needs a script."""

from precis.v1 import summarize_pb2 as pb

from server.cli.summarize.report import SOURCE_CHARS, render_summary
from tests.unit.server.cli.page.report_page import one, read_page

SOURCE = "# Pump\n\nIt runs at 40 bar.\fNever open it hot.\n\nThe cover bolt takes 25 Nm."
TEXT = "# Pump\n\nIt runs at 40 bar. The bolt takes 25 Nm and is red.\n\n# Care <b>\n\nHot pumps stay shut."
HOSTILE = "</script><script>alert(1)</script>"


def place(words: str, page: int) -> pb.SourcePlace:
    start = SOURCE.index(words)
    return pb.SourcePlace(page_number=page, start=start, end=start + len(words), document_start=start)


def citation(words: str, support: pb.CitationSupport.ValueType, *places: pb.SourcePlace) -> pb.SummaryCitation:
    start = TEXT.index(words)
    return pb.SummaryCitation(start=start, end=start + len(words), support=support, places=places)


def summary() -> pb.Summary:
    marked = citation("The bolt takes 25 Nm and is red.", pb.CITATION_SUPPORT_MARKED, place("The cover bolt", 2))
    marked.probability = 0.12
    marked.places.append(place("40 bar", 1))
    cited = [
        citation("It runs at 40 bar.", pb.CITATION_SUPPORT_VERBATIM, place("It runs at 40 bar.", 1)),
        marked,
        citation("Hot pumps stay shut.", pb.CITATION_SUPPORT_UNREAD),
    ]
    return pb.Summary(
        document_name=HOSTILE,
        text=TEXT,
        citable_count=5,
        citations=cited,
        warnings=[pb.SummaryWarning(code="invented_number", message=HOSTILE, place="batch 1", text="99 bar")],
        duplicates=[pb.RemovedDuplicate(text="Said twice.", kept=pb.DocumentSpan(last_chunk=3))],
        duplicate_count=1,
        trust=pb.SummaryTrust(part_count=9, dropped_count=2),
        retention=pb.Retention(share=0.5, kinds=[pb.TermRetention(kind="number", input_count=4, missing=["7 Nm"])]),
    )


def test_a_sentence_leads_to_its_place_and_back() -> None:
    page = read_page(render_summary(summary(), pb.Document(text=SOURCE)))
    first = one(page, "a", id="m1")
    assert (first.text, first.attributes["class"]) == ("It runs at 40 bar.", "claim verbatim")
    target = one(page, id=first.attributes["href"].removeprefix("#"))
    assert target.attributes["href"] == "#m1"
    cited = [mark.text for span in page.find("span", class_="cited") for mark in span.find("mark")]
    assert cited == ["It runs at ", "40 bar", ".", "The cover bolt"]
    assert one(page, id="m3").attributes["class"] == "claim unread"
    anchors = {element.attributes["id"] for element in page.find() if "id" in element.attributes}
    links = [link.attributes["href"] for link in page.find("a") if "href" in link.attributes]
    assert [link for link in links if link.removeprefix("#") not in anchors] == []


def test_headings_and_bold_words_are_shown_without_their_marks_and_code_with_all() -> None:
    text = "## 2 Safety\n\nIt **never** opens.\n\n# Code\n\n```\na ** b\n```\n"
    page = read_page(render_summary(pb.Summary(text=text), pb.Document(text=SOURCE)))
    safety, code = page.find("div", class_="titled")
    assert safety.text == "2 Safety\n\nIt never opens.\n\n"
    assert one(safety, "b").text == "never"
    assert "a ** b" in code.text


def test_a_written_sentence_tells_its_probability_and_all_its_pages() -> None:
    page = read_page(render_summary(summary(), pb.Document(text=SOURCE)))
    sentence = one(page, "a", id="m2")
    assert sentence.attributes["class"] == "claim unsupported"
    assert sentence.attributes["title"].endswith("0.12")
    references = [link.text for link in page.find("a", class_="ref") if link.attributes["href"].startswith("#s2-")]
    assert references == ["p.2", "p.1"]


def test_parts_have_the_colour_of_their_worst_sentence() -> None:
    page = read_page(render_summary(summary(), pb.Document(text=SOURCE)))
    classes = [part.attributes["class"] for part in page.find("div") if "part" in part.attributes["class"].split()]
    assert classes == ["text part unsupported titled", "text part unread titled"]


def test_the_page_says_what_was_left_out_and_escapes_everything() -> None:
    html = render_summary(summary(), pb.Document(text=SOURCE))
    assert "script-src 'none'" in html
    assert "<script" not in html
    assert "Care <b>" not in html
    text = read_page(html).text
    for words in ("99 bar", "Said twice.", "7 Nm", "invented_number", HOSTILE):
        assert words in text


def test_a_document_in_chunks_is_shown_page_by_page() -> None:
    chunks = [pb.DocumentChunk(text=text, page_number=page) for page, text in enumerate(SOURCE.split("\f"), 1)]
    found = summary()
    del found.citations[1:]
    html = render_summary(found, pb.Document(chunks=[*chunks, pb.DocumentChunk(text=" ", page_number=3)]))
    page = read_page(html)
    assert [mark.text for mark in page.find("span", class_="page-mark")] == ["Page 1", "Page 2"]
    assert [mark.text for mark in page.find("mark")] == ["It runs at 40 bar."]


def test_of_too_long_a_source_what_is_cited_stays() -> None:
    filler = "Nothing of this is cited in the summary.\n\n" * (SOURCE_CHARS // 40)
    document = pb.Document(text=SOURCE.replace("\f", "\n\n") + "\n\n" + filler)
    html = render_summary(summary(), document)
    assert "characters of the source are not shown" in html
    assert len(html) < 200_000
    assert next(mark.text for mark in read_page(html).find("mark")).startswith("It runs at")
