"""Chooses who writes summaries: the language model of the settings, else the embedded extractive writer."""

from concurrent.futures import Executor

from precis.v1 import summarize_pb2 as pb

from inference.call import Call, Priority
from pipeline.llm.config import LlmConfig, LlmRole
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from server.backends import Backends, ChosenWriter
from server.rpc.models import CallScope, EngineModels
from server.settings import Settings


def choose_writer(settings: Settings, backends: Backends, *, cpu: Executor) -> ChosenWriter | None:
    """Returns the writer that the settings ask for; None when they leave none. It chooses sentences on `cpu`."""
    if settings.llm is not None and backends.chats is not None:
        config = fit_concurrency(settings.llm_writer, settings.llm)
        writer = LlmWriter(backends.chats[LlmRole.WRITER], config, critic=backends.chats[LlmRole.CRITIC])
        return ChosenWriter(writer, pb.WRITER_KIND_LANGUAGE_MODEL)
    if backends.scoring.missing:
        return None
    return ChosenWriter(extractive_writer(settings, backends.scoring, cpu), pb.WRITER_KIND_EXTRACTIVE)


def fit_concurrency(writer: LlmWriterConfig, llm: LlmConfig) -> LlmWriterConfig:
    """Takes the endpoint's limit of calls in flight unless the writer's own is set."""
    if "concurrency" in writer.model_fields_set:
        return writer
    return writer.model_copy(update={"concurrency": llm.rates.max_concurrency})


def extractive_writer(settings: Settings, scoring: EngineModels, cpu: Executor) -> ExtractiveWriter:
    """Builds the writer over the engine's models. It works in bulk and waits for room: a summary takes minutes."""
    call = Call(deadline_s=None, priority=Priority.BULK)
    scope = CallScope(call, settings.summarize_service.max_queue_wait_s, name="summarize")
    return ExtractiveWriter(settings.extractive, scoring.bound(scope), executor=cpu)
