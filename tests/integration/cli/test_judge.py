"""`precis judge` against a real server: tables, JSON, the page, and how it ends."""

import json
import re
from pathlib import Path

import pytest
from google.protobuf import json_format
from precis.v1 import judge_pb2 as pb

from server.app import App
from server.settings import Settings
from tests.integration.support.programs import ROOT, precis
from tests.judgements import SOURCE, SUMMARY

FRAMEWORKS = ("twin-lock", "judge-lock", "ultra")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "article.txt"
    path.write_text(SOURCE, encoding="utf-8")
    return path


@pytest.fixture
def summary(tmp_path: Path) -> Path:
    path = tmp_path / "summary.txt"
    path.write_text(SUMMARY, encoding="utf-8")
    return path


async def test_a_summary_has_a_table_and_a_page(app: App, source: Path, summary: Path, tmp_path: Path) -> None:
    report = tmp_path / "out.html"
    named = [argument for name in FRAMEWORKS for argument in ("-f", name)]
    arguments = ("--source", source, "--summary", summary, "--report", report)
    ended = await precis("judge", *arguments, *named, "-a", app.address)
    assert (ended.code, ended.error) == (0, f"report: {report}")
    assert all(name in ended.out for name in (*FRAMEWORKS, "coverage", "bias-toxicity"))
    html = report.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert html.count('<figure class="chart"') == len(FRAMEWORKS)
    assert "Judgement of summary.txt" in html


async def test_json_is_the_response_with_the_names_of_the_contract(app: App, source: Path, summary: Path) -> None:
    ended = await precis("judge", "--source", source, "-s", summary, "--json", "-f", "judge-lock", "-a", app.address)
    assert (ended.code, ended.err) == (0, "")
    [entry] = json.loads(ended.out)["results"]
    result = json_format.ParseDict(entry["result"], pb.JudgeResult())
    assert entry["id"] == "summary.txt"
    assert [framework.framework for framework in result.frameworks] == [pb.JUDGE_FRAMEWORK_JUDGE_LOCK]
    for claim in result.evidence.claims:
        assert SUMMARY[claim.passage.start : claim.passage.end] == claim.passage.text


async def test_summaries_of_one_source_are_compared(app: App, source: Path, summary: Path, tmp_path: Path) -> None:
    report, output, other = tmp_path / "out.html", tmp_path / "out.json", tmp_path / "other.txt"
    other.write_text("The council has approved a second crew.", encoding="utf-8")
    arguments = ("--source", source, "-s", summary, "-s", other, "--report", report, "-o", output)
    ended = await precis("judge", *arguments, "-a", app.address)
    assert ended.code == 0
    assert ended.out.count("ultra") == 5
    assert ended.out.count("judge-lock") == 0
    results = json.loads(output.read_text(encoding="utf-8"))["results"]
    assert [entry["id"] for entry in results] == ["summary.txt", "other.txt"]
    assert report.read_text(encoding="utf-8").count('<section class="item"') == 2


async def test_a_score_under_its_limit_exits_with_1_after_all_is_written(
    app: App, source: Path, summary: Path, tmp_path: Path
) -> None:
    report = tmp_path / "out.html"
    arguments = ("judge", "--source", source, "-s", summary, "-f", "twin-lock", "-a", app.address)
    scores = json.loads((await precis(*arguments, "--json")).out)["results"][0]["result"]["frameworks"][0]["metrics"]
    hallucination = scores[2]["score"]
    assert (await precis(*arguments, "--fail-under", f"twin-lock:hallucination={hallucination}")).code == 0
    failed = await precis(
        *arguments, "--fail-under", f"twin-lock:hallucination={hallucination + 0.5}", "--report", report
    )
    assert failed.code == 1
    said = f"twin-lock hallucination {hallucination:.2f} < {hallucination + 0.5:g}"
    assert failed.err.splitlines()[-1] == f"precis: under the limit: {said}"
    assert said.replace("<", "&lt;") in report.read_text(encoding="utf-8")


async def test_one_text_may_come_from_standard_input(app: App, source: Path) -> None:
    ended = await precis("judge", "--source", source, "-s", "-", "--json", "-a", app.address, stdin=SUMMARY.encode())
    assert json.loads(ended.out)["results"][0]["id"] == "stdin"


@pytest.mark.models
async def test_the_quickstart_shows_what_was_invented(tmp_path: Path) -> None:
    settings = Settings(
        models_dir=ROOT / "models",
        listen={"port": 0},
        metrics={"enabled": False},
        summary_storage={"directory": tmp_path},
        inference={"runtime": {"warmup_s": 0.2}},
    )
    data, report = ROOT / "scripts" / "data" / "judge", tmp_path / "out.html"
    summaries = [argument for name in ("faithful", "hallucinated") for argument in ("-s", data / f"{name}.txt")]
    async with App(settings) as app:
        arguments = ("--source", data / "article.txt", *summaries, "--json", "--report", report)
        ended = await precis("judge", *arguments, "-a", app.address)
    faithful, hallucinated = (entry["result"]["frameworks"] for entry in json.loads(ended.out)["results"])
    for good, bad in zip(faithful, hallucinated, strict=True):
        assert bad["metrics"][2]["score"] < good["metrics"][2]["score"] - 4
    html = report.read_text(encoding="utf-8")
    assert '<em class="doubt">61 million pounds</em>' in html
    assert re.search(r'class="piece[^"]*">51 million pounds<', html)
