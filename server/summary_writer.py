"""Chooses who writes summaries: the language model of the settings, else the embedded extractive writer."""

from concurrent.futures import Executor
from contextlib import AsyncExitStack
from dataclasses import dataclass

from inference.call import Call, Priority
from inference.engine import Engine
from pipeline.extractive.writer import ExtractiveWriter
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import LlmError
from pipeline.llm.openai_chat_model import OpenAiChatModel
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.writer import Writer
from protos.precis.v1 import summarize_pb2 as pb
from server.bound_models import BoundEmbedder, BoundEntailment, Terms, TokenOffsets
from server.errors import StartupError
from server.settings import Settings

EXTRACTIVE_ROLES = ("embedding", "nli")


@dataclass(frozen=True, slots=True)
class ChosenWriter:
    """Who writes.

    Attributes:
        writer: one for the whole process.
        kind: what the response calls it.
    """

    writer: Writer
    kind: pb.WriterKind.ValueType


async def open_writer(
    stack: AsyncExitStack, settings: Settings, engine: Engine, *, cpu: Executor
) -> ChosenWriter | None:
    """Opens the writer that the settings ask for; None when they leave none.

    Args:
        stack: closes the endpoint's connections.
        settings: of the process.
        engine: of the extractive writer's models.
        cpu: threads for choosing sentences; owned by the app.

    Raises:
        StartupError: the endpoint's key or tokenizer cannot be read.
    """
    if settings.llm is not None:
        try:
            endpoint = await stack.enter_async_context(Endpoint(settings.llm))
            chat = OpenAiChatModel(endpoint)
        except LlmError as error:
            raise StartupError(f"llm: {error}") from error
        writer = LlmWriter(chat, fit_concurrency(settings.llm_writer, settings.llm))
        return ChosenWriter(writer, pb.WRITER_KIND_LANGUAGE_MODEL)
    if any(role not in engine.models for role in EXTRACTIVE_ROLES):
        return None
    return ChosenWriter(extractive_writer(settings, engine, cpu), pb.WRITER_KIND_EXTRACTIVE)


def fit_concurrency(writer: LlmWriterConfig, llm: LlmConfig) -> LlmWriterConfig:
    """Takes the endpoint's limit of calls in flight unless the writer's own is set."""
    if "concurrency" in writer.model_fields_set:
        return writer
    return writer.model_copy(update={"concurrency": llm.rates.max_concurrency})


def extractive_writer(settings: Settings, engine: Engine, cpu: Executor) -> ExtractiveWriter:
    """Builds the writer over the engine's models. It works in bulk and waits for room: a summary takes minutes."""
    terms = Terms(Call(deadline_s=None, priority=Priority.BULK), settings.summarize_service.max_queue_wait_s)
    return ExtractiveWriter(
        settings.extractive,
        embedder=BoundEmbedder(engine.embedder, terms),
        entailment=BoundEntailment(engine.nli, terms),
        tokenizer=TokenOffsets(engine.embedder.model.directory),
        executor=cpu,
    )
