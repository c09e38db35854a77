"""One request made until it is answered: through the limiter, with retries."""

from dataclasses import dataclass, replace

from pipeline.llm.chat_model import ChatMessage, ChatRequest, Completion
from pipeline.llm.completion_json import parse_completion
from pipeline.llm.config import LlmConfig
from pipeline.llm.dialect import Dialect, request_body
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.errors import AuthenticationFailedError, LlmError
from pipeline.llm.limiter import Permit
from pipeline.llm.retry import Retries
from pipeline.llm.spans import note_retry
from pipeline.llm.token_count import TokenCount, estimate_tokens

_IMAGE_TOKENS = 1_500  # 1024 x 1024: 765 at GPT-4o, 1,369 at Qwen2-VL (28 x 28 pixels a token)


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes the calls of one model.

    Attributes:
        endpoint: where.
        config: which model, and how.
        count_tokens: for answers that do not say what they cost.
    """

    endpoint: Endpoint
    config: LlmConfig
    count_tokens: TokenCount

    async def call(self, request: ChatRequest, dialect: Dialect) -> Completion:
        """Returns the first good answer. Raises LlmError when there will be none."""
        endpoint = self.endpoint
        body = request_body(request, dialect, model=self.config.model, stream=self.config.stream)
        retries = Retries(self.config.retries, was_ever_connected=lambda: endpoint.was_ever_connected)
        number = endpoint.limiter.take_number()
        most_tokens = self._most_tokens(request)
        while True:
            try:
                async with endpoint.limiter.attempt(number, most_tokens) as permit:
                    completion = await self._attempt(request, body, permit)
                    return replace(completion, retries=retries.failed_attempts)
            except LlmError as error:
                if isinstance(error, AuthenticationFailedError) and endpoint.reload_key():
                    continue  # the key was changed under us, as it should be now and then
                delay_s = retries.delay_after(error)
                if delay_s is None:
                    raise
                endpoint.usage.count_retry()
                note_retry(error, attempt=retries.failed_attempts, delay_s=delay_s)
            await endpoint.clock.sleep(delay_s)

    def _most_tokens(self, request: ChatRequest) -> int:
        """Estimates what a request may cost; not worth the time when nobody counts."""
        if self.endpoint.config.rates.tokens_per_minute is None:
            return 0
        return sum(_tokens(message, estimate_tokens) for message in request.messages) + request.max_tokens

    async def _attempt(self, request: ChatRequest, body: dict[str, object], permit: Permit) -> Completion:
        usage = self.endpoint.usage
        usage.count_attempt()
        try:
            response = await self.endpoint.post(body, private_texts=[one.content for one in request.messages])
            completion = parse_completion(response.content, response.headers.get("content-type", ""))
        except LlmError as error:
            usage.count_failure(error)
            raise
        completion = self._with_counts(completion, request)
        usage.count_answer(completion)
        permit.used_tokens = completion.prompt_tokens + completion.completion_tokens
        return completion

    def _with_counts(self, completion: Completion, request: ChatRequest) -> Completion:
        """Fills in what the endpoint left out."""
        if completion.prompt_tokens and completion.model:
            return completion
        prompt = sum(_tokens(message, self.count_tokens) for message in request.messages)
        return replace(
            completion,
            prompt_tokens=completion.prompt_tokens or prompt,
            completion_tokens=completion.completion_tokens or self.count_tokens(completion.text),
            model=completion.model or self.config.model,
        )


def _tokens(message: ChatMessage, count_tokens: TokenCount) -> int:
    return count_tokens(message.content) + _IMAGE_TOKENS * len(message.images)
