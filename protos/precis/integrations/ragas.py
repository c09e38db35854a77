"""A Ragas metric that asks a Precis server instead of a language model: the same sample gets the same score."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from ragas.metrics.base import MetricType, SingleTurnMetric

from precis.client import Client
from precis.words import MetricName


@dataclass
class PrecisScore(SingleTurnMetric):  # type: ignore[misc]  # the package has no types
    """Scores `response` against `retrieved_contexts`, from 0 to 1.

    Attributes:
        client: of the server.
        score_name: which of the five scores.
    """

    client: Client | None = None
    score_name: MetricName = "hallucination"
    name: str = "precis_hallucination"
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"response", "retrieved_contexts"}}
    )

    def init(self, run_config: object) -> None:
        """Needs nothing."""

    async def _single_turn_ascore(self, sample: Any, callbacks: object) -> float:  # noqa: ANN401, ARG002 - Ragas' call
        if self.client is None:
            raise ValueError("PrecisScore needs client=precis.Client(...)")
        source = "\n\n".join(sample.retrieved_contexts)
        judgement = await asyncio.to_thread(self.client.judge, source, sample.response)
        return judgement.score(self.score_name) / 10
