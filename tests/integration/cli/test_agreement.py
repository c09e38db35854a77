"""`precis calibrate`, `precis judge --calibration` and `precis compare`, one after the other as a team uses them."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.integration.cli.scripted_judge import ScriptedJudge
from tests.integration.support.programs import Ended, precis

COUNT = 24
FAULT = "ultra hallucination does not pass --calibration"


def written(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def labelled_rows(label: object = None) -> list[dict[str, object]]:
    """The summary is the score that the scripted judge gives; good from 5.5 on, but for one."""
    return [
        {
            "id": f"row {number}",
            "source": f"Source {number}.",
            "summary": f"{number / 3:.2f}",
            "label": int(number / 3 >= 5.5 and number != COUNT - 1) if label is None else label,
            "category": "even" if number % 2 == 0 else "odd",
        }
        for number in range(COUNT)
    ]


async def calibrated(judge: ScriptedJudge, tmp_path: Path, *arguments: object) -> Ended:
    path = written(tmp_path / "labels.jsonl", labelled_rows())
    output = tmp_path / "calibration.json"
    return await precis("calibrate", path, "-o", output, "-a", judge.address, *arguments)


async def test_labels_become_a_calibration_a_page_and_verdicts(judge: ScriptedJudge, tmp_path: Path) -> None:
    page, results = tmp_path / "out.html", tmp_path / "results.jsonl"
    ended = await calibrated(judge, tmp_path, "--report", page, "--results", results)
    assert ended.code == 0
    assert ended.err.splitlines() == [f"calibration: {tmp_path / 'calibration.json'}", f"report: {page}"]
    assert "1 summaries that people decide otherwise" in ended.out
    assert "row 23  passes with 7.67" in ended.out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    calibration = json.loads((tmp_path / "calibration.json").read_text(encoding="utf-8"))
    assert calibration["version"] == 1
    assert 5 < calibration["threshold"] < 5.67
    assert calibration["models"][0]["name"] == "tiny-nli"
    assert json.loads(results.read_text(encoding="utf-8").splitlines()[0])["category"] in ("even", "odd")

    again = await calibrated(judge, tmp_path, "--results", results, "--resume", "--json")
    assert (again.code, json.loads(again.out)["calibration"]) == (0, calibration)
    assert set(judge.seen.values()) == {1}


async def test_a_calibration_gives_verdicts_and_decides_the_exit_code(judge: ScriptedJudge, tmp_path: Path) -> None:
    assert (await calibrated(judge, tmp_path)).code == 0
    applied = ("--calibration", tmp_path / "calibration.json", "-a", judge.address)
    items = written(tmp_path / "items.jsonl", [{"id": text, "source": "S.", "summary": text} for text in ("9", "1")])
    output = tmp_path / "results.jsonl"
    many = await precis("judge", items, "-o", output, *applied)
    assert (many.code, many.error) == (1, f"precis: under the limit: 1: {FAULT}")
    assert "ultra hallucination calibrated: 1 pass, 1 fail" in many.out
    lines = {line["id"]: line["calibrated"] for line in map(json.loads, output.read_text().splitlines())}
    assert {name: one["verdict"] for name, one in lines.items()} == {"9": "pass", "1": "fail"}
    assert lines["9"]["probability"] > 0.5 > lines["1"]["probability"]

    for name, text in (("source", "S."), ("good", "9")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    single = await precis(
        "judge", "--source", tmp_path / "source", "-s", tmp_path / "good", "-f", "twin-lock", *applied
    )
    assert (single.code, single.err) == (0, "")
    assert "pass from" in single.out


async def test_a_text_that_is_not_english_ends_neither_a_calibration_nor_its_use(
    judge: ScriptedJudge, tmp_path: Path
) -> None:
    foreign: dict[str, object] = {"id": "foreign", "source": "S.", "summary": "deutsch"}
    labels, calibration = tmp_path / "labels.jsonl", tmp_path / "calibration.json"
    written(labels, [*labelled_rows(), {**foreign, "label": 1}])
    ended = await precis("calibrate", labels, "-o", calibration, "-a", judge.address)
    assert ended.code == 0
    assert "1 more have no score that counts: unsupported language" in ended.out

    items = written(tmp_path / "items.jsonl", [{"id": "9", "source": "S.", "summary": "9"}, foreign])
    output = tmp_path / "results.jsonl"
    many = await precis("judge", items, "-o", output, "--calibration", calibration, "-a", judge.address)
    assert (many.code, many.error) == (1, f"precis: under the limit: foreign: {FAULT}")
    assert "ultra hallucination: unsupported language in 1 item" in many.out
    assert "ultra hallucination calibrated: 1 pass, 1 none" in many.out
    assert "different models" not in many.out
    lines = {line["id"]: line["calibrated"]["verdict"] for line in map(json.loads, output.read_text().splitlines())}
    assert lines == {"9": "pass", "foreign": "none"}


async def test_results_that_fell_are_a_regression(judge: ScriptedJudge, tmp_path: Path) -> None:
    def rows(scores: Sequence[float]) -> list[dict[str, object]]:
        return [
            {"id": f"{number}", "source": "S.", "summary": f"{score:.2f}", "category": "ab"[number % 2]}
            for number, score in enumerate(scores)
        ]

    before, after = [4 + number / 5 for number in range(20)], [3.5 + number / 5 for number in range(20)]
    items, results, page = tmp_path / "items.jsonl", tmp_path / "a.jsonl", tmp_path / "out.html"
    assert (await precis("judge", written(items, rows(before)), "-o", results, "-a", judge.address)).code == 0
    fallen = tmp_path / "b.jsonl"
    assert (await precis("judge", written(items, rows(after)), "-o", fallen, "-a", judge.address)).code == 0
    ended = await precis("compare", results, fallen, "--report", page)
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == "precis: Regression beyond 0 points at 95% confidence."
    assert "-0.50" in ended.out
    assert "Regression beyond 0 points" in page.read_text(encoding="utf-8")
    tolerant = await precis("compare", results, fallen, "--tolerance", 0.6, "--json")
    assert tolerant.code == 0
    found = json.loads(tolerant.out)
    assert (found["is_regression"], found["all"]["losses"]) == (False, 20)
    assert {one["id"] for one in found["changed"]} == {"5", "6", "7"}
    better = await precis("compare", fallen, results)
    assert better.code == 0
