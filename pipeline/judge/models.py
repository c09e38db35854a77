"""The models of one request."""

from dataclasses import dataclass

from pipeline.judge.evidence.table import EvidenceModels
from pipeline.llm.chat_model import ChatModel
from pipeline.protocols import Embedder, Entailment, Tokenizer


@dataclass(frozen=True, slots=True)
class JudgeModels:
    """What a judgement is computed with.

    Attributes:
        entailment: asked once, about all pairs of the request; once more where Ultra rereads.
        embedder: asked once.
        tokenizer: counts tokens.
        chat: writes questions and grades; None: the deterministic forms.
    """

    entailment: Entailment
    embedder: Embedder
    tokenizer: Tokenizer
    chat: ChatModel | None

    @property
    def evidence_models(self) -> EvidenceModels:
        """Names the models behind the evidence's numbers."""
        return EvidenceModels(self.entailment.identity, self.embedder.identity, self.tokenizer.name)

    @property
    def chat_identity(self) -> str | None:
        """Names the chat model; None without one."""
        return self.chat.identity if self.chat else None
