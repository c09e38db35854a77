"""The peer to beat: a bare grpc.aio server that runs the same graph one input at a time, first in, first out.

It speaks the same contract on the same event loop with the same number of arithmetic threads. It has no batching, no
cache, no admission, no metrics. What it reaches is what a careful engineer gets in fifty lines.
"""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

import asyncio
import multiprocessing
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc
import numpy as np
import uvloop
from precis.v1 import inference_pb2 as pb
from precis.v1.inference_pb2_grpc import InferenceServiceServicer, add_InferenceServiceServicer_to_server

from scripts.benchmarks.shared.plans import ONE_BY_ONE
from scripts.benchmarks.shared.raw_model import Item, RawModel

_SPAWN = multiprocessing.get_context("spawn")  # gRPC does not survive a fork


class FifoServer:
    """The peer in a process of its own. Enter it to start the process, leave it to stop it."""

    def __init__(self, models: Path, provider: str) -> None:
        self._pipe, self._their_end = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_server_main, args=(models, provider, self._their_end), daemon=True)
        self.address = ""

    def __enter__(self) -> Self:
        """Starts the process and waits until it listens."""
        self._process.start()
        self._their_end.close()  # or we would wait for ever for the port of a dead process
        self.address = f"127.0.0.1:{self._pipe.recv()}"
        return self

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        if self._process.pid is None:
            raise RuntimeError("enter the server before asking for its pid")
        return self._process.pid

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the process."""
        self._process.terminate()
        self._process.join()


class _Servicer(InferenceServiceServicer):
    """Runs every input by itself, in order of arrival."""

    def __init__(self, embedder: RawModel, nli: RawModel) -> None:
        self._embedder = embedder
        self._nli = nli
        self._columns = list(nli.manifest.label_columns)
        self._pool = ThreadPoolExecutor(embedder.workers)

    async def Embed(
        self, request: pb.EmbedRequest, context: grpc.aio.ServicerContext[pb.EmbedRequest, Awaitable[pb.EmbedResponse]]
    ) -> pb.EmbedResponse:
        """Embeds the texts one by one."""
        rows = await asyncio.gather(*(self._run(self._embedder, text) for text in request.texts))
        return pb.EmbedResponse(results=[pb.EmbedResult(embedding=pb.Embedding(values=row)) for row in rows])

    async def Entail(
        self,
        request: pb.EntailRequest,
        context: grpc.aio.ServicerContext[pb.EntailRequest, Awaitable[pb.EntailResponse]],
    ) -> pb.EntailResponse:
        """Scores the pairs one by one."""
        pairs = [(pair.premise, pair.hypothesis) for pair in request.pairs]
        rows = await asyncio.gather(*(self._run(self._nli, pair) for pair in pairs))
        return pb.EntailResponse(results=[pb.EntailResult(scores=self._scores(row)) for row in rows])

    async def ListModels(
        self,
        request: pb.ListModelsRequest,
        context: grpc.aio.ServicerContext[pb.ListModelsRequest, Awaitable[pb.ListModelsResponse]],
    ) -> pb.ListModelsResponse:
        """Answers nothing: no benchmark asks."""
        return pb.ListModelsResponse()

    async def _run(self, model: RawModel, item: Item) -> np.ndarray:
        return await asyncio.get_running_loop().run_in_executor(self._pool, _forward, model, item)

    def _scores(self, logits: np.ndarray) -> pb.EntailmentScores:
        weights = np.exp(logits - logits.max())
        entailment, neutral, contradiction = (weights / weights.sum())[self._columns]
        return pb.EntailmentScores(entailment=entailment, neutral=neutral, contradiction=contradiction)


def _forward(model: RawModel, item: Item) -> np.ndarray:
    """Tokenizes and runs one input; returns its row of the output."""
    row: np.ndarray = model.run(model.feeds(model.encode([item]), ONE_BY_ONE)[0])[0]
    return row


def _server_main(models: Path, provider: str, pipe: Connection) -> None:
    uvloop.run(_serve(models, provider, pipe))


async def _serve(models: Path, provider: str, pipe: Connection) -> None:
    server = grpc.aio.server()
    servicer = _Servicer(RawModel.load(models / "embedding", provider), RawModel.load(models / "nli", provider))
    add_InferenceServiceServicer_to_server(servicer, server)
    pipe.send(server.add_insecure_port("127.0.0.1:0"))
    await server.start()
    await server.wait_for_termination()
