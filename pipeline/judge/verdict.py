"""One framework's verdict on an evidence table, whichever framework it is."""

from dataclasses import dataclass

from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.framework import Framework, FrameworkResult
from pipeline.judge.judge_lock.judge_lock import score_judge_lock
from pipeline.judge.limits import usable_tool_scores
from pipeline.judge.models import JudgeModels
from pipeline.judge.proposals.llm_level_judge import LlmLevelJudge
from pipeline.judge.request import MetricToolScore
from pipeline.judge.twin_lock.twin_lock import score_twin_lock
from pipeline.judge.ultra.score import UltraHelp, score_ultra


@dataclass(frozen=True, slots=True)
class Verdict:
    """A framework's result.

    Attributes:
        result: its metrics.
        degraded: whether a language model's answer was unusable somewhere.
        notes: what a reader should know of how it came about.
    """

    result: FrameworkResult
    degraded: bool = False
    notes: tuple[str, ...] = ()


async def reach_verdict(
    framework: Framework,
    table: EvidenceTable,
    config: JudgeConfig,
    *,
    models: JudgeModels,
    tool_scores: tuple[MetricToolScore, ...],
) -> Verdict:
    """Scores a table. The two locks are pure functions of it; Ultra may ask models again."""
    if framework is Framework.TWIN_LOCK:
        return Verdict(score_twin_lock(table, config.lock))
    if framework is Framework.JUDGE_LOCK:
        return Verdict(score_judge_lock(table, config.lock))
    level_judge = LlmLevelJudge(models.chat, config.proposals) if models.chat else None
    help_ = UltraHelp(level_judge, models.entailment, usable_tool_scores(tool_scores))
    outcome = await score_ultra(table, config.ultra, help_)
    return Verdict(outcome.result, outcome.degraded, outcome.notes)
