"""The engine's models in the scope of one call: `pipeline.protocols.Models` over the inference package.

What a call's submissions share: its deadline and priority, as the inference package takes them, and their count.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from opentelemetry import trace
from precis.v1 import common_pb2

from inference.call import Call, Priority
from inference.engine import Engine
from inference.errors import DeadlineExpiredError, QueueFullError
from inference.front_doors import EmbeddingModel, ItemBatch, NliModel
from inference.models.directory import ModelDirectory
from pipeline.errors import InvalidInputError
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.openai import leave_time_before
from pipeline.protocols import CheckedPairs, Float32, ModelIdentities, ModelIdentity, Models, TokenMark
from pipeline.tracing import open_span, prefixed
from server.errors import ModelNotLoadedError
from server.rpc.admission import Context
from server.rpc.fields import EnumCodec
from server.rpc.record import current_call

_tracer = trace.get_tracer("precis.server")


@dataclass(slots=True)
class ModelUsage:
    """What the models did for one call."""

    queue_ms: float = 0.0  # wait for room in the queue and for a worker
    item_count: int = 0  # texts and pairs submitted
    truncated_pair_count: int = 0  # pairs of which the model could not read the whole


@dataclass(frozen=True, slots=True)
class CallScope:
    """What all submissions of one call have in common."""

    call: Call  # deadline and priority
    # how long a full queue is waited for. 0 for a unary call: it is refused, and its client waits. In a stream the
    # server waits, for there it is flow control that slows a client down, not refusal.
    max_queue_wait_s: float = 0.0
    usage: ModelUsage = field(default_factory=ModelUsage)  # where the submissions are counted
    name: str = "engine"  # of what is done, for spans

    async def submit(self, submission: Callable[[Call], Awaitable[ItemBatch]]) -> ItemBatch:
        """Submits until there is room, and gives a batch without failed items.

        Raises:
            QueueFullError: to wait any longer would take more time than there is.
            InferenceError: the submission's own, or that of its first failed item.
        """
        started_s = time.monotonic()
        batch = await self._admitted(submission, started_s + self.max_queue_wait_s)
        self.usage.queue_ms += batch.queue_s * 1e3
        self.usage.item_count += len(batch.token_counts)
        for error in batch.errors.values():
            raise error
        return batch

    async def _admitted(self, submission: Callable[[Call], Awaitable[ItemBatch]], give_up_s: float) -> ItemBatch:
        if self.call.deadline_s is not None:
            give_up_s = min(give_up_s, self.call.deadline_s)
        while True:
            try:
                return await submission(self.call)
            except QueueFullError as error:
                if time.monotonic() + error.retry_after_s > give_up_s:
                    raise
                self.usage.queue_ms += error.retry_after_s * 1e3
                await asyncio.sleep(error.retry_after_s)


SHARE = 64
"""Pairs that one call has in the queue at most: about a second of two cores, however many claims a summary has."""

LATER_SHARE_WAIT_S = 60.0
"""How long a call that has been admitted waits for room for its next share, within its deadline."""


Pairs = Sequence[tuple[str, str]]
"""Premises and hypotheses."""


class BoundEntailment:
    """The NLI model in one call's scope: pipeline.protocols.ClaimChecker."""

    def __init__(self, model: NliModel, scope: CallScope, identity: ModelIdentity) -> None:
        self.identity = identity
        self._model = model
        self._scope = scope

    async def entail(self, pairs: Pairs) -> Float32:
        """Scores all pairs, a share of them at a time: the queue is first in, first out, and others are behind it."""
        return np.concatenate([batch.values for batch in await self._in_shares("entail", self._model.entail, pairs)])

    async def check(self, pairs: Pairs) -> CheckedPairs:
        """Scores all pairs and the tokens of their hypotheses, in shares as `entail` does."""
        batches = await self._in_shares("check", self._model.check, pairs)
        marks = (tuple(TokenMark(*mark) for mark in pair) for batch in batches for pair in batch.marks)
        return CheckedPairs(np.concatenate([batch.values for batch in batches]), tuple(marks))

    async def _in_shares(
        self, verb: str, ask: Callable[[Pairs, Call], Awaitable[ItemBatch]], pairs: Pairs
    ) -> list[ItemBatch]:
        scope, batches = self._scope, list[ItemBatch]()
        with open_span(_tracer, f"{scope.name} {verb}", prefixed({"pair_count": len(pairs)})):
            for first in range(0, max(1, len(pairs)), SHARE):
                batches.append(await scope.submit(partial(ask, pairs[first : first + SHARE])))
                scope.usage.truncated_pair_count += sum(batches[-1].truncated)
                scope = replace(scope, max_queue_wait_s=max(scope.max_queue_wait_s, LATER_SHARE_WAIT_S))
        return batches


class BoundEmbedder:
    """The embedder in one call's scope: pipeline.protocols.Embedder."""

    def __init__(self, model: EmbeddingModel, scope: CallScope, identity: ModelIdentity) -> None:
        self.identity = identity
        self._model = model
        self._scope = scope

    async def embed(self, texts: Sequence[str]) -> Float32:
        """Embeds all texts in one submission."""
        with open_span(_tracer, f"{self._scope.name} embed", prefixed({"text_count": len(texts)})):
            return (await self._scope.submit(lambda call: self._model.embed(texts, call))).values


@dataclass(frozen=True, slots=True)
class NamedTokenizer:
    """The embedder's own: pipeline.protocols.Tokenizer. Safe to call from several threads."""

    name: str
    offsets: Callable[[str], Sequence[tuple[int, int]]]


def to_identity(directory: ModelDirectory) -> ModelIdentity:
    """Names the model of a directory."""
    manifest = directory.manifest
    return ModelIdentity(manifest.name, manifest.revision, directory.model_sha256, manifest.precision)


class EngineModels:
    """NLI model, embedder, and the embedder's tokenizer. One object serves all services.

    Attributes:
        missing: roles that the settings leave out.
    """

    def __init__(self, engine: Engine) -> None:
        """Takes them from an engine that is entered."""
        self.missing = tuple(role for role in ROLES if role not in engine.models)
        if not self.missing:
            self._nli, self._embedder = engine.nli, engine.embedder
            nli, embedder = self._nli.model.directory, self._embedder.model.directory
            self._tokenizer = NamedTokenizer(embedder.manifest.name, self._embedder.model.encoder.offsets)
            self._identities = ModelIdentities(to_identity(nli), to_identity(embedder), self._tokenizer.name)

    def bound(self, scope: CallScope, chat: ChatModel | None = None) -> Models:
        """Binds them to one call. Raises ModelNotLoadedError for the first that is missing."""
        if self.missing:
            raise ModelNotLoadedError(self.missing[0])
        identities = self._identities
        entailment = BoundEntailment(self._nli, scope, identities.entailment)
        embedder = BoundEmbedder(self._embedder, scope, identities.embedder)
        return Models(entailment, embedder, self._tokenizer, identities, chat)


ROLES = ("embedding", "nli")

PRIORITIES = EnumCodec(Priority, common_pb2.Priority.DESCRIPTOR)


def to_call(context: Context, priority: int, *, default: Priority = Priority.INTERACTIVE) -> Call:
    """Binds deadline and priority of an RPC; `default` is what PRIORITY_UNSPECIFIED means in it.

    Raises:
        InvalidInputError: the number is no Priority; protobuf lets it through.
        DeadlineExpiredError: there is no time left, so nothing is computed.
    """
    if priority not in common_pb2.Priority.values():
        expected = ", ".join(f"{name} ({number})" for name, number in common_pb2.Priority.items())
        raise InvalidInputError("priority", f"one of {expected}", str(priority))
    record, chosen = current_call(), PRIORITIES.members.get(priority, default)
    record.is_background = chosen is Priority.BULK
    return Call(deadline_s_of(context), chosen, record.caller.share, record.caller.tenant)


@contextmanager
def call_terms(priority: int, context: Context, name: str) -> Iterator[CallScope]:
    """Gives the terms of one call, and notes in its record what the models did for it. `name` is for spans."""
    record = current_call()
    terms = CallScope(to_call(context, priority), name=name)
    leave_time_before(terms.call.deadline_s)
    try:
        yield terms
    finally:
        record.queue_ms, record.item_count = terms.usage.queue_ms, terms.usage.item_count


def deadline_s_of(context: Context) -> float | None:
    """Returns the RPC's deadline on the clock of `time.monotonic`, if any. Raises DeadlineExpiredError when over."""
    remaining_s: float | None = context.time_remaining()
    if remaining_s is None:
        return None
    if remaining_s <= 0:
        raise DeadlineExpiredError
    return time.monotonic() + remaining_s
