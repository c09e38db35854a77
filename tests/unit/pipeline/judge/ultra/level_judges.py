"""Language models that grade by a script."""

from collections.abc import Mapping

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.fusion import Distribution, LevelReading, LevelSource
from pipeline.judge.result import MetricName
from pipeline.llm.ask import UnusableAnswerError
from pipeline.reading.passage import TextSpan

FAIR: Distribution = (0.075, 0.075, 0.7, 0.075, 0.075)


class ScriptedLevelJudge:
    """Gives each metric its distribution, or fails where the script has a reason. Remembers what it was asked."""

    def __init__(
        self,
        script: Mapping[MetricName, Distribution | str] | None = None,
        *,
        claimed: int = 0,
        evidence: tuple[TextSpan, ...] = (),
    ) -> None:
        self.asked: list[MetricName] = []
        self._script = dict(script or {})
        self._claimed = claimed
        self._evidence = evidence

    async def read_level(self, metric: MetricName, _: EvidenceTable) -> LevelReading:
        self.asked.append(metric)
        answer = self._script.get(metric, FAIR)
        if isinstance(answer, str):
            raise UnusableAnswerError(answer)
        return LevelReading(answer, LevelSource.LOGITS, self._claimed, self._evidence, "It is fair.")
