"""A calibration as it is shown, on the terminal and as a page; and what is said of a second reader."""

import io
import json
import random
from collections.abc import Sequence
from functools import cache

import pytest
from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Console

from server.cli.agreement.calibrate import (
    CalibrationReport,
    JudgedRows,
    LabelledClaim,
    LabelRow,
    print_calibration,
    render_calibration,
    second_reader_of,
    to_fields,
)
from server.cli.commands.agreement import CalibrateOptions
from server.cli.errors import CliError, InputError
from server.cli.judge.judgements import Item, JudgeAnswer
from tests.judgements import foreign_judgement, judgement
from tests.unit.server.cli.page.report_page import one, read_page

OPTIONS = CalibrateOptions()
ROWS = 40


def result_of(score: float | None) -> pb.JudgeResult:
    result = judgement()
    metric = result.frameworks[2].metrics[2]
    if score is None:
        metric.status = pb.JUDGE_METRIC_STATUS_ABSTAINED
    else:
        metric.score = score
    return result


def answers_of(scores: Sequence[float | None]) -> JudgedRows:
    """Good from the middle of the rows on; two annotators who differ in the last two."""
    rows = {}
    for number in range(len(scores)):
        good = int(number >= len(scores) // 2)
        item = Item(f"row {number:02}", f"Source {number}.", "Summary.")
        rows[item.id] = LabelRow(item, {"a": good, "b": good - (number >= len(scores) - 2)})
    answers = JudgedRows(OPTIONS, rows)
    for row, score in zip(rows.values(), scores, strict=True):
        answers.add(JudgeAnswer(row.item.id, row.item, result_of(score), None, ""))
    return answers


@cache
def rising() -> CalibrationReport:
    return answers_of([number / 4 for number in range(ROWS)]).report()


def printed(report: CalibrationReport) -> str:
    file = io.StringIO()
    print_calibration(Console(file=file, width=160, highlight=False), report)
    return file.getvalue()


def test_measures_fit_and_disagreements_are_printed() -> None:
    text = printed(rising())
    assert "ultra hallucination: 18 good and 22 bad summaries" in text
    assert "kappa between annotators" in text
    assert "Pass from 4.875 of 10; probability 1 / (1 + exp(-(" in text
    assert "2 summaries that people decide otherwise" in text
    first = text.index("row 39  passes with 9.75")
    assert first < text.index("row 38  passes with 9.50")
    assert "people say 0.5" in text
    assert "The city will meet its deadline." in text[first:]
    assert "closest (contradiction 0.93): The auditor does not expect" in text[first:]


def test_the_calibration_holds_what_was_learned() -> None:
    calibration = rising().calibration
    assert (calibration.row_count, calibration.good_count) == (40, 18)
    assert calibration.models[0].sha256 == "ab" * 32
    assert calibration.measures["auc"].value == pytest.approx(1 - 2 * 18 / (18 * 22))
    assert calibration.probability(9.0) > 0.5 > calibration.probability(1.0)


def test_the_same_rows_give_the_same_calibration_in_any_order() -> None:
    scores = [number / 4 for number in range(ROWS)]
    answers = answers_of(scores)
    later = JudgedRows(OPTIONS, answers.rows)
    later.judged = dict(reversed(answers.judged.items()))
    later.identities = set(answers.identities)
    assert later.report().calibration == answers.report().calibration


def test_rows_that_no_model_read_are_no_other_judge() -> None:
    answers = answers_of([number / 4 for number in range(ROWS)])
    answers.add(JudgeAnswer("row 03", None, foreign_judgement(), None, ""))
    report = answers.report()
    assert (report.calibration.row_count, report.calibration.models[0].sha256) == (39, "ab" * 32)
    assert "1 more have no score that counts: unsupported language" in printed(report)
    for row_id in answers.rows:
        answers.add(JudgeAnswer(row_id, None, foreign_judgement(), None, ""))
    later = JudgedRows(OPTIONS, answers.rows, answers.judged)
    with pytest.raises(InputError, match=r"at least 5 good.*; 40 more have no score that counts: unsupported language"):
        later.report()


def test_everything_is_json_and_nothing_in_it_is_no_number() -> None:
    document = json.dumps(to_fields(rising()), allow_nan=False)
    [first, _] = json.loads(document)["disagreements"]
    assert (first["id"], first["verdict"], first["label"], len(first["claims"])) == ("row 39", "pass", 0.5, 3)


def test_failed_rows_and_two_judges_end_the_calibration() -> None:
    failing = answers_of([1.0] * 4)
    failing.add(JudgeAnswer("row 00", None, None, common_pb2.ItemError(message="no"), ""))
    with pytest.raises(CliError, match="1 of 4 items failed"):
        failing.report()
    mixed = answers_of([1.0] * 4)
    other = judgement()
    other.models[0].sha256 = "ef" * 32
    mixed.add(JudgeAnswer("row 00", None, other, None, ""))
    with pytest.raises(InputError, match="different models"):
        mixed.report()


def test_the_page_shows_measures_bins_and_claims() -> None:
    page = read_page(render_calibration(rising()))
    assert one(page, "h1").text == "Calibration of ultra hallucination"
    named = [(next(row.find("th")).text, [cell.text for cell in row.find("td")]) for row in page.find("tr")]
    rows = {name: cells for name, cells in named if cells}
    assert rows["AUC: a good summary above a bad one"][0] == "0.909"
    assert len(list(page.find("svg"))) == 2
    cards = list(page.find("li", class_="card"))
    assert len(cards) == 2 * 3
    assert "contradicted by" in cards[0].text
    assert list(page.find("script")) == []
    policy = one(page, "meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert "script-src 'none'" in policy


def claims_read_by(accuracy: float | None) -> list[LabelledClaim]:
    """Claims that the first reader is half sure of, a third of them; None: the second one gave no answer."""
    drawn, claims = random.Random(3), []
    for number in range(600):
        is_good, sure = number % 2 == 0, 0.9 if number % 3 else 0.45 + 0.1 * drawn.random()
        claim = evidence_pb2.Claim(probability=sure if is_good or number % 3 == 0 else 1 - sure)
        if accuracy is not None:
            claim.second_reading.is_supported = is_good == (drawn.random() < accuracy)
        claims.append(LabelledClaim(claim, f"source {number}", is_good))
    return claims


def test_a_reader_that_helps_is_written_with_what_was_measured_and_another_is_not() -> None:
    words, reader = second_reader_of(claims_read_by(0.95), "a model, prompts 1")
    assert reader is not None
    assert reader.reader == "a model, prompts 1"
    assert reader.low <= 0.5 <= reader.high
    assert reader.measured["claims"] == 600
    assert reader.measured["gain_low"] > 0
    assert f"{reader.low:g} to {reader.high:g}" in words
    words, reader = second_reader_of(claims_read_by(0.5), "a model, prompts 1")
    assert reader is None
    assert "nothing was written" in words


@pytest.mark.parametrize(("accuracy", "model"), [(None, "a model"), (0.95, "")])
def test_without_a_language_model_it_is_said_what_to_set(accuracy: float | None, model: str) -> None:
    with pytest.raises(InputError, match=r"set llm\.base_url"):
        second_reader_of(claims_read_by(accuracy), model)
