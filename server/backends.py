"""What the services compute with: the engine's models, the language model of each role, and the writer of summaries.

Summaries are written by the language model of the settings, else by the embedded extractive writer.

Prometheus metrics of the language models' endpoints, read when scraped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from dataclasses import dataclass

from precis.v1 import summarize_pb2 as pb
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from inference.call import Call, Priority
from inference.engine import Engine
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.config import ALIKE, LlmConfig, LlmRole, ModelConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import LlmError
from pipeline.llm.metering import FallbackChatModel
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.writer import Writer
from server.errors import StartupError
from server.rpc.models import CallScope, EngineModels
from server.rpc.quota import ChargedChatModel
from server.rpc.record import token_allowance
from server.settings import Settings


@dataclass(frozen=True, slots=True)
class ChosenWriter:
    """Who writes, one for the whole process, and what the response calls it."""

    writer: Writer
    kind: pb.WriterKind.ValueType


@dataclass(frozen=True, slots=True)
class Backends:
    """What the services compute with.

    Attributes:
        chats: the language model of every role; None without an endpoint. Roles with the same settings share one, and
            roles with the same address and key share the endpoint's limits.
    """

    scoring: EngineModels
    chats: Mapping[LlmRole, ChatModel] | None


async def open_backends(
    stack: AsyncExitStack, engine: Engine, llm: LlmConfig | None, *, registry: CollectorRegistry
) -> Backends:
    """Opens the endpoints, if the settings name any. The engine is entered already.

    Raises:
        StartupError: an endpoint's key or tokenizer cannot be read.
    """
    scoring = EngineModels(engine)
    if llm is None:
        return Backends(scoring, None)
    endpoints: dict[tuple[object, ...], Endpoint] = {}
    models: dict[ModelConfig, ChatModel] = {}

    async def open_model(config: ModelConfig) -> ChatModel:
        where = config.base_url, config.api_key, config.api_key_file
        if where not in endpoints:
            endpoints[where] = await stack.enter_async_context(Endpoint(config))
        model = OpenAiChatModel(endpoints[where], config)
        await model.learn_context()
        return model if config.fallback is None else FallbackChatModel(model, await open_model(config.fallback))

    chats: dict[LlmRole, ChatModel] = {}
    for role in LlmRole:
        config = llm.of_role(role)
        try:
            if config not in models:
                models[config] = ChargedChatModel(await open_model(config), token_allowance)
        except LlmError as error:
            is_shared = llm.roles.get(role, ALIKE) == ALIKE
            place = "llm" if is_shared else f"llm.roles.{role.value}"
            raise StartupError(f"{place}: {error}") from error
        chats[role] = models[config]
    registry.register(EndpointCollector(tuple(endpoints.values())))
    return Backends(scoring, chats)


COUNTERS = {
    "attempts": "Requests sent to the language models' endpoints.",
    "retries": "Those of them that were sent again after a failure.",
    "answers": "Requests that brought a completion.",
    "prompt_tokens": "Tokens read, as the endpoint counted them.",
    "completion_tokens": "Tokens written, likewise.",
    "cost": "What the answers cost, at the prices of the settings.",
}
GAUGES = {
    "in_flight": "Requests that hold one of the places in flight.",
    "waiting": "Requests that wait for one.",
    "concurrency_limit": "Places in flight; fewer after the endpoint said that it is busy.",
}


class EndpointCollector(Collector):
    """Reads the endpoints' own totals at every scrape, so that calls pay nothing for them, and adds them up."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = endpoints

    def collect(self) -> Iterator[Metric]:
        """Yields all counters and gauges."""
        for field, text in COUNTERS.items():
            total = sum(getattr(endpoint.usage, field) for endpoint in self._endpoints)
            yield CounterMetricFamily(f"precis_llm_{field}", text, value=total)
        failures = CounterMetricFamily("precis_llm_failures", "Requests that brought no completion.", labels=["error"])
        for name, count in sum((endpoint.usage.failures for endpoint in self._endpoints), Counter()).items():
            failures.add_metric([name], count)
        yield failures
        for field, text in GAUGES.items():
            total = sum(getattr(endpoint.limiter, field) for endpoint in self._endpoints)
            yield GaugeMetricFamily(f"precis_llm_{field}", text, value=total)


def choose_writer(settings: Settings, backends: Backends, *, cpu: Executor) -> ChosenWriter | None:
    """Returns the writer that the settings ask for; None when they leave none. It chooses sentences on `cpu`."""
    support = settings.judge.evidence
    call = Call(deadline_s=None, priority=Priority.BULK)  # waiting for room, for a summary takes minutes
    scope = CallScope(call, settings.services.max_queue_wait_s, name="summarize")
    models = None if backends.scoring.missing else backends.scoring.bound(scope)
    extractive = ExtractiveWriter(settings.extractive, models, executor=cpu) if models else None
    if settings.llm is not None and backends.chats is not None:
        chat, critic = backends.chats[LlmRole.WRITER], backends.chats[LlmRole.CRITIC]
        prices, concurrency = settings.llm.of_role(LlmRole.WRITER).prices, settings.llm.rates.max_concurrency
        writer = LlmWriter(chat, settings.llm_writer, critic=critic, prices=prices, concurrency=concurrency)
        entailment = models.entailment if models else None
        gate = TrustGate(settings.summary_trust, entailment, extractive, support=support, executor=cpu)
        return ChosenWriter(behind_gate(writer, gate), pb.WRITER_KIND_LANGUAGE_MODEL)
    if extractive is None:
        return None
    # It answers the same question in the same way, and its sentences are the document's: nothing for a model to read.
    rules = settings.summary_trust.model_copy(update={"claims": False, "asks_again": False, "rewrites": False})
    gate = TrustGate(rules, support=support, executor=cpu)
    return ChosenWriter(behind_gate(extractive, gate), pb.WRITER_KIND_EXTRACTIVE)


def behind_gate(writer: Writer, gate: TrustGate) -> Writer:
    """Puts a writer behind a gate, unless the settings open it."""
    return GatedWriter(writer, gate) if gate.config.exact else writer
