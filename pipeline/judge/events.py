"""What a judgement in progress tells. Order: EvidenceReady, every MetricReady in the strict order, Judgement."""

from dataclasses import dataclass

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.framework import Framework
from pipeline.judge.judgement import Judgement
from pipeline.judge.metric import MetricResult


@dataclass(frozen=True, slots=True)
class EvidenceReady:
    """The evidence is complete; scoring begins."""

    table: EvidenceTable


@dataclass(frozen=True, slots=True)
class MetricReady:
    """One metric of one framework. Frameworks follow each other, each with its five metrics in their order."""

    framework: Framework
    metric: MetricResult


JudgeEvent = EvidenceReady | MetricReady | Judgement
"""One event; the judgement comes once, last."""
