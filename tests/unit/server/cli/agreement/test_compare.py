"""Two sets of results: how they are read, what the difference amounts to, and how it is shown."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from server.cli.agreement.compare import (
    ABSTAINED,
    ComparisonReport,
    ScoredItem,
    Scores,
    identities_of,
    print_comparison,
    read_scores,
    render_comparison,
    report_of,
    to_fields,
)
from server.cli.commands.agreement import CompareOptions
from server.cli.commands.judge import FrameworkChoice, ScoreKind
from server.cli.errors import InputError
from server.cli.files import to_json_fields
from tests.judgements import foreign_judgement, judgement
from tests.unit.server.cli.page.report_page import one, read_page

PATHS = (Path("a.jsonl"), Path("b.jsonl"))
MARKUP = "[bold red]x[/] [/nonsense] \x1b[31m"


def scores(values: Sequence[float | None], status: str = "") -> Scores:
    """What has no score has this status."""
    return {
        f"item {number:02}": ScoredItem(value, status if value is None else "") for number, value in enumerate(values)
    }


def compared(
    before: Sequence[float | None], after: Sequence[float | None], *, tolerance: float = 0.0
) -> ComparisonReport:
    options = CompareOptions(tolerance=tolerance)
    return report_of(PATHS, scores(before), scores(after), options)


def printed(report: ComparisonReport) -> str:
    file = io.StringIO()
    print_comparison(Console(file=file, width=200, highlight=False), report)
    return file.getvalue()


def test_pairs_by_hand() -> None:
    found = compared([4, 6, 5, 8], [6, 4, 5, 9])
    whole = found.whole
    assert whole is not None
    assert (whole.count, whole.first_mean, whole.second_mean) == (4, 5.75, 6)
    assert whole.difference.estimate.value == 0.25
    assert (whole.wins, whole.losses, whole.ties, whole.fixed, whole.broken) == (2, 1, 1, 1, 1)
    assert [(pair.id, pair.first, pair.second) for pair in found.changed] == [("item 01", 6, 4), ("item 00", 4, 6)]


def test_a_regression_is_a_fall_that_is_sure_to_exceed_the_tolerance() -> None:
    before = [5 + number % 4 for number in range(80)]
    assert compared(before, [score - 1 - (number % 3) / 10 for number, score in enumerate(before)]).is_regression
    fallen = [score - 0.1 for score in before]
    assert compared(before, fallen).is_regression
    assert not compared(before, fallen, tolerance=0.2).is_regression
    assert not compared(before, before).is_regression
    assert not compared(fallen, before).is_regression
    mixed = [score + (0.5 if number % 2 else -0.6) for number, score in enumerate(before)]
    assert not compared(before, mixed).is_regression


def test_items_of_one_file_alone_are_refused() -> None:
    with pytest.raises(InputError, match=r"1 items are only in a.jsonl, 0 only in b.jsonl: compare equal ones"):
        compared([1, 2], [1])
    with pytest.raises(InputError, match="no item with two scores"):
        compared([None], [3])


def with_lost(
    before: Sequence[float | None], after: Sequence[float | None], status: str = "unsupported language"
) -> ComparisonReport:
    return report_of(PATHS, scores(before, status=status), scores(after, status=status), CompareOptions())


def test_items_that_lost_their_score_are_a_regression_and_listed() -> None:
    found = with_lost([3, 9, 6, 7, None], [None, None, 6, 7, None])
    assert found.whole is not None
    assert (found.whole.count, found.has_fallen, found.is_regression) == (2, False, True)
    assert [(one.id, one.first, found.passed(one)) for one in found.changed] == [
        ("item 01", 9, True),
        ("item 00", 3, False),
    ]
    text = printed(found)
    assert "3 items have no score that counts on one side, and are left out of the means: unsupported language." in text
    assert "items that changed sides or lost their score (2)" in text
    assert [line.split() for line in text.splitlines() if line.split()[:2] in (["item", "00"], ["item", "01"])] == [
        ["item", "01", "9.00", "-", "unsupported", "language,", "no", "longer", "passes"],
        ["item", "00", "3.00", "-", "unsupported", "language"],
    ]
    assert found.verdict == (
        "Regression: 2 items lost their score; 1 of them passed before. "
        "Of the others: No regression beyond 0 points at 95% confidence."
    )
    assert to_fields(found)["is_regression"]
    assert to_fields(found)["changed"][0] == {
        "id": "item 01",
        "first": 9,
        "second": None,
        "status": "unsupported language",
    }


def test_a_few_items_that_the_judge_abstains_from_are_listed_and_no_regression() -> None:
    before: list[float | None] = [8.0] * 40
    few = with_lost([None, *before], [8, None, *before[1:]], status="abstained")
    assert (len(few.changed), few.abstains_more, few.is_regression) == (1, False, False)
    assert few.verdict == "No regression beyond 0 points at 95% confidence."
    assert "items that changed sides or lost their score (1)" in printed(few)
    many = with_lost(before, [None] * 10 + before[10:], status="abstained")
    assert (len(many.changed), many.abstains_more, many.is_regression) == (10, True, True)
    assert to_fields(many)["abstains_more"]
    assert with_lost([8, None], [None, 8], status="abstained").verdict.startswith("Regression: 1 item lost")


def result_line(item_id: str, score: object = 7.5, **fields: object) -> dict[str, Any]:
    result = to_json_fields(judgement())
    result["frameworks"][2]["metrics"][2]["score"] = score
    return {"id": item_id, "item_sha256": "0", "result": result, **fields}


def read(tmp_path: Path, *lines: dict[str, object], kind: ScoreKind | None = None) -> Scores:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return read_scores(path, kind or ScoreKind())


def test_results_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, result_line("one"), result_line("two"))
    assert {name: one.score for name, one in found.items()} == {"one": 7.5, "two": 7.5}
    assert len(identities_of(found)) == 1
    twin = ScoreKind(FrameworkChoice.TWIN_LOCK, "coverage")
    assert read(tmp_path, result_line("one"), kind=twin)["one"].score == 4.0
    assert read(tmp_path, result_line("one"), kind=ScoreKind(policy="lenient"))["one"].score == 7.5


def test_a_result_that_no_model_read_is_no_other_judge(tmp_path: Path) -> None:
    foreign: dict[str, object] = {"id": "two", "item_sha256": "0", "result": to_json_fields(foreign_judgement())}
    abstained = result_line("three")
    abstained["result"]["frameworks"][2]["metrics"][2]["status"] = "JUDGE_METRIC_STATUS_ABSTAINED"
    found = read(tmp_path, result_line("one"), foreign, abstained)
    assert {name: one.score for name, one in found.items()} == {"one": 7.5, "two": None, "three": None}
    assert {name: one.status for name, one in found.items()} == {
        "one": "",
        "two": "unsupported language",
        "three": ABSTAINED,
    }
    assert len(identities_of(found)) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "two", "item_sha256": "0", "error": {}}, "error: this item failed"),
        ({"id": "two", "item_sha256": "0", "result": 3}, "result: expected an object, got int"),
        ({"id": "two", "item_sha256": "0", "result": {"frameworks": 3}}, "result: "),
        ({"id": "two", "item_sha256": "0", "result": {}}, "result.frameworks: expected ultra hallucination"),
        (result_line("two", "NaN"), "result.frameworks: expected a score from 0 to 10, got nan"),
        (result_line("two", 11), "result.frameworks: expected a score from 0 to 10, got 11"),
        (result_line("one"), "id: the same as in line 1"),
        ({"id": "two", "source": "S."}, "result: expected what precis judge --output writes, got nothing"),
    ],
)
def test_a_bad_line_is_named_with_its_field(tmp_path: Path, line: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=rf"results.jsonl: line 2: {message}"):
        read(tmp_path, result_line("one"), line)


def test_the_page_has_the_table_and_the_flips() -> None:
    report = compared([4, 6, 5, 8], [6, 4, 5, 9])
    page = read_page(render_comparison(PATHS, report))
    assert one(page, "h1").text == "Comparison"
    tables = [[[cell.text for cell in row.find("td")] for row in table.find("tr")] for table in page.find("table")]
    assert tables[0][1][:3] == ["5.75", "6.00", "+0.25"]
    assert tables[1][1] == ["6.00", "4.00", "no longer passes"]
    assert "No regression beyond 0 points at 95% confidence." in page.text


def test_texts_of_a_file_are_data_on_the_terminal() -> None:
    text = printed(report_of(PATHS, {MARKUP: ScoredItem(4)}, {MARKUP: ScoredItem(6)}, CompareOptions()))
    assert "[bold red]x[/] [/nonsense]" in text
    assert "\x1b" not in text
