"""Phoenix: an evaluator of `output` against `context`, without a language model."""

from typing import Any

from phoenix.evals import Evaluator, Score
from pydantic import BaseModel

from precis.client import Client
from precis.words import MetricName


class JudgedTexts(BaseModel):
    """The fields of a record that are read; `bind_evaluator` maps others to them."""

    output: str
    context: str


class PrecisEvaluator(Evaluator):  # type: ignore[misc]  # the package is not there where types are checked
    """Scores from 0 to 1, with the reason; `unsupported` of the metadata lists the claims.

    Args:
        client: of the server.
        metric: which of the five scores.
    """

    def __init__(self, client: Client, metric: MetricName = "hallucination") -> None:
        super().__init__(name=f"precis_{metric.replace('-', '_')}", kind="code", input_schema=JudgedTexts)
        self._client = client
        self._metric = metric

    def _evaluate(self, eval_input: dict[str, Any]) -> list[Score]:
        judgement = self._client.judge(eval_input["context"], eval_input["output"])
        return [
            Score(
                name=self.name,
                score=judgement.score(self._metric) / 10,
                explanation=judgement.explain(self._metric),
                metadata={"unsupported": [claim.text for claim in judgement.unsupported]},
                kind="code",
            )
        ]
