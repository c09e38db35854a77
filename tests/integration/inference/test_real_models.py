"""The installed models, through gRPC: the numbers mean what their names say."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import numpy as np
import pytest
from precis.v1.inference_pb2 import EmbedRequest, EntailRequest, TextPair
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.support.shared_server import shared_server

MODELS = Path(__file__).resolve().parents[3] / "models"

pytestmark = pytest.mark.models


@pytest.fixture
async def stub(tmp_path: Path) -> AsyncIterator[InferenceServiceStub]:
    async with shared_server(MODELS, tmp_path) as app, grpc.aio.insecure_channel(app.address) as channel:
        yield InferenceServiceStub(channel)


async def test_sentences_that_say_the_same_are_closer(stub: InferenceServiceStub) -> None:
    texts = ["A man is playing the guitar.", "Somebody plays a guitar.", "The central bank raised its interest rate."]
    response = await stub.Embed(EmbedRequest(texts=texts))
    vectors = np.array([result.embedding.values for result in response.results])
    similarity = vectors @ vectors.T
    np.testing.assert_allclose(np.diag(similarity), 1, atol=1e-5)
    assert similarity[0, 1] > 0.7
    assert abs(similarity[0, 2]) < 0.2


@pytest.mark.parametrize(
    ("hypothesis", "relation"),
    [
        ("Profits grew.", "entailment"),
        ("Profits fell.", "contradiction"),
        ("The chief executive resigned.", "neutral"),
    ],
)
async def test_the_relation_of_a_pair_is_found(stub: InferenceServiceStub, hypothesis: str, relation: str) -> None:
    premise = "The company reported on Tuesday that its profits rose by 12 percent last year."
    response = await stub.Entail(EntailRequest(pairs=[TextPair(premise=premise, hypothesis=hypothesis)]))
    scores = response.results[0].scores
    found = {name: getattr(scores, name) for name in ("entailment", "neutral", "contradiction")}
    assert max(found, key=found.__getitem__) == relation
