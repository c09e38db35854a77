"""The page of a bulk run: an overview of all items, and the worst of them whole."""

from google.rpc import code_pb2
from precis.v1 import common_pb2

from server.cli.commands.judge import parse_floor
from server.cli.judge.judgements import Item, JudgeAnswer, JudgeTally
from server.cli.tally import WHOLE_ITEMS
from tests.judgements import SOURCE, SUMMARY, judgement
from tests.unit.server.cli.page.many_claims import long_judgement
from tests.unit.server.cli.page.report_page import Element, one, read_page

MESSAGE = "</script><b>bad</b> {{ 7*7 }}"


def bulk_page(count: int, *, whole: int = WHOLE_ITEMS, coverage: int = 2) -> Element:
    floors = [parse_floor(f"twin-lock:coverage={coverage}")]
    tally = JudgeTally(floors, keeps_page=True, whole_limit=whole)
    error = common_pb2.ItemError(code=code_pb2.INVALID_ARGUMENT, message=MESSAGE)
    for number in range(count):
        result = judgement()
        for framework in result.frameworks:
            framework.mean_score = number % 10
        answer = JudgeAnswer(f"item {number}", Item(f"item {number}", SOURCE, SUMMARY), result, None, "")
        tally.add(answer)
    tally.add(JudgeAnswer("broken", None, None, error, ""))
    return read_page(tally.render())


def test_a_bulk_run_has_an_index_that_leads_to_the_items() -> None:
    page = bulk_page(12)
    rows = list(one(page, "table", class_="items").find("tr"))[1:]
    assert [next(row.find("th")).text for row in rows[:3]] == ["item 0", "item 10", "item 1"]
    cells = [cell.text for cell in rows[0].find("td")]
    assert cells == ["0.00", "0.00", "0.00", "0.20", *"130", "abstained, error"]
    sections = [section.attributes["id"] for section in page.find("section", class_="item")]
    assert [link.attributes["href"] for row in rows for link in row.find("a")] == [f"#{name}" for name in sections]
    assert len(sections) == 12
    assert MESSAGE in one(page, class_="failures").text
    places = [element.attributes["id"] for element in page.find() if "id" in element.attributes]
    assert len(places) == len(set(places))


def test_a_bulk_run_opens_with_a_verdict_and_the_spread_of_its_items() -> None:
    page = bulk_page(12)
    assert one(one(page, "header"), class_="verdict").text == (
        "13 summaries were judged, 1 of them could not be: 36 claims, 12 not supported, in 12 summaries; "
        "the worst is item 0."
    )
    captions = [next(figure.find("figcaption")).text for figure in one(page, id="index").find(class_="histogram")]
    assert captions == [
        "Twin-Lock, mean score",
        "Judge-Lock, mean score",
        "Ultra, mean score",
        "Score of the worst claim",
    ]


def test_the_spread_of_every_score_is_in_the_page_and_which_of_them_are_partial() -> None:
    tally = JudgeTally(keeps_page=True)
    for omitted in (0, 7):
        item, result = long_judgement(4, omitted=omitted)
        answer = JudgeAnswer(item.id, item, result, None, "")
        tally.add(answer)
    index = one(read_page(tally.render()), id="index")
    spread = next(index.find("table"))
    rows = {next(row.find("th")).text: [cell.text for cell in row.find("td")] for row in spread.find("tr")}
    assert rows["ultra hallucination"] == ["7.00", "7.00", "7.00", "7.00", "2"]
    notes = [note.text for note in index.find(class_="note")]
    assert "ultra hallucination: partial in 1 item" in notes
    assert not [note for note in notes if "bias-toxicity" in note]


def test_what_items_can_be_filtered_by_is_in_the_page() -> None:
    index = one(bulk_page(12, coverage=5), id="index")
    assert [option.text for option in one(index, "select").find("option")] == [
        "any",
        "abstained",
        "error",
        "under the limit",
    ]
    statuses = [row.attributes["data-statuses"] for row in one(one(index, "table", class_="items"), "tbody").find("tr")]
    assert statuses[0] == "abstained|error|under the limit"


def test_of_many_items_the_worst_are_shown_whole() -> None:
    page = bulk_page(12, whole=3)
    titles = [section.find("h2") for section in page.find("section", class_="item")]
    assert [next(title).text for title in titles] == ["item 0", "item 10", "item 1"]
    assert "The 3 worst are shown whole" in one(page, "section", id="index").text
    assert len(list(one(page, "table", class_="items").find("tr"))) == 13
