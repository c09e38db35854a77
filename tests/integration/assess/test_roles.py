"""A language model for each role: whom a server asks for what, over HTTP."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from precis.v1 import judge_pb2, summarize_pb2
from precis.v1 import synthesis_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from server.errors import StartupError
from tests.integration.assess.pictures import png
from tests.integration.conftest import Connect, Start
from tests.integration.judge.judge_requests import SOURCE, SUMMARY
from tests.integration.summarize.summaries import PASS, chunks, follow
from tests.integration.support.shared_server import QUICK
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

ROLES = ("writer", "critic", "judge", "planner", "executor", "synthesizer")
ANSWER = Reply(
    "You must select one|Answer the question in",
    json.dumps(
        {
            "final_answer": "B",
            "quality_reasoning": "It is sharp.",
            "used_evidence": [],
            "need_replan": False,
            "replan_reason": None,
        }
    ),
)
SYNTHESIZE = pb.SynthesizeRequest(question="Rate it.", mode=pb.SYNTHESIS_MODE_SCORING)
Asked = dict[str, ScriptedEndpoint]


@pytest.fixture
async def endpoints() -> AsyncIterator[Asked]:
    """One for each role, and one for all, which knows no model of the roles."""
    async with AsyncExitStack() as stack:
        made = {name: Script(models=(name,), replies=(ANSWER, PASS)) for name in (*ROLES, "all")}
        yield {name: await stack.enter_async_context(ScriptedEndpoint(script)) for name, script in made.items()}


def settings(endpoints: Asked) -> dict[str, object]:
    roles = {name: {"base_url": endpoints[name].base_url, "model": name} for name in ROLES}
    return {"base_url": endpoints["all"].base_url, "model": "all", "roles": roles, **QUICK}


def asked(endpoints: Asked) -> set[str]:
    """Names the models that were asked since the last look."""
    names = {name for name, endpoint in endpoints.items() if endpoint.log.requests.total()}
    for name in names:
        endpoints[name].log.clear()
    return names


async def test_each_rpc_asks_the_models_of_its_roles(connected: Connect, endpoints: Asked) -> None:
    async with connected(llm=settings(endpoints)) as (_, channel):
        stub = JudgeServiceStub(channel)
        events = [one async for one in stub.Assess(pb.AssessRequest(question="Rate it.", images=[png()]))]
        assert asked(endpoints) == {"planner", "executor", "synthesizer"}
        judged = await stub.Judge(judge_pb2.JudgeRequest(source=SOURCE, summary=SUMMARY))
        assert asked(endpoints) == {"judge"}
        await stub.Synthesize(SYNTHESIZE)
        assert asked(endpoints) == {"synthesizer"}
        request = summarize_pb2.SummarizeRequest(document=chunks(8))
        summary = (await follow(SummarizeServiceStub(channel).Summarize(request))).summary
        assert endpoints["critic"].log.requests.total() == 1
        assert asked(endpoints) == {"writer", "critic"}
    assert events[0].plan.author.startswith("planner@")
    outcome = events[-1].assessment
    assert outcome.synthesis.author.startswith("synthesizer@")
    names = [name.partition("@")[0] for name in outcome.language_model.identity.split(", ")]
    assert names == ["planner", "executor", "synthesizer"]
    assert outcome.synthesis.language_model.identity.startswith("synthesizer@")
    assert judged.result.language_model.startswith("judge@")
    assert summary.writer.startswith("writer@")
    assert ", critic critic@" in summary.writer


async def test_a_role_of_which_nothing_is_set_asks_the_one_for_all(connected: Connect, endpoints: Asked) -> None:
    llm = {"base_url": endpoints["all"].base_url, "model": "all", **QUICK}
    roles = {"planner": {"base_url": endpoints["planner"].base_url, "model": "planner"}}
    async with connected(llm={**llm, "roles": roles}) as (_, channel):
        stub = JudgeServiceStub(channel)
        request = pb.AssessRequest(question="Rate it.", images=[png()], stage=pb.ASSESS_STAGE_PLAN)
        [plan, outcome] = [one async for one in stub.Assess(request)]
        assert asked(endpoints) == {"planner"}
        assert (plan.plan, outcome.assessment.HasField("evidence")) == (outcome.assessment.plan, False)
        await stub.Synthesize(SYNTHESIZE)
    assert asked(endpoints) == {"all"}


async def test_a_key_of_a_role_that_cannot_be_read_names_the_role(start: Start, endpoints: Asked) -> None:
    roles = {"critic": {"api_key_file": "/nowhere/key"}}
    llm = {"base_url": endpoints["all"].base_url, "model": "all", "roles": roles}
    with pytest.raises(StartupError, match=r"^llm\.roles\.critic: "):
        async with start(llm=llm):
            pass
