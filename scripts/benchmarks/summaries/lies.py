"""Does the gate notice an endpoint that lies, and leave an honest one alone?

The bundled manual has twelve kinds of lies and failures, each in one of five batches and told again when asked again.
The installed NLI model reads what is not verbatim.
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from inference.call import Call, Priority
from inference.config import InferenceConfig
from inference.engine import Engine
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.openai import OpenAiChatModel
from pipeline.protocols import Models
from pipeline.reading.words import fold
from pipeline.summarize.config import StorageConfig, SummarizeConfig, SummarizeLimits
from pipeline.summarize.document import Document, SourceChunk, SummarizeOptions, make_document
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from pipeline.summarize.llm_writer.writer import LlmWriter
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.steering.wishes import SummaryDetail
from pipeline.summarize.summarizer import open_summarizer
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.bench import CONTEXT_TOKENS, finished
from server.rpc.models import CallScope, EngineModels
from tests.scripted_endpoint.author import Lie, changed_sentences, lies_about, tell, write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.script import Script

_PARAGRAPHS_PER_CHUNK, _CHUNKS_PER_BATCH = 8, 3
_OPTIONS = SummarizeOptions(batch_size=_CHUNKS_PER_BATCH, wave=1, detail=SummaryDetail.FULL)
_MADE_FALSE = {Lie.INVENTED_VALUES, Lie.WRONG_UNITS, Lie.SWAPPED_NAMES, Lie.NEGATION}
_SHOWN_CHARS = 60
_MAY_REMAIN = {Lie.DEGENERATE, Lie.ECHO, Lie.TRUNCATION}  # what they say is true, said too often or too little
_WAIT_S = 60.0


async def measure_lies(models: Path, manual: str) -> dict[str, Figure]:
    """Returns how many kinds were noticed, how many false sentences were delivered, and the alarms at an honest one."""
    document = _document(manual)
    noticed = delivered = 0
    async with Engine(models, InferenceConfig()) as engine:
        bound = EngineModels(engine).bound(CallScope(Call(None, Priority.BULK), max_queue_wait_s=_WAIT_S))
        honest = await _summarize(document, bound, None)
        for lie in Lie:
            result = await _summarize(document, bound, lie)
            noticed += _is_noticed(result)
            delivered += sum(sentence in fold(result.text) for sentence in _false_sentences(document, lie))
    return {
        "lies_noticed": noticed,
        "lies_delivered": delivered,
        "false_alarms": int(_is_noticed(honest)) + len(honest.warnings),
    }


def _is_noticed(result: SummaryResult) -> bool:
    trust = result.trust
    return (
        trust is not None
        and (
            trust.removed_count
            + trust.dropped_count
            + trust.corrected_count
            + trust.asked_again_count
            + trust.rewritten_count
            + trust.flaw_count
        )
        > 0
    )


def _document(manual: str) -> Document:
    paragraphs = [paragraph for paragraph in manual.split("\n\n") if paragraph.strip()]
    starts = range(0, len(paragraphs), _PARAGRAPHS_PER_CHUNK)
    chunks = [
        SourceChunk(index, index + 1, "\n\n".join(paragraphs[start : start + _PARAGRAPHS_PER_CHUNK]))
        for index, start in enumerate(starts)
    ]
    return make_document("manual", "Manual", chunks, limits=SummarizeLimits())


async def _summarize(document: Document, models: Models, lie: Lie | None) -> SummaryResult:
    """Summarizes through a real HTTP endpoint that tells one kind of lie."""
    async with ScriptedEndpoint(Script(author=partial(write, lie=lie))) as scripted:
        config = LlmConfig(base_url=scripted.base_url, model="scripted", context_tokens=CONTEXT_TOKENS)
        with TemporaryDirectory(prefix="precis-bench-") as name:
            async with (
                open_summarizer(SummarizeConfig(), StorageConfig(directory=Path(name))) as summarizer,
                Endpoint(config) as endpoint,
            ):
                fallback = ExtractiveWriter(ExtractiveConfig(), models)
                gate = TrustGate(TrustConfig(), models.entailment, fallback)
                writer = GatedWriter(LlmWriter(OpenAiChatModel(endpoint), LlmWriterConfig()), gate)
                return await finished(summarizer.stream(document, writer=writer, options=_OPTIONS))


def _false_sentences(document: Document, lie: Lie) -> list[str]:
    """Returns what the endpoint says that is not so, folded."""
    if lie in _MAY_REMAIN:
        return []
    found: list[str] = []
    texts = [chunk.text for chunk in document.chunks]
    batches = [texts[first : first + _CHUNKS_PER_BATCH] for first in range(0, len(texts), _CHUNKS_PER_BATCH)]
    for batch in filter(lambda one: lies_about(one[0]), batches):
        honest = "\n\n".join(batch)
        if lie in _MADE_FALSE:
            found += changed_sentences(lie, honest)
        elif lie is Lie.INJECTED_ORDERS:
            found += ["rate this summary", "approved for every use"]
        else:
            found.append(tell(lie, honest, [])[:_SHOWN_CHARS])
    return [fold(sentence)[1:] for sentence in found]
