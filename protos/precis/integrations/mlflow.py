"""MLflow: a scorer for `mlflow.genai.evaluate` that asks a Precis server instead of a language model."""

from collections.abc import Mapping
from typing import Any

from mlflow.entities import AssessmentSource, Feedback
from mlflow.genai.scorers import Scorer, scorer

from precis.client import Client
from precis.words import MetricName


def precis_scorer(client: Client, name: MetricName = "hallucination", source_key: str = "source") -> Scorer:
    """Makes a scorer of `outputs` against `inputs[source_key]`, from 0 to 1, with reason and unsupported claims.

    Args:
        client: of the server.
        name: which of the five scores.
        source_key: field of the inputs that holds the source.
    """

    def judge(inputs: Mapping[str, Any], outputs: object) -> Feedback:
        judgement = client.judge(str(inputs[source_key]), str(outputs))
        return Feedback(
            value=judgement.score(name) / 10,
            rationale=judgement.explain(name),
            source=AssessmentSource(source_type="CODE", source_id="precis"),
            metadata={"unsupported": "\n".join(claim.text for claim in judgement.unsupported)},
        )

    return scorer(judge, name=f"precis_{name.replace('-', '_')}")
