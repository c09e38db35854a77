"""A language model reads claims again: what it may change, and that only the one that was measured is asked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from pipeline.judge.second_reader import SecondReader
from tests.golden.servers import judge_replies
from tests.integration.judge.judge_requests import SOURCE, judge_request
from tests.integration.support.shared_server import QUICK, shared_server
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

QUOTE = " ".join(SOURCE.split()[:6])
SAYS_YES = Reply("Claims with ids", json.dumps({"readings": [{"id": 0, "supported": True, "quote": QUOTE}]}))
ASKED = pb.JudgeOptions(second_reading=True)


@asynccontextmanager
async def judging(
    models: Path,
    folder: Path,
    endpoint: ScriptedEndpoint,
    **sections: Any,  # noqa: ANN401
) -> AsyncIterator[JudgeServiceStub]:
    llm = {"base_url": endpoint.base_url, "model": "scripted", **QUICK}
    async with (
        shared_server(models, folder, llm=llm, **sections) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        yield JudgeServiceStub(channel)


@pytest.fixture
async def endpoint() -> AsyncIterator[ScriptedEndpoint]:
    async with ScriptedEndpoint(Script(replies=(SAYS_YES, *judge_replies()))) as started:
        yield started


def reader_file(folder: Path, reader: str) -> Path:
    file = SecondReader(reader=reader, low=0, high=1, sensitivity=0.9, specificity=0.8, measured={})
    path = folder / "reader.json"
    path.write_text(file.model_dump_json(), encoding="utf-8")
    return path


async def test_all_claims_are_read_for_a_calibration_and_none_without_one(
    tiny_models: Path, tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    async with judging(tiny_models, tmp_path, endpoint) as stub:
        plain = (await stub.Judge(judge_request())).result
        asked = (await stub.Judge(judge_request(options=ASKED))).result
    assert plain.second_read_claim_count == 0
    assert asked.second_read_claim_count == 1
    assert asked.applied_options.second_reading
    assert asked.degraded  # of the other claims it said nothing
    read = asked.evidence.claims[0].second_reading
    assert (read.is_supported, read.quote) == (True, QUOTE)
    assert asked.second_agreed_claim_count == int(read.is_agreed)
    before = [claim.probability for claim in plain.evidence.claims]
    assert [claim.probability for claim in asked.evidence.claims] == before
    assert read.first_probability == before[0]


@pytest.mark.parametrize("is_measured", [True, False])
async def test_the_measured_model_moves_probability_and_label_and_no_other_is_asked(
    tiny_models: Path, tmp_path: Path, endpoint: ScriptedEndpoint, *, is_measured: bool
) -> None:
    async with judging(tiny_models, tmp_path / "one", endpoint) as stub:
        plain = (await stub.Judge(judge_request())).result
    path = reader_file(tmp_path, plain.language_model if is_measured else "another model")
    async with judging(tiny_models, tmp_path / "two", endpoint, judge={"second_reader": path}) as stub:
        judged = (await stub.Judge(judge_request())).result
        off = (await stub.Judge(judge_request(options=pb.JudgeOptions(second_reading=False)))).result
    first, once = judged.evidence.claims[0], plain.evidence.claims[0].probability
    odds = once / (1 - once) * (0.9 / 0.2 if is_measured else 1)
    assert first.probability == pytest.approx(odds / (1 + odds))
    assert first.HasField("second_reading") == is_measured
    assert any("run precis calibrate --second-reader again" in note for note in judged.notes) != is_measured
    assert off.evidence.claims[0].probability == once
