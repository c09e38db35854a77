"""Judgements with the installed models, through gRPC: the scores mean what their names say."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from precis.v1 import judge_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub
from precis.v1.inference_pb2 import EntailRequest, TextPair
from precis.v1.inference_pb2_grpc import InferenceServiceStub
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from pipeline.evaluate.datum import GoldStandardSummary
from scripts.benchmarks.evaluate.loss_order import Damage, golden_texts, order_by_damage, order_requests
from server.app import App
from server.cli.bulk import run_items
from server.cli.evaluate.evaluations import EvaluateTally, read_candidates, to_work
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


async def test_the_right_sentence_is_found_in_200_pages(address: str) -> None:
    filler = " ".join(
        f"Chapter {page} of the survey of district {page % 9} lists {page * 7} trees." for page in range(8_000)
    )
    middle = filler.index("Chapter 4000 ")
    source = f"{filler[:middle]}{SOURCE} {filler[middle:]}"
    assert len(source) > 400_000
    request = judge_request(source=source, summary=FAITHFUL, frameworks=[pb.JUDGE_FRAMEWORK_TWIN_LOCK])
    async with grpc.aio.insecure_channel(address) as channel:
        result = (await JudgeServiceStub(channel).Judge(request)).result
    assert "9,300 lead service lines" in result.evidence.claims[0].support.text
    assert all(claim.support.text in SOURCE for claim in result.evidence.claims)


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        (SOURCE, FAITHFUL),
        (SOURCE.upper(), FAITHFUL),
        (
            "The tank holds 20 litres. It opens at 15:00.",
            "The tank holds 0.02 m³. It opens at 3 pm! It holds 20 gallons.",
        ),
        (
            "Ann: Is it closed?\nBen: Yes, since May.\nAnn: Why?\nBen: A pipe burst.",
            "Ben says it has closed since May.",
        ),
    ],
)
async def test_the_pair_of_a_claim_gives_its_entailment_again(address: str, source: str, summary: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        result = (await JudgeServiceStub(channel).Judge(judge_request(source=source, summary=summary))).result
        claims = result.evidence.claims
        pairs = [TextPair(premise=claim.premise_read, hypothesis=claim.claim_read) for claim in claims]
        again = await InferenceServiceStub(channel).Entail(EntailRequest(pairs=pairs))
    assert [one.entailment for one in claims] == pytest.approx(
        [one.scores.entailment for one in again.results], abs=1e-6
    )


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
    summaries = [ARTICLES / "faithful.txt", ARTICLES / "hallucinated.txt"]
    items = read_candidates(gold, summaries)
    await run_items(to_work(is_bulk=False), items, connection, RunOptions(as_json=True), EvaluateTally())
    results = json.loads(capsys.readouterr().out)["results"]
    faithful, invented = (result["response"] for result in results)
    assert faithful["loss"] < invented["loss"]
    assert faithful["facts"]["recall"] > invented["facts"]["recall"]


async def test_the_loss_prefers_a_faithful_summary_to_its_damaged_copies(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        evaluate = EvaluateServiceStub(channel).Evaluate
        losses = [(await evaluate(request)).loss for request in order_requests(golden_texts(), 1)]
    assert sum(order_by_damage(losses).values()) >= len(Damage) - 1  # two of the twelve copies may stand before
