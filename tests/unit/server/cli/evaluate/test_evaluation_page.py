"""The page of `precis evaluate --report`: everything that was found, and nothing that could run."""

from precis.v1 import evaluate_pb2 as pb

from server.cli.evaluate.evaluations import Candidate, EvaluateTally
from tests.unit.server.cli.evaluate.evaluations import answered, candidate, evaluation, hard_fail
from tests.unit.server.cli.page.report_page import Element, one, read_page


def page_of_one(item: Candidate, response: pb.EvaluateResponse) -> str:
    tally = EvaluateTally(keeps_page=True)
    tally.add(answered(item, response))
    return tally.render(has_index=False)


def bulk(count: int = 6) -> Element:
    tally = EvaluateTally(keeps_page=True)
    for number in range(count):
        item = candidate(f"item {number}", category=("News", "", "Law")[number % 3])
        answer = answered(item, hard_fail() if number == 0 else evaluation(number / 10))
        tally.add(answer)
    return read_page(tally.render())


def test_the_page_opens_with_a_sentence_and_has_the_evidence_of_every_factor() -> None:
    page = read_page(page_of_one(candidate(), evaluation()))
    assert one(one(page, "header"), class_="verdict").text == (
        "Loss 0.400, where 0 is perfect and 1 is worst: 0 of 1 facts are told, 1 of 2 claims are supported."
    )
    cards = [card.text for card in page.find(class_="card")]
    said = (
        "The gate closed on Tuesday.",
        "The market was flooded.",
        "The market stayed dry.",
        "It opened.",
        "It closed.",
    )
    assert all(words in card for words, card in zip(said, cards, strict=False))
    assert "Marrow Sound" in cards[-1]
    assert "not named" in cards[-1]
    assert "It closed. before It opened." in page.text


def test_every_link_of_the_page_leads_somewhere() -> None:
    page = bulk()
    places = [element.attributes["id"] for element in page.find() if "id" in element.attributes]
    assert len(places) == len(set(places))
    assert {link.attributes["href"][1:] for link in page.find("a")} <= set(places)


def test_a_hard_fail_is_said_and_has_no_scores() -> None:
    page = read_page(page_of_one(candidate(), hard_fail()))
    assert "Hard fail: truncation" in page.text
    assert list(page.find(class_="bar")) == []


def test_many_items_are_ranked_and_broken_down_by_category() -> None:
    page = bulk()
    rows = [row for row in page.find("tr") if "data-category" in row.attributes]
    assert [next(row.find("th")).text for row in rows] == ["item 0", "item 5", "item 4", "item 3", "item 2", "item 1"]
    assert [row.attributes["data-category"] for row in rows[:3]] == ["News", "Law", ""]
    assert "Law" in one(page, id="index").text
