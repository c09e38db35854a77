"""Chooses who writes summaries: the language model of the settings, else the embedded extractive writer."""

from concurrent.futures import Executor

from precis.v1 import summarize_pb2 as pb

from inference.call import Call, Priority
from pipeline.llm.config import LlmConfig, LlmRole
from pipeline.protocols import Models
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.writer import Writer
from server.backends import Backends, ChosenWriter
from server.rpc.models import CallScope, EngineModels
from server.settings import Settings


def choose_writer(settings: Settings, backends: Backends, *, cpu: Executor) -> ChosenWriter | None:
    """Returns the writer that the settings ask for; None when they leave none. It chooses sentences on `cpu`."""
    support = settings.judge.evidence
    models = None if backends.scoring.missing else bulk_models(settings, backends.scoring)
    extractive = ExtractiveWriter(settings.extractive, models, executor=cpu) if models else None
    if settings.llm is not None and backends.chats is not None:
        config = fit_concurrency(settings.llm_writer, settings.llm)
        chat, critic = backends.chats[LlmRole.WRITER], backends.chats[LlmRole.CRITIC]
        writer = LlmWriter(chat, config, critic=critic, prices=settings.llm.prices)
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


def fit_concurrency(writer: LlmWriterConfig, llm: LlmConfig) -> LlmWriterConfig:
    """Takes the endpoint's limit of calls in flight unless the writer's own is set."""
    if "concurrency" in writer.model_fields_set:
        return writer
    return writer.model_copy(update={"concurrency": llm.rates.max_concurrency})


def bulk_models(settings: Settings, scoring: EngineModels) -> Models:
    """Binds the engine's models to summaries: in bulk, and waiting for room, for a summary takes minutes."""
    call = Call(deadline_s=None, priority=Priority.BULK)
    return scoring.bound(CallScope(call, settings.services.max_queue_wait_s, name="summarize"))
