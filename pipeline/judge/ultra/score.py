"""Scores the five metrics of Ultra: tools, level probabilities, fusion, agreement, caps (docs/concepts/ultra.md)."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.judge.config import UltraConfig
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.fusion import fuse, smooth
from pipeline.judge.result import Framework, FrameworkResult, MetricName, MetricResult
from pipeline.judge.ultra.levels import LevelJudge, LevelReading, LevelTask, Tool, assess_agreement, tool_opinions
from pipeline.judge.ultra.tools import EvidenceView, measure
from pipeline.judge.ultra.verdict import Opinion, Outcome, deciding_places, to_metric
from pipeline.llm.ask import UnusableAnswerError

logger = logging.getLogger(__name__)

CallerTools = Mapping[MetricName, Sequence[Tool]]


@dataclass(frozen=True, slots=True)
class UltraHelp:
    """What Ultra may ask besides the table; all of it optional.

    Attributes:
        level_judge: a language model that grades; without one the tools decide alone.
        caller_tools: scores in [1, 5] of the caller's own tools, by metric.
    """

    level_judge: LevelJudge | None = None
    caller_tools: CallerTools = field(default_factory=dict)


async def score_ultra(table: EvidenceTable, config: UltraConfig, help_: UltraHelp | None = None) -> FrameworkResult:
    """Scores all five metrics. A language model that fails is noted, and a metric that fails has status ERROR."""
    helped = help_ or UltraHelp()
    scorer = _Scorer(config, helped)
    view = EvidenceView.of(table)
    opinions = await scorer.look(view, tuple(MetricName))
    failures = {name: one.failure for name, one in opinions.items() if isinstance(one, Opinion) and one.failure}
    scored = [to_metric(opinions[name], view, config) for name in MetricName]
    notes = [f"{name.value}: tools alone, {failure}" for name, failure in failures.items()]
    return FrameworkResult.of(Framework.ULTRA, scored, notes)


class _Scorer:
    """Forms opinions; keeps nothing."""

    def __init__(self, config: UltraConfig, helped: UltraHelp) -> None:
        self._config = config
        self._help = helped

    async def look(self, view: EvidenceView, names: Sequence[MetricName]) -> dict[MetricName, Outcome]:
        """Forms an opinion on some metrics, all at the same time."""
        opinions = await asyncio.gather(*(self._form(view, name) for name in names))
        return dict(zip(names, opinions, strict=True))

    async def _form(self, view: EvidenceView, metric: MetricName) -> Outcome:
        unaided = self._conclude(view, metric, None, None)
        judge = self._help.level_judge
        if judge is None or isinstance(unaided, MetricResult):
            return unaided
        try:
            reading = await judge.read_level(LevelTask(metric, view.table))
        except UnusableAnswerError as error:
            return self._conclude(view, metric, None, error.reason)
        return self._conclude(view, metric, reading, None)

    def _conclude(
        self, view: EvidenceView, metric: MetricName, reading: LevelReading | None, failure: str | None
    ) -> Outcome:
        """Fuses what there is. A bug in one metric must not take the others with it."""
        config = self._config
        try:
            tools = (*measure(view, metric), *self._help.caller_tools.get(metric, ()))
            probabilities = smooth(reading.probabilities, config.smoothing) if reading else None
            scores, weights = [tool.score for tool in tools], [tool.weight for tool in tools]
            fusion = fuse(scores, probabilities, eta=config.eta, form=config.form, weights=weights)
            places = (*deciding_places(view, metric), *(reading.evidence if reading else ()))
            agreement = assess_agreement(
                fusion,
                fusion.probabilities if reading else tool_opinions(tools),
                verified_share=reading.verified_share if reading else 1.0,
                certainty=view.certainty if metric is MetricName.HALLUCINATION else 1.0,
            )
        except Exception as error:
            logger.exception("judge framework=ultra metric=%s failed", metric)
            return MetricResult.failed(metric, f"malformed_metric: {type(error).__name__}")
        return Opinion(metric, tools, reading, fusion, agreement, places, failure)
