"""Counts what one request asks of a chat model that many requests share."""

from pipeline.llm.chat_model import ChatModel, ChatRequest, Completion
from pipeline.llm.errors import LlmError
from pipeline.llm.llm_usage import LlmUsage


class MeteredChatModel:
    """A `ChatModel` in front of another. Belongs to one request.

    Calls that fail count too, with the answers that were paid for on the way. A call that is cancelled counts nothing:
    the request that made it is over, and what it cost is in the endpoint's own totals.
    """

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner
        self.usage = LlmUsage()

    @property
    def identity(self) -> str:
        """The inner model's."""
        return self._inner.identity

    @property
    def context_tokens(self) -> int:
        """The inner model's."""
        return self._inner.context_tokens

    async def complete(self, request: ChatRequest) -> Completion:
        """Returns the inner model's answer. Raises LlmError as it does."""
        try:
            completion = await self._inner.complete(request)
        except LlmError as error:
            self.usage += error.usage
            raise
        self.usage += completion.usage
        return completion

    def count_tokens(self, text: str) -> int:
        """Estimates as the inner model does."""
        return self._inner.count_tokens(text)
