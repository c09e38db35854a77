"""What the services compute with: the engine's models, and the one language model of the settings."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from inference.engine import Engine
from pipeline.llm.chat_model import ChatModel
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import LlmError
from pipeline.llm.openai import OpenAiChatModel
from server.errors import StartupError
from server.llm_metrics import EndpointCollector
from server.scoring_models import ScoringModels


@dataclass(frozen=True, slots=True)
class Backends:
    """What the services compute with.

    Attributes:
        scoring: models of the engine.
        chat: one object for all services, so that they share the endpoint's limits; None without an endpoint.
    """

    scoring: ScoringModels
    chat: ChatModel | None


async def open_backends(
    stack: AsyncExitStack, engine: Engine, llm: LlmConfig | None, *, registry: CollectorRegistry
) -> Backends:
    """Opens the endpoint, if the settings name one.

    Args:
        stack: closes the endpoint's connections.
        engine: entered already.
        llm: the endpoint.
        registry: gets the endpoint's metrics.

    Raises:
        StartupError: the endpoint's key or tokenizer cannot be read.
    """
    scoring = ScoringModels(engine)
    if llm is None:
        return Backends(scoring, None)
    try:
        endpoint = await stack.enter_async_context(Endpoint(llm))
        chat = OpenAiChatModel(endpoint)
    except LlmError as error:
        raise StartupError(f"llm: {error}") from error
    registry.register(EndpointCollector(endpoint))
    return Backends(scoring, chat)
