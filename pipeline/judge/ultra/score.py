"""Judge Lock Ultra: tools, level probabilities, fusion, agreement, caps (SCORING, section 3)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.framework import Framework, FrameworkResult
from pipeline.judge.fusion import Fusion, fuse, smooth
from pipeline.judge.metric import MetricName
from pipeline.judge.ultra.agreement import Agreement, assess_agreement, tool_opinions
from pipeline.judge.ultra.config import UltraConfig
from pipeline.judge.ultra.deciding_places import deciding_places
from pipeline.judge.ultra.evidence_view import EvidenceView
from pipeline.judge.ultra.levels import LevelError, LevelJudge, LevelReading, LevelTask, Tool
from pipeline.judge.ultra.reread import reread
from pipeline.judge.ultra.tools import measure
from pipeline.judge.ultra.verdict import Opinion, to_metric, to_object
from pipeline.protocols import Entailment
from pipeline.text.passage import Passage

CallerTools = Mapping[MetricName, Sequence[Tool]]

FIRST, SECOND = 1, 2
"""Attempts: as the table says, and after disputed claims were reread."""


@dataclass(frozen=True, slots=True)
class UltraHelp:
    """What Ultra may ask besides the table; all of it optional.

    Attributes:
        level_judge: a language model that grades; without one the tools decide alone.
        entailment: the table's NLI model, to reread disputed claims with; without it nothing is reread.
        caller_tools: scores in [1, 5] of the caller's own tools, by metric.
    """

    level_judge: LevelJudge | None = None
    entailment: Entailment | None = None
    caller_tools: CallerTools = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UltraOutcome:
    """Ultra's verdict.

    Attributes:
        result: five metrics in the strict order.
        table: the evidence that decided; with wider windows for claims that were reread.
        reread_claims: indices of those.
        degraded: whether the language model failed on a metric, so that the tools decided alone.
        notes: what a reader should know of how the scores came about.
    """

    result: FrameworkResult
    table: EvidenceTable
    reread_claims: tuple[int, ...]
    degraded: bool
    notes: tuple[str, ...]


async def score_ultra(table: EvidenceTable, config: UltraConfig, help_: UltraHelp | None = None) -> UltraOutcome:
    """Scores all five metrics; metrics whose opinions disagree get a second look, once.

    Raises what the models raise; a language model's failure is not raised but noted.
    """
    helped = help_ or UltraHelp()
    scorer = _Scorer(config, helped)
    view = EvidenceView.of(table)
    opinions = await scorer.look(view, MetricName, FIRST)
    doubtful = [name for name, opinion in opinions.items() if scorer.is_doubtful(opinion)]
    reread_claims = view.disputed() if doubtful and helped.entailment is not None else ()
    if reread_claims and helped.entailment is not None:
        widest = config.reread_window_sentences
        table = await reread(table, reread_claims, widest, entailment=helped.entailment)
        view = EvidenceView.of(table)
        # All metrics read the same evidence, so all are computed again; the model is asked about the doubtful ones.
        opinions = await scorer.look_again(view, opinions, doubtful)
    return _outcome(view, opinions, config, reread_claims)


class _Scorer:
    """Forms opinions; keeps nothing."""

    def __init__(self, config: UltraConfig, helped: UltraHelp) -> None:
        self._config = config
        self._help = helped

    def is_doubtful(self, opinion: Opinion) -> bool:
        """Tells whether the opinions on a metric overlap too little."""
        return opinion.agreement.coefficient < self._config.least_agreement

    async def look(
        self, view: EvidenceView, metrics: Sequence[MetricName] | type[MetricName], attempt: int
    ) -> dict[MetricName, Opinion]:
        """Forms an opinion on some metrics, all at the same time."""
        names = list(metrics)
        return dict(zip(names, await asyncio.gather(*(self._form(view, name, attempt) for name in names)), strict=True))

    async def look_again(
        self, view: EvidenceView, opinions: Mapping[MetricName, Opinion], doubtful: Sequence[MetricName]
    ) -> dict[MetricName, Opinion]:
        """Forms all opinions anew; where there was no doubt, with what the model said before."""
        second = await self.look(view, doubtful, SECOND)
        return {
            name: second[name] if name in second else self._conclude(view, name, old.reading, old.failure)
            for name, old in opinions.items()
        }

    async def _form(self, view: EvidenceView, metric: MetricName, attempt: int) -> Opinion:
        judge = self._help.level_judge
        if judge is None:
            return self._conclude(view, metric, None, None)
        try:
            reading = await judge.read_level(LevelTask(metric, view.table, self._tools(view, metric), attempt))
        except LevelError as error:
            return self._conclude(view, metric, None, error.reason)
        return self._conclude(view, metric, reading, None)

    def _conclude(
        self, view: EvidenceView, metric: MetricName, reading: LevelReading | None, failure: str | None
    ) -> Opinion:
        tools = self._tools(view, metric)
        fusion = self._fuse(tools, reading)
        places = (*deciding_places(view, metric), *(reading.evidence if reading else ()))
        return Opinion(metric, tools, reading, fusion, self._agreement(tools, reading, fusion, places), places, failure)

    def _tools(self, view: EvidenceView, metric: MetricName) -> tuple[Tool, ...]:
        return (*measure(view, metric), *self._help.caller_tools.get(metric, ()))

    def _fuse(self, tools: Sequence[Tool], reading: LevelReading | None) -> Fusion:
        probabilities = smooth(reading.probabilities, self._config.smoothing) if reading else None
        scores = [tool.score for tool in tools]
        return fuse(scores, probabilities, eta=self._config.eta, form=self._config.form)

    def _agreement(
        self, tools: Sequence[Tool], reading: LevelReading | None, fusion: Fusion, places: Sequence[Passage]
    ) -> Agreement:
        return assess_agreement(
            fusion,
            fusion.p if reading else tool_opinions(tools),
            verified_share=reading.verified_share if reading else 1.0,
            evidence=places,
            enough_evidence=self._config.enough_evidence,
        )


def _outcome(
    view: EvidenceView, opinions: Mapping[MetricName, Opinion], config: UltraConfig, reread_claims: tuple[int, ...]
) -> UltraOutcome:
    metrics = tuple(to_metric(opinions[name], view, config) for name in MetricName)
    objects = {metric.name: to_object(metric, opinions[metric.name]) for metric in metrics}
    failed = [name for name in MetricName if opinions[name].failure]
    return UltraOutcome(
        FrameworkResult(Framework.ULTRA, metrics, objects),
        view.table,
        reread_claims,
        degraded=bool(failed),
        notes=tuple(f"{name.value}: tools alone, {opinions[name].failure}" for name in failed),
    )
