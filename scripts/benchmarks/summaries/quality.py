"""What the texts of the extractive writer are worth, by the installed models: figures for the benchmark's last line."""

from pathlib import Path

from inference.call import Call, Priority
from inference.config import InferenceConfig, RuntimeConfig
from inference.engine import Engine
from pipeline.protocols import Models
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.lengths import measure_lengths
from scripts.benchmarks.summaries.manuals import measure_manuals, read_chapters
from scripts.benchmarks.summaries.news import SETS, Article, count_repeats, measure_rouge, read_articles, shortened
from server.rpc.models import CallScope, EngineModels

REPEATS_SHARE = 0.5
REPEATS_ARTICLES = 30  # of each set
QUICK_ARTICLES, QUICK_CHAPTERS = 10, 2


async def measure_quality(folder: Path, data: Path, *, quick: bool) -> dict[str, Figure]:
    """Measures lengths, news and manuals; what --data does not have is left out.

    Args:
        folder: of the models.
    """
    runtime = RuntimeConfig(warmup_s=0.2)
    async with Engine(folder, InferenceConfig(runtime=runtime)) as engine:
        models = EngineModels(engine).bound(CallScope(Call(None, Priority.BULK), max_queue_wait_s=60))
        figures: dict[str, Figure] = {"length_within_10pct": await measure_lengths(models)}
        for name in SETS:
            if (data / "summaries" / f"{name}.jsonl").is_file():
                articles = read_articles(data, name)[: QUICK_ARTICLES if quick else None]
                figures |= await _news(models, name, articles)
        chapters = list(read_chapters(data))[: QUICK_CHAPTERS if quick else None]
        if chapters:
            manuals = await measure_manuals(models, chapters)
            figures["dangling_share"] = manuals.dangling / max(1, manuals.sentences)
            figures["values_by_lexrank"] = manuals.values / max(1, manuals.lexrank_values)
    return figures


async def _news(models: Models, name: str, articles: list[Article]) -> dict[str, Figure]:
    scores = await measure_rouge(models, articles)
    by_metric = ("one", "two", "longest")
    worst = min(
        getattr(score, metric) - getattr(scores["lexrank", length], metric)
        for (system, length), score in scores.items()
        if system == "precis"
        for metric in by_metric
    )
    writer = ExtractiveWriter(ExtractiveConfig(), models)
    texts = [
        await shortened(writer, article.source, REPEATS_SHARE * len(article.source.split()))
        for article in articles[:REPEATS_ARTICLES]
    ]
    prefix = "" if name == SETS[0] else f"{name}_"
    return {
        f"{prefix}rouge1_75": 100 * scores["precis", "75"].one,
        f"{prefix}rouge2_75": 100 * scores["precis", "75"].two,
        f"{prefix}lexrank1_75": 100 * scores["lexrank", "75"].one,
        f"{prefix}lead1_75": 100 * scores["lead", "75"].one,
        f"{prefix}lead3_1": 100 * scores["lead3", "75"].one,
        f"{prefix}worst_over_lexrank": 100 * worst,
        f"{prefix}repeated_pairs": await count_repeats(models, texts),
    }
