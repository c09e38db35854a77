"""Judgements with a scripted language model: what it may change, and what it cannot."""

import asyncio
import json

import pytest
from precis.v1 import judge_pb2 as pb
from precis.v1 import summarize_pb2
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from tests.golden.servers import judge_replies
from tests.integration.conftest import Serve
from tests.integration.judge.judge_requests import FRAMEWORKS, METRICS, judge_request
from tests.integration.summarize.summaries import PASS, chunks, follow
from tests.integration.support.metrics_page import scrape
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

NO_MODEL = pb.JudgeOptions(use_language_model=False)
SETTLED = {pb.JUDGE_METRIC_STATUS_SCORED, pb.JUDGE_METRIC_STATUS_ABSTAINED, pb.JUDGE_METRIC_STATUS_NO_CLAIMS}


def grade(level: object) -> str:
    return json.dumps({"level": level, "reason": "It is mostly right.", "quotes": []})


WRONG_LEVELS = Reply("at most five short stretches", grade("F")), Reply("You grade one quality", grade(11))
INVENTED = {"questions": [{"id": 0, "question": "What?", "answer": "8,2"}], "key_points": [98]}


@pytest.mark.parametrize(
    "script",
    [
        Script(replies=(Reply("", "I cannot help with that."),)),
        Script(replies=(*WRONG_LEVELS, *judge_replies())),
        Script(replies=(Reply("Statements of an article", json.dumps(INVENTED)), *judge_replies())),
        Script(faults=FaultPlan({Fault.HTML: 1.0})),
    ],
    ids=["refusal", "levels that there are not", "invented answers", "html"],
)
async def test_whatever_the_model_does_every_metric_has_a_status(serve: Serve, script: Script) -> None:
    async with serve(script) as served:
        result = (await served.stub.Judge(judge_request())).result
        without = (await served.stub.Judge(judge_request(options=NO_MODEL))).result
    assert result.degraded
    assert result.notes
    assert [framework.framework for framework in result.frameworks] == FRAMEWORKS
    for framework in result.frameworks:
        assert [metric.name for metric in framework.metrics] == METRICS
        assert {metric.status for metric in framework.metrics} <= SETTLED
    assert result.frameworks[0] == without.frameworks[0]
    assert not any("9,300" in note or "million" in note for note in result.notes)  # no text of either side


async def test_a_judgement_tells_what_the_model_cost_it(serve: Serve) -> None:
    async with serve(Script(replies=judge_replies(), first_faults=(Fault.SERVER_ERROR,))) as served:
        result = (await served.stub.Judge(judge_request())).result
        requests = served.endpoint.log.requests.total()
        page = await scrape(served.app)
        kept = (await served.stub.Judge(judge_request())).result
        without = (await served.stub.Judge(judge_request(options=NO_MODEL))).result
    usage = result.language_model_usage
    assert (usage.identity, usage.calls, usage.retries) == (result.language_model, requests - 1, 1)
    assert usage.prompt_tokens == page["precis_llm_prompt_tokens_total"] > 0
    assert usage.completion_tokens == page["precis_llm_completion_tokens_total"] > 0
    assert kept.is_cached
    assert not kept.HasField("language_model_usage")
    assert not without.HasField("language_model_usage")


async def test_judgements_and_summaries_share_the_endpoints_limit(serve: Serve) -> None:
    async with serve(Script(replies=(*judge_replies(), PASS)), rates={"max_concurrency": 1}) as served:
        served.endpoint.gate.clear()
        request = summarize_pb2.SummarizeRequest(document=chunks(29))
        summary = asyncio.ensure_future(follow(SummarizeServiceStub(served.channel).Summarize(request)))
        await served.endpoint.log.until(lambda log: log.in_flight == 1)
        judgement = asyncio.ensure_future(served.stub.Judge(judge_request()))
        while (await scrape(served.app))["precis_llm_waiting"] == 0:  # the judge's call finds no place
            pass
        served.endpoint.gate.set()
        assert (await summary).summary.status == summarize_pb2.SUMMARY_STATUS_DONE
        assert not (await judgement).result.degraded
        assert served.endpoint.log.peak_in_flight == 1
