"""A chat model whose answers are written down beforehand."""

from collections.abc import Callable

from pipeline.llm.chat_model import ChatRequest, Completion, LlmUsage
from pipeline.llm.errors import LlmError
from pipeline.prompts.prompts import built_in

Answer = str | tuple[str, str] | LlmError


class FakeChat:
    """Gives its answers one after the other, then the last one again. Remembers the requests.

    Args:
        answers: a text, a text with its finish_reason, or an error to raise.
        context_tokens: see ChatModel.
        answer_to: writes the answer instead.
    """

    def __init__(
        self, *answers: Answer, context_tokens: int = 128_000, answer_to: Callable[[ChatRequest], Answer] | None = None
    ) -> None:
        self.identity = "fake-chat"
        self.context_tokens = context_tokens
        self.prompts = built_in()
        self.thinking_tokens = 0
        self.requests: list[ChatRequest] = []
        self._answers = list(answers)
        self._answer_to = answer_to

    def count_tokens(self, text: str) -> int:
        """Four characters are a token."""
        return (len(text) + 3) // 4

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        if self._answer_to:
            answer = self._answer_to(request)
        else:
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, LlmError):
            raise answer
        text, finish_reason = answer if isinstance(answer, tuple) else (answer, "stop")
        return Completion(text, finish_reason, LlmUsage(1, 10, 5), "fake")
