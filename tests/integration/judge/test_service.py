"""Judge and JudgeStream: a real server with tiny models, through the real stub."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from precis.v1 import fusion_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from pipeline.reading.passage import LEFT_OUT
from server.app import App
from tests.integration.judge.judge_requests import (
    SOURCE,
    SUMMARY,
    judge_request,
)
from tests.integration.support.shared_server import shared_server
from tests.integration.support.spans import spans_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tiny_models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """A server without a cache of judgements and of model results, so that every answer is computed."""
    directory = tmp_path_factory.mktemp("summaries")
    async with shared_server(tiny_models, directory, judge={"cache": {"max_judgements": 0}}) as app:
        yield app


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stub(app: App) -> AsyncIterator[JudgeServiceStub]:
    async with grpc.aio.insecure_channel(app.address) as channel:
        yield JudgeServiceStub(channel)


async def test_evidence_points_into_the_texts_that_were_sent(stub: JudgeServiceStub) -> None:
    texts = {"source": f"  {SOURCE}\r\n\r\nﬁnal 🚰 “quote”. ", "summary": f"\t{SUMMARY}"}
    result = (await stub.Judge(judge_request(source=texts["source"], summary=texts["summary"]))).result
    spans = spans_of(result)
    assert {span.text_id for span in spans} == {"source", "summary"}
    assert len(spans) > 20
    apart = [claim.premise for claim in result.evidence.claims if LEFT_OUT in claim.premise.text]
    assert all(texts[span.text_id][span.start : span.end] == span.text for span in spans if span not in apart)
    for span in apart:
        first, *_, last = span.text.split(LEFT_OUT)
        stretch = texts[span.text_id][span.start : span.end]
        assert stretch.startswith(first)
        assert stretch.endswith(last)


async def test_the_result_names_models_and_settings(stub: JudgeServiceStub) -> None:
    options = pb.JudgeOptions(
        relevance_mode=pb.RELEVANCE_MODE_JACCARD,
        fusion_form=fusion_pb2.FUSION_FORM_PAPER_RAW,
        eta=2.5,
        max_claims=2,
    )
    result = (await stub.Judge(judge_request(options=options))).result
    options.use_language_model = False  # there is no endpoint
    assert result.applied_options == options
    assert [model.name for model in result.models] == ["tiny", "tiny"]
    assert (result.language_model, result.evidence.question_author) == ("", "deterministic")
    assert not result.degraded
    assert len(result.request_hash) == 64
    parts = (result.timings.evidence, result.timings.scoring)
    assert sum(part.ToMicroseconds() for part in parts) <= result.timings.total.ToMicroseconds() + len(parts)
