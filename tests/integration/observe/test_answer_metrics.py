"""What an operator sees of Synthesize and Assess on the metrics page, after real calls."""

from precis.v1 import synthesis_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from tests.integration.assess.pictures import png
from tests.integration.conftest import Connect, Serve
from tests.integration.support.metrics_page import scrape
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

SCORING = pb.SynthesizeRequest(question="Rate it.", mode=pb.SYNTHESIS_MODE_SCORING)


async def test_replanning_is_counted_with_its_reasons(connected: Connect) -> None:
    scope = pb.QualityScope(objects=pb.ScopeObjects(names=["zebra"]))
    request = pb.AssessRequest(question="Rate it.", images=[png()], scope=scope)
    async with connected() as (app, channel):
        before = await scrape(app)
        events = [one async for one in JudgeServiceStub(channel).Assess(request)]
        async for _ in JudgeServiceStub(channel).Assess(
            pb.AssessRequest(question="Rate it.", images=[png()], stage=pb.ASSESS_STAGE_EVIDENCE)
        ):
            pass
        page = await scrape(app)
    replans = events[-1].assessment.iteration_count
    assert replans == 1
    assert before["precis_replans_total,scope_not_covered"] == 0
    assert page["precis_replans_total,scope_not_covered"] == page["precis_replans_total,no_tool_scores"] == replans
    assert page["precis_replan_needs_total,assess,scope_not_covered"] == replans + 1
    assert (page["precis_assess_replans_sum"], page["precis_assess_replans_count"]) == (replans, 1)
    assert (page["precis_assessments_total,answer"], page["precis_assessments_total,evidence"]) == (1, 1)
    assert page["precis_answers_total,assess,deterministic,scoring"] == replans + 1


async def test_attempts_and_degraded_answers_are_counted(serve: Serve) -> None:
    async with serve(Script(replies=(Reply("", "I cannot help with that."),))) as served:
        answer = (await served.stub.Synthesize(SCORING)).synthesis
        page = await scrape(served.app)
        requests = served.endpoint.log.requests.total()
    assert answer.degraded
    assert page["precis_answer_attempts_total,synthesize"] == answer.attempt_count == requests == 3
    assert page["precis_answers_total,degraded,scoring,synthesize"] == 1
    assert page["precis_replan_needs_total,no_tool_scores,synthesize"] == 1
