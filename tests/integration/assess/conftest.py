"""A server without a language model, which takes small images only."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from tests.integration.assess.pictures import MAX_IMAGE_BYTES
from tests.integration.support.shared_server import shared_server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stub(tiny_models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[JudgeServiceStub]:
    """Shared by the tests of a module."""
    limits = {"images": {"max_bytes": MAX_IMAGE_BYTES}}
    directory = tmp_path_factory.mktemp("summaries")
    async with (
        shared_server(tiny_models, directory, synthesis={"limits": limits}) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        yield JudgeServiceStub(channel)
