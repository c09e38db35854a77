"""The report: one page that loads nothing, in which texts are data."""

import base64
import hashlib
import re
from pathlib import Path

from precis.v1 import judge_pb2 as pb

from server.cli.commands.judge import parse_floor
from server.cli.judge.judgements import Item
from server.cli.page import render
from tests.judgements import SOURCE, SUMMARY, judgement
from tests.unit.server.cli.page.many_claims import FIRST, FOURTH, SECOND, THIRD, long_judgement, page_of_one
from tests.unit.server.cli.page.report_page import Element, one, read_page

ITEM = Item("summary.txt", SOURCE, SUMMARY)
HOSTILE = (
    "</script></style></title><script>alert(1)</script><img src=x onerror=alert(1)> "
    "\"' onclick='alert(1)' &lt; {{ 7*7 }}"
)


def page_of(item: Item = ITEM, result: pb.JudgeResult | None = None, *floors: str) -> Element:
    return read_page(page_of_one(item, result or judgement(), list(map(parse_floor, floors))))


def test_both_texts_are_there_character_by_character() -> None:
    item = Item("x", "  Two  spaces,\n\ttabs & <b>tags</b>\n\n" + SOURCE, SUMMARY + "\n ")
    page = page_of(item, pb.JudgeResult())
    assert one(page, class_="source").text == item.source
    assert one(page, class_="marked").text == item.summary


def test_every_claim_has_a_colour_and_a_sign_and_leads_to_its_card_and_its_passage() -> None:
    page = page_of()
    claims = list(one(page, class_="marked").find("a", class_="claim"))
    assert [words.text for claim in claims for words in claim.find("em")] == ["$17 million"]
    assert [claim.attributes["class"] for claim in claims] == ["claim supported", "claim partial", "claim unsupported"]
    assert [one(claim, class_="badge").text for claim in claims] == ["✓1", "~2", "✗3"]
    assert [one(claim, class_="unseen").text for claim in claims] == [" supported: ", " partial: ", " unsupported: "]
    places = {element.attributes["id"] for element in page.find() if "id" in element.attributes}
    assert {link.attributes["href"].removeprefix("#") for link in page.find("a")} <= places
    assert [claim.attributes["href"] for claim in claims] == ["#item-1-c1", "#item-1-c2", "#item-1-c3"]
    assert [one(card, "a", class_="from").attributes["href"] for card in page.find(class_="card")] == [
        "#item-1-s1",
        "#item-1-s2",
        "#item-1-s3",
    ]


def test_the_page_opens_with_a_verdict_in_a_sentence_and_says_that_10_is_good() -> None:
    head = one(page_of(), "header")
    assert one(head, class_="verdict").text == (
        "All 3 claims were checked against the source: 1 is not supported and 1 is supported only in part; "
        "the worst is claim 3 with 0.20 of 10: The city will meet its deadline."
    )
    assert one(head, "a").attributes["href"] == "#item-1-c3"
    assert "10 is good" in head.text


def test_what_was_left_out_stands_beside_every_score_that_is_partial() -> None:
    item, result = long_judgement(6, omitted=4)
    page = page_of(item, result)
    assert one(page, "header").text.count("Only 6 of the summary's 10 claims were checked") == 1
    remarks = [[remark.text for remark in metric.find(class_="remark")] for metric in page.find(class_="metric")]
    assert remarks == [["partial", "4 of 10 claims not checked"]] * 4 + [[]]
    assert one(page, class_="mean").text == "mean 7.00, partial"
    whole = page_of(*long_judgement(6))
    assert list(whole.find(class_="remark")) == []
    assert one(whole, class_="mean").text == "mean 7.00"


def pieces_of(page: Element, places: str) -> str:
    """The text of the source that a card's places name, for the script."""
    pieces = list(one(page, class_="source").find(class_="piece"))
    first, last = map(int, places.split())
    return "".join(piece.text for piece in pieces[first : last + 1])


def test_a_card_names_the_places_of_what_was_checked() -> None:
    page = page_of()
    cards = [card.attributes for card in page.find(class_="card")]
    assert [card["data-role"] for card in cards] == ["support", "closest", "against"]
    assert [pieces_of(page, card["data-deciding"]) for card in cards] == [FIRST, SECOND, THIRD]
    assert pieces_of(page, cards[1]["data-instead"]) == "$71 million"
    references = [link.text for link in one(page, class_="source").find("a", class_="ref")]
    assert references == ["✓1", "~2", "✗3"]


def test_the_whole_passage_can_be_opened_in_the_card() -> None:
    cards = list(page_of().find(class_="card"))
    assert list(cards[0].find(class_="premise")) == []  # it is the sentence that is quoted
    assert one(one(cards[2], class_="premise"), "p").text == f"{THIRD} {FOURTH}"


def test_a_sentence_that_many_claims_share_names_them_folded() -> None:
    result = judgement()
    result.evidence.claims.extend([result.evidence.claims[0]] * 9)
    source = one(page_of(ITEM, result), class_="source")
    [folded] = source.find("details")
    assert next(folded.find("summary")).text == "10"
    assert len(list(folded.find("a"))) == 10


def test_a_sentence_that_does_not_contradict_a_claim_is_the_closest() -> None:
    result = judgement()
    result.evidence.claims[2].contradiction = 0.4
    card = one(page_of(ITEM, result), id="item-1-c3")
    assert "contradicted by" not in card.text
    assert "closest sentence" in card.text


def test_claims_are_counted_by_probability_for_the_eye_and_the_ear() -> None:
    [picture] = page_of(*long_judgement(8)).find("figure", class_="histogram")
    bars = {name: len(list(picture.find("rect", class_=name))) for name in ("supported", "partial", "unsupported")}
    assert bars == {"supported": 1, "partial": 1, "unsupported": 2}
    said = one(picture, "svg").attributes["aria-label"]
    assert said.endswith("0 to 0.1: 1; 0.1 to 0.2: 1; 0.5 to 0.6: 2; 0.8 to 0.9: 4;")


def test_a_page_grows_with_its_claims_and_not_with_their_square() -> None:
    sizes = [len(page_of_one(*long_judgement(count))) for count in (0, 100, 200)]
    assert sizes[2] - sizes[1] < 1.2 * (sizes[1] - sizes[0])


def test_charts_show_scores_statuses_and_caps() -> None:
    charts = list(page_of().find("figure", class_="chart"))
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


def test_no_page_marks_a_text_as_safe() -> None:
    assert render.environment().autoescape is True
    pages = {path.name: path.read_text(encoding="utf-8") for path in Path(render.__file__).parent.glob("*.html")}
    assert len(pages) > 5
    assert [name for name, text in pages.items() if "|safe" in text or "autoescape" in text] == []


def test_nothing_is_loaded_and_only_the_known_style_and_script_may_run() -> None:
    html = page_of_one(ITEM, judgement())
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
