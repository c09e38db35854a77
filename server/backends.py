"""What the services compute with: the engine's models, and the one language model of the settings.

Prometheus metrics of the language model's endpoint, read when scraped.
"""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

from precis.v1 import summarize_pb2 as pb
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from inference.engine import Engine
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import LlmError
from pipeline.llm.openai import OpenAiChatModel
from pipeline.summarize.writer import Writer
from server.errors import StartupError
from server.rpc.models import EngineModels


@dataclass(frozen=True, slots=True)
class ChosenWriter:
    """Who writes, one for the whole process, and what the response calls it."""

    writer: Writer
    kind: pb.WriterKind.ValueType


@dataclass(frozen=True, slots=True)
class Backends:
    """What the services compute with.

    Attributes:
        chat: one object for all services, so that they share the endpoint's limits; None without an endpoint.
    """

    scoring: EngineModels
    chat: ChatModel | None


async def open_backends(
    stack: AsyncExitStack, engine: Engine, llm: LlmConfig | None, *, registry: CollectorRegistry
) -> Backends:
    """Opens the endpoint, if the settings name one. The engine is entered already.

    Raises:
        StartupError: the endpoint's key or tokenizer cannot be read.
    """
    scoring = EngineModels(engine)
    if llm is None:
        return Backends(scoring, None)
    try:
        endpoint = await stack.enter_async_context(Endpoint(llm))
        chat = OpenAiChatModel(endpoint)
    except LlmError as error:
        raise StartupError(f"llm: {error}") from error
    registry.register(EndpointCollector(endpoint))
    return Backends(scoring, chat)


COUNTERS = {
    "attempts": "Requests sent to the language model's endpoint.",
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
    """Reads the endpoint's own totals at every scrape, so that calls pay nothing for them."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def collect(self) -> Iterator[Metric]:
        """Yields all counters and gauges."""
        usage = self._endpoint.usage
        for field, text in COUNTERS.items():
            yield CounterMetricFamily(f"precis_llm_{field}", text, value=getattr(usage, field))
        failures = CounterMetricFamily("precis_llm_failures", "Requests that brought no completion.", labels=["error"])
        for name, count in dict(usage.failures).items():
            failures.add_metric([name], count)
        yield failures
        for field, text in GAUGES.items():
            yield GaugeMetricFamily(f"precis_llm_{field}", text, value=getattr(self._endpoint.limiter, field))
