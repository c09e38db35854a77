"""LlamaIndex: embeddings of a Precis server, and an evaluator of faithfulness without a language model."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from precis.client import Client


class PrecisEmbedding(BaseEmbedding):  # type: ignore[misc]  # the package is not there where types are checked
    """Embeddings of the server's model, of length 1."""

    _client: Client = PrivateAttr()

    def __init__(self, client: Client, **options: Any) -> None:  # noqa: ANN401 - options of the base class
        super().__init__(model_name="precis", **options)
        self._client = client

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [list(embedding.values) for embedding in self._client.embed(texts)]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, query)


class PrecisEvaluator(BaseEvaluator):  # type: ignore[misc]  # the same
    """Judges a response against its contexts; the score is from 0 to 1.

    It passes when `Judgement.faults` finds nothing by `minimum`, `worst_claim` and `max_unsupported`.
    """

    def __init__(
        self,
        client: Client,
        minimum: float | None = 7.0,
        *,
        worst_claim: float | None = None,
        max_unsupported: int | None = None,
    ) -> None:
        self._client = client
        self._minimum = minimum
        self._limits: Any = {"worst_claim": worst_claim, "max_unsupported": max_unsupported}

    async def aevaluate(
        self, query: str | None = None, response: str | None = None, contexts: Sequence[str] | None = None, **_: object
    ) -> EvaluationResult:
        """Judges one response."""
        judgement = await asyncio.to_thread(self._client.judge, "\n\n".join(contexts or ()), response or "")
        score = judgement.hallucination
        passing = not judgement.faults(self._minimum, **self._limits)
        found = {"query": query, "response": response, "contexts": contexts, "passing": passing}
        return EvaluationResult(**found, score=score / 10, feedback=judgement.explain("hallucination"))

    def _get_prompts(self) -> dict[str, object]:
        return {}

    def _update_prompts(self, _prompts: object) -> None:
        """Has none."""
