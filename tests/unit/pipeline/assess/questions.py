"""Questions, evidence and replies of language models for tests."""

import json
from collections.abc import Sequence
from dataclasses import replace

from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore
from pipeline.assess.request import Mode, SynthesisRequest
from pipeline.llm.chat_model import ChatRequest, Completion, LlmUsage, TokenLogprobs
from pipeline.llm.completion import JsonProblemError, extract_json
from pipeline.llm.errors import LlmError, SchemaMismatchError
from pipeline.prompts.prompts import built_in
from tests.unit.pipeline.llm.models import Bench

BLUR = Finding("Blurs", DistortionSeverity.MODERATE, "Edges appear soft.")
EVIDENCE = Evidence(
    {GLOBAL: (BLUR,)}, (ToolScore("TOPIQ_FR", 2.6, aspect="Blurs"), ToolScore("QAlign", 2.8, aspect="Blurs"))
)
SCORING = SynthesisRequest("How good is this image?", Mode.SCORING, EVIDENCE)
OPEN = replace(SCORING, question="What is wrong with this image?", mode=Mode.EXPLANATION)
CHOICE = replace(OPEN, question="What is most annoying?", choices=("Noise", "Blur", "Compression artifacts"))


def reply(final_answer: str = "C", used: Sequence[str] = ("D1", "T1"), **other: object) -> str:
    """What a model that keeps to the rules replies."""
    words = "Edges appear soft, and the tools agree."
    fields = {"final_answer": final_answer, "quality_reasoning": words, "used_evidence": list(used)}
    return json.dumps({**fields, "need_replan": False, "replan_reason": None, **other})


class ScriptedChat:
    """Gives the answers of a list one by one, the last for ever; an error among them is raised. Keeps the requests."""

    def __init__(
        self, *answers: str | LlmError, logprobs: tuple[TokenLogprobs, ...] = (), context_tokens: int = 8192
    ) -> None:
        self.identity = "scripted@test"
        self.context_tokens = context_tokens
        self.prompts = built_in()
        self.thinking_tokens = 0
        self.requests: list[ChatRequest] = []
        self._answers = list(answers)
        self._logprobs = logprobs

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, LlmError):
            raise answer
        if request.json_schema:
            try:
                answer = extract_json(answer, request.json_schema)
            except JsonProblemError as error:
                refused = SchemaMismatchError(f"not the JSON asked for: {error}")
                refused.usage = LlmUsage(1, 100, 20)
                raise refused from None
        return Completion(answer, "stop", LlmUsage(1, 100, 20), "scripted", top_logprobs=self._logprobs)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 1


def sent(at: Bench, number: int = 0) -> str:
    """All that a scripted endpoint was sent in one request, as it would be read."""
    return json.dumps(at.scripted.log.bodies[number]["messages"], ensure_ascii=False)
