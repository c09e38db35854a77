"""A disk that is full in the middle of a summary: a clear error, a server that lives, and nothing paid for twice."""

import resource
from pathlib import Path

import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from tests.integration.summarize.summaries import PASS, chunks, resume
from tests.integration.support.server_process import ServerProcess
from tests.integration.support.traced_server import precis_serve
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

REQUEST = pb.SummarizeRequest(document=chunks(140), options=pb.SummarizeOptions(wave_batches=1))
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")


def allow(server: ServerProcess, byte_count: int) -> None:
    """Lets no file of the server grow beyond a size, as a disk without space does; -1 lifts that."""
    limit = (byte_count, resource.RLIM_INFINITY) if byte_count >= 0 else UNLIMITED
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limit)


def largest_file(folder: Path) -> int:
    """Returns the bytes of the largest file."""
    return max(path.stat().st_size for path in folder.glob("*sqlite*") if path.is_file())


async def test_a_full_disk_ends_the_summary_and_not_the_server(tiny_models: Path, tmp_path: Path) -> None:
    async with (
        ScriptedEndpoint(Script(replies=(PASS,), answer_chars=2_000)) as endpoint,
        precis_serve(tiny_models, endpoint, SUMMARY_STORAGE__DIRECTORY=tmp_path) as (server, channel),
    ):
        stub = SummarizeServiceStub(channel)
        events = aiter(stub.Summarize(REQUEST))
        summary_id = (await anext(events)).event.accepted.summary_id
        while not (await anext(events)).event.HasField("batch"):
            pass
        allow(server, largest_file(tmp_path))
        with pytest.raises(AioRpcError) as caught:
            async for _ in events:
                pass
        assert caught.value.code() is StatusCode.RESOURCE_EXHAUSTED
        assert "no space left" in str(caught.value.details())
        plan = await stub.PlanSummary(pb.PlanSummaryRequest(document=REQUEST.document))
        assert plan.plan.map_calls == 20  # it lives
        allow(server, -1)
        followed = await resume(stub, summary_id)
    assert followed.summary.status == pb.SUMMARY_STATUS_DONE
    # Only the answer that no longer found room is asked for again.
    repeated = [content for content, count in endpoint.log.answered.items() if count > 1]
    assert len(repeated) <= 1
    assert endpoint.log.answered.total() == followed.summary.calls_done + len(repeated)
    assert [line for line in server.errors if "Traceback" in line] == []
