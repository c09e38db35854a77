"""`precis assess` and `precis synthesize` against a real server, with and without a scripted language model."""

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from precis.v1 import synthesis_pb2 as pb

from server.app import App
from tests.integration.assess.pictures import png
from tests.integration.conftest import Start
from tests.integration.support.programs import precis, written
from tests.integration.support.shared_server import QUICK
from tests.judgements import SOURCE, SUMMARY
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

EVIDENCE: dict[str, Any] = {
    "question": "How good is this image?",
    "mode": "scoring",
    "evidence": {
        "distortion_analysis": [{"scope": "Global", "findings": [{"kind": "Blurs", "severity": "moderate"}]}],
        "tool_scores": [
            {"tool": "TOPIQ_FR", "aspect": "Blurs", "score": 2.6},
            {"tool": "QAlign", "aspect": "Blurs", "score": 2.8},
        ],
    },
}


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    return written(tmp_path / "evidence.json", EVIDENCE)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    path.write_bytes(png())
    return path


async def test_evidence_becomes_an_answer_with_its_reasons(app: App, evidence: Path) -> None:
    ended = await precis("synthesize", evidence, "-a", app.address)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0] == "C, fair: 2.70 of 5"
    for text in ("mean of the tools 2.70", "Blurs", "moderate", "TOPIQ_FR", "answered by deterministic"):
        assert text in ended.out


async def test_options_stand_above_the_file(app: App) -> None:
    asked = EVIDENCE | {"question": "How good is it?", "mode": "explanation", "choices": ["Noise", "Blur"]}
    arguments = ("synthesize", "-", "-q", "What is worst?", "-a", app.address)
    ended = await precis(*arguments, stdin=json.dumps(asked).encode())
    assert (ended.code, ended.out.splitlines()[0]) == (0, "B")


@pytest.mark.parametrize(("floor", "code"), [("C", 0), ("B", 1)])
async def test_a_level_under_its_limit_exits_with_1(app: App, evidence: Path, floor: str, code: int) -> None:
    ended = await precis("synthesize", evidence, "--fail-under", floor, "-a", app.address)
    assert ended.code == code
    assert ended.err == (f"precis: under the limit: C < {floor}\n" if code else "")


async def test_a_limit_asks_for_a_level_however_the_question_reads(app: App, picture: Path) -> None:
    ended = await precis("assess", "-q", "Is it sharp?", "-i", picture, "--fail-under", "B", "-a", app.address)
    assert (ended.code, ended.out.splitlines()[0][:2]) == (0, "A,")
    assert ended.err.startswith("plan 1: scoring of ")


async def test_evidence_of_another_part_answers_nothing(app: App, tmp_path: Path) -> None:
    asked = written(tmp_path / "car.json", EVIDENCE | {"scope": {"objects": {"names": ["car"]}}})
    ended = await precis("synthesize", asked, "-a", app.address)
    assert ended.code == 4
    assert ended.error.startswith("precis: no answer: nothing_to_fuse")
    assert "lacking: no analysis of car (scope-not-covered)" in ended.out
    assert "note: out_of_scope: 3 findings or scores" in ended.out


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mode": "poem"}, "no SynthesizeRequest"),
        ({"scope": {"name": "car"}}, "scope"),
    ],
)
async def test_a_file_that_cannot_be_used_is_one_line(
    app: App, tmp_path: Path, fields: dict[str, object], message: str
) -> None:
    ended = await precis("synthesize", written(tmp_path / "bad.json", {**EVIDENCE, **fields}), "-a", app.address)
    assert (ended.code, message in ended.error) == (2, True)


async def test_an_image_is_assessed_and_every_step_is_told(app: App, picture: Path) -> None:
    ended = await precis("assess", "-q", "How good is this image?", "--image", picture, "-a", app.address)
    assert ended.code == 0
    kinds = [line.split()[0].rstrip(":") for line in ended.err.splitlines()]
    assert kinds == ["plan", "tool", "tool", "tool", "evidence", "answer"]
    assert ended.err.splitlines()[0].startswith("plan 1: scoring of Global; blur, noise, blockiness; ")
    assert ended.out.splitlines()[0].startswith(("A,", "B,", "C,", "D,", "E,"))
    assert "0 times planned again" in ended.out


async def test_a_summary_is_assessed_with_its_source(app: App, tmp_path: Path) -> None:
    source, summary = tmp_path / "a.txt", tmp_path / "s.txt"
    source.write_text(SOURCE, encoding="utf-8")
    summary.write_text(SUMMARY, encoding="utf-8")
    texts = ("--source", source, "--summary", summary)
    ended = await precis("assess", "-q", "Is anything hallucinated?", *texts, "--json", "-a", app.address)
    assert ended.code == 0
    outcome = json_format.ParseDict(json.loads(ended.out), pb.Assessment())
    assert "hallucination" in outcome.plan.distortions
    assert outcome.synthesis.final_answer


async def test_the_limit_of_replanning_stands_in_the_file(app: App, tmp_path: Path, picture: Path) -> None:
    zebra = {"scope": {"objects": {"names": ["zebra"]}}}
    files = [
        written(tmp_path / f"{number}.json", zebra | {"options": options})
        for number, options in enumerate(({}, {"max_replan_iterations": 0}))
    ]
    arguments = ("-q", "Rate it.", "-i", picture, "--json", "-a", app.address)
    once, never = [await precis("assess", file, *arguments) for file in files]
    assert [json.loads(ended.out)["iteration_count"] for ended in (once, never)] == [1, 0]
    assert "again, for: no analysis of zebra" in once.err
    assert "again" not in never.err


async def test_a_model_that_fails_is_told_and_is_no_error(start: Start, evidence: Path, tmp_path: Path) -> None:
    without = written(tmp_path / "without.json", EVIDENCE | {"options": {"use_language_model": False}})
    async with ScriptedEndpoint(Script(replies=(Reply("", "I cannot help with that."),))) as endpoint:
        async with start(llm={"base_url": endpoint.base_url, "model": "scripted", **QUICK}) as app:
            ended = await precis("synthesize", evidence, "-a", app.address)
            alone = await precis("synthesize", without, "-a", app.address)
        requests = endpoint.log.requests.total()
    assert (ended.code, alone.code, requests) == (0, 0, 3)
    assert "degraded: invalid_answer" in ended.out
    assert "answered by deterministic after 3 attempts" in ended.out
    assert "degraded" not in alone.out
