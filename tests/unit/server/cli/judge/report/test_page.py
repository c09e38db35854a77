"""The report: one page that loads nothing, in which texts are data."""

import base64
import hashlib
import re

from google.rpc import code_pb2
from hypothesis import given
from hypothesis import strategies as st
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.judge.floors import parse_floor
from server.cli.judge.items import Item
from server.cli.judge.report.marks import Mark, Role, cut, runs
from server.cli.judge.report.page import WHOLE_ITEMS, BulkReport, ReportedItem, render_report
from server.cli.judge.tally import JudgeAnswer, JudgeTally
from server.cli.spread import WorstItems
from tests.judgements import SOURCE, SUMMARY, judgement
from tests.unit.server.cli.judge.report.report_page import Element, read_page

ITEM = Item("summary.txt", SOURCE, SUMMARY)
HOSTILE = (
    "</script></style></title><script>alert(1)</script><img src=x onerror=alert(1)> "
    "\"' onclick='alert(1)' &lt; {{ 7*7 }}"
)


def page_of(item: Item = ITEM, result: pb.JudgeResult | None = None, *floors: str) -> Element:
    return read_page(render_report([ReportedItem(item, result or judgement())], list(map(parse_floor, floors))))


def one(element: Element, name: str = "", **attributes: str) -> Element:
    [found] = element.find(name, **attributes)
    return found


marks = st.builds(Mark, st.sampled_from(Role), st.integers(1, 4), st.integers(-2, 12), st.integers(-2, 12))


@given(st.text(max_size=10), st.lists(marks, max_size=8))
def test_pieces_make_up_the_text_and_know_what_covers_them(text: str, made: list[Mark]) -> None:
    pieces = cut(text, made)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)
    start = 0
    for piece in pieces:
        covering = {m for m in made if 0 <= m.start <= start < min(m.end, len(text))}
        assert set(piece.marks) == covering
        assert set(piece.begun) == {m for m in covering if m.start == start}
        start += len(piece.text)
    assert "".join(piece.text for _, group in runs(pieces) for piece in group) == text


def test_both_texts_are_there_character_by_character() -> None:
    item = Item("x", "  Two  spaces,\n\ttabs & <b>tags</b>\n\n" + SOURCE, SUMMARY + "\n ")
    page = page_of(item, pb.JudgeResult())
    assert one(page, class_="source").text == item.source
    assert one(page, "p", class_="text").text == item.summary


def test_every_claim_has_a_colour_and_a_sign_and_leads_to_its_passage() -> None:
    page = page_of()
    claims = list(page.find("a", class_="claim"))
    assert [words.text for claim in claims for words in claim.find("em")] == ["$17 million"]
    assert [claim.attributes["class"] for claim in claims] == ["claim supported", "claim partial", "claim unsupported"]
    assert [one(claim, class_="badge").text for claim in claims] == ["✓1", "~2", "✗3"]
    assert [one(claim, class_="unseen").text for claim in claims] == [" supported: ", " partial: ", " unsupported: "]
    places = {element.attributes["id"] for element in page.find() if "id" in element.attributes}
    assert {link.attributes["href"].removeprefix("#") for link in page.find("a")} <= places
    described = {claim.attributes["aria-describedby"] for claim in claims}
    assert described <= places


def test_passages_in_the_source_name_their_claims() -> None:
    source = one(page_of(), class_="source")
    passages = {
        tuple(mark.attributes.get(f"data-{role}") for role in ("support", "against", "closest")): mark.text
        for mark in source.find("mark")
    }
    assert passages["1", None, None].startswith("The city of Harlow Falls replaced")
    assert passages[None, "3", None].startswith("The auditor does not expect")
    assert passages[None, None, "2"] == ", which is 12 percent more than planned."  # what is left behind the number
    instead = one(source, "mark", data_instead="2")
    assert instead.text == "$71 million"


def test_the_highest_contradiction_of_a_supported_claim_is_no_evidence_against_it() -> None:
    card = one(page_of(), data_card="1")
    assert "supported by" in card.text
    assert "contradicted by" not in card.text


def test_a_passage_that_contradicts_a_claim_is_not_also_the_closest() -> None:
    result = judgement()
    claim = result.evidence.claims[2]
    page = page_of(ITEM, result)
    assert "closest passage" not in one(page, data_card="3").text
    assert [mark.text for mark in page.find("mark", data_closest="3")] == []
    claim.contradiction = 0.4
    card = one(page_of(ITEM, result), data_card="3")
    assert "contradicted by" not in card.text
    assert "closest passage" in card.text


def test_charts_show_scores_statuses_and_caps() -> None:
    charts = list(page_of().find("figure"))
    assert [one(chart, "b").text for chart in (one(chart, "figcaption") for chart in charts)] == [
        "Twin-Lock",
        "Judge-Lock",
        "Ultra",
    ]
    bars = [[bar.attributes["aria-label"] for bar in chart.find("svg")] for chart in charts]
    assert bars[0] == ["4.00 of 10", "7.50 of 10", "3.00 of 10", "4.00 of 10", "10.00 of 10"]
    assert bars[1][3] == "no score"
    widths = [bar.attributes["width"] for bar in charts[0].find("rect", class_="bar-fill")]
    assert widths == ["40.00", "75.00", "30.00", "40.00", "100.00"]
    coverage = next(charts[0].find("details"))
    assert [remark.text for remark in coverage.find(class_="remark")] == ["capped at 4"]
    assert [item.text for item in one(coverage, class_="caps").find("li")] == [
        "at most 4: A claim has no support.",
        "at most 4 (it was as low without): Words without support.",
        "tox score at most 5: A mild word.",
    ]
    inputs = [[cell.text for cell in row.find() if cell.name in ("th", "td")] for row in coverage.find("tr")]
    assert inputs == [["recall", "0.5"], ["unsupported_count", "1"], ["severity", "moderate"], ["is_capped", "yes"]]
    abstained = list(charts[2].find("details"))[1]
    assert "aside" in abstained.attributes["class"]
    assert [remark.text for remark in abstained.find(class_="remark")] == ["abstained", "confidence 0.31"]


def test_what_is_under_a_limit_is_said_first() -> None:
    assert one(page_of(ITEM, None, "twin-lock:hallucination=7"), class_="breaches").text.endswith(
        "twin-lock hallucination 3.00 < 7"
    )
    assert list(page_of(ITEM, None, "twin-lock:hallucination=3").find(class_="breaches")) == []


def hostile_judgement() -> pb.JudgeResult:
    """Every text that a caller or a model could have written is hostile."""
    result = judgement()
    poison(result)
    return result


def poison(message: object) -> None:
    """Sets every string of a message, and of those in it, but for those that name an enum's value."""
    for descriptor, value in message.ListFields():  # type: ignore[attr-defined] # any protobuf message
        if descriptor.type == descriptor.TYPE_STRING:
            if descriptor.is_repeated:
                value[:] = [HOSTILE] * len(value)
            else:
                setattr(message, descriptor.name, HOSTILE)
        elif descriptor.type == descriptor.TYPE_MESSAGE:
            for part in value if descriptor.is_repeated else [value]:
                poison(part)


def test_no_text_becomes_markup() -> None:
    item = Item(HOSTILE, HOSTILE + SOURCE, SUMMARY + HOSTILE)
    clean, hostile = page_of(), page_of(item, hostile_judgement())
    assert hostile.text.count(HOSTILE) > 20
    assert {element.name for element in hostile.find()} == {element.name for element in clean.find()}
    assert len(list(hostile.find("script"))) == 1
    assert {name for element in hostile.find() for name in element.attributes} <= {
        name for element in clean.find() for name in element.attributes
    }


def test_nothing_is_loaded_and_only_the_known_style_and_script_may_run() -> None:
    html = render_report([ReportedItem(ITEM, judgement())], [])
    page = read_page(html)
    policy = one(page, "meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(one(page, name).text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert [
        e.attributes for e in page.find() if {"src", "srcset", "style", "onclick", "onload"} & e.attributes.keys()
    ] == []
    assert [link.attributes["href"] for link in page.find("link")] == ["data:,"]
    assert all(link.attributes["href"].startswith("#") for link in page.find("a"))
    assert re.findall(r"url\(|@import|https?://", html) == []


def test_a_claim_beyond_the_contract_is_shown_too() -> None:
    result = judgement()
    claim = result.evidence.claims[0]
    result.evidence.claims.extend([claim] * 20)
    page = page_of(ITEM, result)
    assert len(list(page.find(class_="card"))) == 23
    assert '.claim[data-claim="23"]' in one(page, "style").text


def bulk_page(count: int, *, whole: int = WHOLE_ITEMS) -> Element:
    floors = [parse_floor("twin-lock:coverage=2")]
    report, tally = BulkReport(floors, worst=WorstItems(whole)), JudgeTally(floors)
    error = common_pb2.ItemError(code=code_pb2.INVALID_ARGUMENT, message=HOSTILE)
    for number in range(count):
        result = judgement()
        for framework in result.frameworks:
            framework.mean_score = number % 10
        answer = JudgeAnswer(f"item {number}", Item(f"item {number}", SOURCE, SUMMARY), result, None, "")
        report.add(answer)
        tally.add(answer)
    failure = JudgeAnswer("broken", None, None, error, "")
    report.add(failure)
    tally.add(failure)
    return read_page(report.render(tally))


def test_a_bulk_run_has_an_index_that_leads_to_the_items() -> None:
    page = bulk_page(12)
    rows = list(one(page, "table", class_="index").find("tr"))[1:]
    assert [next(row.find("th")).text for row in rows[:3]] == ["item 0", "item 10", "item 1"]
    assert [cell.text for cell in rows[0].find("td")] == ["0.00", "0.00", "0.00", "1 of 3", ""]
    sections = [section.attributes["id"] for section in page.find("section", class_="item")]
    assert [link.attributes["href"] for row in rows for link in row.find("a")] == [f"#{name}" for name in sections]
    assert len(sections) == 12
    assert HOSTILE in one(page, class_="failures").text
    places = [element.attributes["id"] for element in page.find() if "id" in element.attributes]
    assert len(places) == len(set(places))


def test_of_many_items_the_worst_are_shown_whole() -> None:
    page = bulk_page(12, whole=3)
    titles = [section.find("h2") for section in page.find("section", class_="item")]
    assert [next(title).text for title in titles] == ["item 0", "item 10", "item 1"]
    assert "The 3 worst are shown whole" in one(page, "section", id="index").text
    assert len(list(one(page, "table", class_="index").find("tr"))) == 13
