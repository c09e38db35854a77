"""A DeepEval metric that asks a Precis server instead of a language model: the same case gets the same score."""

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from precis.client import Client
from precis.words import MetricName


class PrecisMetric(BaseMetric):  # type: ignore[misc]  # the package has no types
    """Scores `actual_output` against the retrieved context, the context, or else `input`, from 0 to 1.

    Args:
        client: of the server.
        threshold: least score that passes; 0.7 is 7 of 10.
        name: which of the five scores.
        worst_claim: least score of the worst claim, in [0, 10]; None: any.
        max_unsupported: claims that may be unsupported; None: any number.
    """

    def __init__(
        self,
        client: Client,
        threshold: float = 0.7,
        name: MetricName = "hallucination",
        *,
        worst_claim: float | None = None,
        max_unsupported: int | None = None,
    ) -> None:
        self._limits: Any = {"worst_claim": worst_claim, "max_unsupported": max_unsupported}
        self.client = client
        self.threshold = threshold
        self.name = name
        self.async_mode = False
        self.evaluation_model = "precis"

    def measure(self, test_case: LLMTestCase, *_args: object, **_options: object) -> float:
        """Returns the score; keeps it, its reason and whether it passes."""
        source = "\n\n".join(test_case.retrieval_context or test_case.context or [test_case.input])
        judgement = self.client.judge(source, test_case.actual_output)
        self.score = judgement.score(self.name) / 10
        self.reason = judgement.explain(self.name)
        self.success = self.score >= self.threshold and not judgement.faults(**self._limits)
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: object, **options: object) -> float:
        """Does the same, for runs that await: on a thread, since the client blocks."""
        import asyncio  # noqa: PLC0415

        return await asyncio.to_thread(self.measure, test_case, *args, **options)

    def is_successful(self) -> bool:
        """Says whether the last score passes."""
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return f"Precis {self.name}"
