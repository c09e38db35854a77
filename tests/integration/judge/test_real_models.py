"""Judgements with the installed models, through gRPC: the scores mean what their names say."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from pipeline.evaluate.datum import GoldStandardSummary
from server.app import App
from server.cli.evaluate.evaluations import evaluate_document
from server.cli.evaluate.gold import propose_gold
from server.cli.options import Connection, RunOptions
from server.settings import Settings
from tests.integration.judge.judge_requests import SOURCE, judge_request

ROOT = Path(__file__).resolve().parents[3]
MODELS, ARTICLES = ROOT / "models", ROOT / "scripts" / "data" / "judge"

pytestmark = [pytest.mark.models, pytest.mark.asyncio(loop_scope="module")]

FAITHFUL = (
    "Harlow Falls replaced 9,300 lead service lines between 2017 and June 2023. "
    "The work cost $71 million, 12 percent more than planned. "
    "The auditor does not expect the city to meet the federal deadline."
)
INVENTED = (
    "Harlow Falls replaced 9,300 lead service lines between 2017 and June 2023. "
    "The work cost $17 million, half of what was planned. "
    "The auditor expects the city to meet the federal deadline, and the governor praised the mayor."
)
SHORT = "The city replaced 9,300 lead pipes in March 2023."
HALLUCINATION, BIAS = 2, 4


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    settings = Settings(
        models_dir=MODELS,
        listen={"port": 0},
        metrics={"enabled": False},
        summary_storage={"directory": tmp_path_factory.mktemp("summaries")},
        inference={"runtime": {"warmup_s": 0.2}},
        judge={"cache": {"max_judgements": 0}},
    )
    async with App(settings) as app:
        yield app.address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stub(address: str) -> AsyncIterator[JudgeServiceStub]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield JudgeServiceStub(channel)


async def judged(stub: JudgeServiceStub, summary: str) -> pb.JudgeResult:
    return (await stub.Judge(judge_request(summary=summary))).result


async def test_claims_are_compared_with_the_right_sentences(stub: JudgeServiceStub) -> None:
    claims = (await judged(stub, INVENTED)).evidence.claims
    assert "9,300 lead service lines" in claims[0].support.text
    denied = next(claim for claim in claims if "auditor expects" in claim.passage.text)
    assert "auditor does not expect" in denied.support.text
    assert denied.support.text in denied.premise.text
    assert denied.label == evidence_pb2.CLAIM_LABEL_UNSUPPORTED


@pytest.mark.parametrize("summary", ["It replaced 9,300 lead pipes in March 2023.", "It replaced 3,900 lead pipes."])
async def test_a_short_text_has_a_short_answer_by_default(stub: JudgeServiceStub, summary: str) -> None:
    response = await stub.Judge(pb.JudgeRequest(source=SHORT, summary=summary))
    [framework] = response.result.frameworks
    assert framework.framework == pb.JUDGE_FRAMEWORK_ULTRA
    assert all(metric.reason for metric in framework.metrics)
    [claim] = response.result.evidence.claims
    assert claim.support.text == SHORT
    assert response.ByteSize() < 2_000


async def test_views_say_the_same_more_or_less_of_it(stub: JudgeServiceStub) -> None:
    scores, claims, full = [
        (await stub.Judge(judge_request(summary=INVENTED, view=view))).result
        for view in (common_pb2.RESULT_VIEW_SCORES, common_pb2.RESULT_VIEW_CLAIMS, common_pb2.RESULT_VIEW_FULL)
    ]
    assert len({result.request_hash for result in (scores, claims, full)}) == 1
    for less in (scores, claims):
        for framework, other in zip(less.frameworks, full.frameworks, strict=True):
            assert [metric.score for metric in framework.metrics] == [metric.score for metric in other.metrics]
            assert framework.mean_score == other.mean_score
    assert [claim.label for claim in claims.evidence.claims] == [claim.label for claim in full.evidence.claims]
    assert scores.ByteSize() < claims.ByteSize() < full.ByteSize() / 3


async def test_hostile_words_lower_bias_and_are_pointed_at(stub: JudgeServiceStub) -> None:
    hostile = FAITHFUL.replace("The auditor", "This is bullshit by lying idiots, and the auditor")
    polite, rude = await judged(stub, FAITHFUL), await judged(stub, hostile)
    for good, bad in zip(polite.frameworks, rude.frameworks, strict=True):
        assert bad.metrics[BIAS].score < good.metrics[BIAS].score
    assert "bullshit" in [hit.passage.text for hit in rude.evidence.lexicon_hits]
    assert not polite.evidence.lexicon_hits


async def test_the_right_sentence_is_found_in_200_pages(stub: JudgeServiceStub) -> None:
    filler = " ".join(
        f"Chapter {page} of the survey of district {page % 9} lists {page * 7} trees." for page in range(8_000)
    )
    middle = filler.index("Chapter 4000 ")
    source = f"{filler[:middle]}{SOURCE} {filler[middle:]}"
    assert len(source) > 400_000
    request = judge_request(source=source, summary=FAITHFUL, frameworks=[pb.JUDGE_FRAMEWORK_TWIN_LOCK])
    result = (await stub.Judge(request)).result
    assert "9,300 lead service lines" in result.evidence.claims[0].support.text
    assert all(claim.support.text in SOURCE for claim in result.evidence.claims)


async def test_a_proposed_reference_ranks_a_faithful_summary_above_an_invented_one(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, connection = tmp_path / "gold.json", Connection(address)
    await propose_gold(ARTICLES / "article.txt", gold, connection, timeout_s=60)
    document = json.loads(gold.read_text())
    reference = GoldStandardSummary(**document["datum"]["summary"])
    assert "The gate protects 1,260 houses and shops." in reference.key_facts
    assert {"Marrow Sound"} <= set(reference.entity_list)
    capsys.readouterr()
    gold.write_text(json.dumps({**document, "options": {"nli_mode": "NLI_MODE_PRUNED", "pruned_top_k": 2}}))  # faster
    summaries = [ARTICLES / "faithful.txt", ARTICLES / "hallucinated.txt"]
    await evaluate_document(gold, summaries, connection, RunOptions(as_json=True))
    results = json.loads(capsys.readouterr().out)["results"]
    faithful, invented = (result["response"] for result in results)
    assert faithful["loss"] < invented["loss"]
    assert faithful["facts"]["recall"] > invented["facts"]["recall"]
