"""Haystack: a component that judges replies against their documents, without a language model."""

from typing import Any

from haystack import Document, component

from precis.client import Client
from precis.connection import DEFAULT_ADDRESS


@component
class PrecisFaithfulness:
    """Scores each reply against all documents, from 0 to 1; `unsupported` lists the claims that they do not support."""

    def __init__(self, address: str = DEFAULT_ADDRESS) -> None:
        self.address = address

    @component.output_types(scores=list[float], unsupported=list[list[str]])  # type: ignore[untyped-decorator]  # no types
    def run(self, documents: list[Document], replies: list[str]) -> dict[str, Any]:
        """Judges the replies."""
        source = "\n\n".join(document.content or "" for document in documents)
        with Client(self.address) as client:
            judgements = [client.judge(source, reply) for reply in replies]
        return {
            "scores": [judgement.hallucination / 10 for judgement in judgements],
            "unsupported": [[claim.text for claim in judgement.unsupported] for judgement in judgements],
        }
