"""Fills queues and waits until they are empty. Every look is a round trip, so nothing spins."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
from grpc import StatusCode
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.app import App
from tests.integration.support.metrics_page import scrape


def small_queue(max_queue_items: int) -> dict[str, Any]:
    """Makes the section `inference` of a server that admits so many items to each model."""
    return {"runtime": {"warmup_s": 0.05, "workers": 1}, "queue": {"max_queue_items": max_queue_items}}


@asynccontextmanager
async def full_queue(app: App, channel: grpc.aio.Channel, item_count: int) -> AsyncIterator[None]:
    """Holds the embedder's queue full; the gate must be closed before and opened inside."""
    texts = [f"w{number % 200} w{number // 200} w{number}" for number in range(item_count)]
    call = asyncio.ensure_future(InferenceServiceStub(channel).Embed(EmbedRequest(texts=texts)).code())
    while await pending_items(app, "embedding") < item_count:
        pass
    yield
    assert await call is StatusCode.OK


async def no_pending_items(app: App) -> None:
    """Waits until the models have nothing left to do."""
    while await pending_items(app, "nli") or await pending_items(app, "embedding"):
        pass


async def pending_items(app: App, model: str) -> int:
    """Returns how many items of a model are admitted and not answered."""
    return int((await scrape(app))[f"precis_pending_items,{model}"])
