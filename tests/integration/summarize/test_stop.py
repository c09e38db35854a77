"""A server process that ends in the middle of a summary, politely or not: the next one finishes it."""

import signal
from pathlib import Path

import grpc
import pytest
from grpc import StatusCode
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from tests.integration.conftest import Start
from tests.integration.summarize.summaries import PASS, chunks, follow
from tests.integration.support.rich_errors import error_of
from tests.integration.support.server_process import gated_server
from tests.integration.support.shared_server import QUICK
from tests.integration.support.untyped_stubs import health_stub
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

DOCUMENT = pb.SummarizeRequest(document=chunks(29), options=pb.SummarizeOptions(wave_batches=1))
HELD_CALL = 2  # of the critic: the text before it is finished, the topics behind it are not


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
async def test_the_next_server_repeats_no_finished_call(
    start: Start, tiny_models: Path, tmp_path: Path, name: str
) -> None:
    async with ScriptedEndpoint(Script(replies=(PASS,), author=write)) as endpoint:
        endpoint.held_from = HELD_CALL
        storage: dict[str, str | Path] = {"SUMMARY_STORAGE__DIRECTORY": tmp_path, "LLM__MODEL": "scripted"}
        async with gated_server(tiny_models, **storage, LLM__BASE_URL=endpoint.base_url) as server:
            async with grpc.aio.insecure_channel(await server.line()) as channel:
                call = SummarizeServiceStub(channel).Summarize(DOCUMENT)
                summary_id = (await anext(aiter(call))).event.accepted.summary_id
                await endpoint.log.until(lambda log: log.requests.total() == HELD_CALL)
                health = aiter(health_stub(channel).Watch(HealthCheckRequest()))
                assert (await anext(health)).status == HealthCheckResponse.SERVING
                server.process.send_signal(signal.Signals[name])
                if name == "SIGTERM":  # the calls in flight may finish
                    assert (await anext(health)).status == HealthCheckResponse.NOT_SERVING
                    endpoint.gate.set()
                assert (await error_of(call)).code() is StatusCode.UNAVAILABLE
            assert await server.ended() == (0 if name == "SIGTERM" else -signal.SIGKILL)
        await endpoint.log.until(lambda log: log.in_flight == 0)
        endpoint.gate.set()
        answered = endpoint.log.answered.copy()
        assert (endpoint.log.left == 0) == (name == "SIGTERM")
        llm = {"base_url": endpoint.base_url, "model": "scripted", **QUICK}
        async with (
            start(llm=llm, summary_storage={"directory": tmp_path}) as app,
            grpc.aio.insecure_channel(app.address) as channel,
        ):
            request = pb.ResumeSummaryRequest(summary_id=summary_id)
            followed = await follow(SummarizeServiceStub(channel).ResumeSummary(request))
        assert followed.summary.status == pb.SUMMARY_STATUS_DONE
        assert answered.total() > 0
        assert set(endpoint.log.answered.values()) == {1}
        assert endpoint.log.answered.total() == followed.summary.calls_done - 1  # the map of what fits one prompt
