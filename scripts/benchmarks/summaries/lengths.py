"""How often a summary is as long as asked for: eight kinds of text at three lengths, through the whole graph."""

from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.llm.token_count import estimate_tokens
from pipeline.protocols import Models
from pipeline.reading.words import count_words
from pipeline.summarize.config import StorageConfig, SummarizeConfig, SummarizeLimits
from pipeline.summarize.document import SourceChunk, SummarizeOptions, make_document
from pipeline.summarize.events import Finished
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.packing import split_by_tokens
from pipeline.summarize.summarizer import Summarizer, open_summarizer
from pipeline.summarize.writer import Writer
from scripts.benchmarks.shared.corpus import ROOT

KINDS = {
    "manual": "scripts/data/manual/pump-skid.md",
    "readme": "README.md",
    "news": "scripts/data/judge/article.txt",
    "dialogue": "scripts/data/kinds/dialogue.txt",
    "minutes": "scripts/data/kinds/minutes.md",
    "tables": "scripts/data/kinds/tables.md",
    "code": "scripts/data/kinds/code.md",
    "legal": "LICENSE",
}
WORDS, TOKENS, SHARE = 80, 200, 0.35
TOLERANCE = 0.1
_CHUNK_TOKENS = 250


async def measure_lengths(models: Models) -> float:
    """Returns the share of summaries that are within a tenth of what was asked for, each counted here once more."""
    writer = ExtractiveWriter(ExtractiveConfig(), models)
    missed: list[float] = []
    with TemporaryDirectory() as folder:
        async with open_summarizer(SummarizeConfig(), StorageConfig(directory=Path(folder))) as summarizer:
            for name, file in KINDS.items():
                text = (ROOT / file).read_text(encoding="utf-8")
                all_tokens = sum(map(writer.count_tokens, _chunks(text)))
                asked = {
                    WORDS: SummarizeOptions(target_words=WORDS),
                    TOKENS: SummarizeOptions(target_tokens=TOKENS),
                    SHARE * all_tokens: SummarizeOptions(target_share=SHARE),
                }
                for amount, options in asked.items():
                    summary = await _summarize(summarizer, writer, name, text, options)
                    size = count_words(summary) if options.target_words else writer.count_tokens(summary)
                    missed.append(abs(size - amount) / amount)
    return sum(each <= TOLERANCE for each in missed) / len(missed)


def _chunks(text: str) -> list[str]:
    return [part for part in split_by_tokens(text, _CHUNK_TOKENS, estimate_tokens) if part.strip()]


async def _summarize(summarizer: Summarizer, writer: Writer, name: str, text: str, options: SummarizeOptions) -> str:
    chunks = (SourceChunk(index, 0, part) for index, part in enumerate(_chunks(text)))
    document = make_document(name, name, chunks, limits=SummarizeLimits())
    async for event in summarizer.stream(document, writer=writer, options=options):
        if isinstance(event, Finished):
            return event.result.text
    raise AssertionError("the last event is the result")
