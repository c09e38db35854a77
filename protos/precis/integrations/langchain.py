"""LangChain: embeddings of a Precis server, and a step of a chain that stops what its source does not support."""

from collections.abc import Mapping
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableLambda

from precis.client import Client


class UnfaithfulError(ValueError):
    """A summary says what its source does not; `claims` has what."""

    def __init__(self, score: float, faults: tuple[str, ...], claims: tuple[str, ...]) -> None:
        super().__init__(f"{'; '.join(faults)}; unsupported: {'; '.join(claims)}")
        self.score = score
        self.claims = claims


class PrecisEmbeddings(Embeddings):
    """Embeddings of the server's model, of length 1."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embeds texts."""
        return [list(embedding.values) for embedding in self._client.embed(texts)] if texts else []

    def embed_query(self, text: str) -> list[float]:
        """Embeds one text."""
        return self.embed_documents([text])[0]


def faithfulness_check(
    client: Client,
    minimum: float | None = 7.0,
    *,
    worst_claim: float | None = None,
    max_unsupported: int | None = None,
) -> Runnable[Mapping[str, Any], dict[str, Any]]:
    """Makes a step that takes `source` and `summary`, and adds `judgement` to them.

    It raises UnfaithfulError for what `Judgement.faults` finds by these limits, so that `with_retry` or
    `with_fallbacks` can act on it.
    """

    def check(values: Mapping[str, Any]) -> dict[str, Any]:
        judgement = client.judge(values["source"], values["summary"])
        faults = judgement.faults(minimum, worst_claim=worst_claim, max_unsupported=max_unsupported)
        if faults:
            claims = tuple(claim.text for claim in judgement.unsupported)
            raise UnfaithfulError(judgement.hallucination, faults, claims)
        return {**values, "judgement": judgement}

    return RunnableLambda(check)
