"""A chat model behind an OpenAI-compatible endpoint: one request is made until it is answered.

Each attempt goes through the limiter; failures are retried.
"""

import asyncio
import logging
import math
import time
from collections.abc import Coroutine
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.trace import SpanKind

from pipeline.llm import errors
from pipeline.llm.chat_model import ChatRequest, Completion, LlmUsage
from pipeline.llm.completion import DraftReader, JsonProblemError, extract_json
from pipeline.llm.config import LlmConfig, LlmRole
from pipeline.llm.dialect import Dialect, Trial, request_body
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.limiter import Permit
from pipeline.llm.refusal import MAX_BAD_ANSWERS, Retries
from pipeline.llm.token_count import estimate_tokens, load_token_count
from pipeline.tracing import open_span

_log = logging.getLogger(__name__)
_tracer = trace.get_tracer("precis.llm")


_ends_s: ContextVar[float | None] = ContextVar("answers_end", default=None)


def leave_time_before(deadline_s: float | None) -> None:
    """Has each call of this task, from now on, take at most half of what is left of three quarters of its time.

    What does without an answer then still answers in time.

    Args:
        deadline_s: on the clock of `time.monotonic`; None for as long as the settings allow.
    """
    now_s = time.monotonic()
    _ends_s.set(None if deadline_s is None else now_s + 3 / 4 * (deadline_s - now_s))


def _patience_s() -> float | None:
    ends_s = _ends_s.get()
    return None if ends_s is None else max(0.0, (ends_s - time.monotonic()) / 2)


class OpenAiChatModel:
    """One model of an endpoint; a `ChatModel`. Several may share the endpoint and then share its limits.

    What the endpoint refuses of the optional fields is found out by the first calls that need it and remembered.

    Attributes:
        dialect: what it remembers.
    """

    once_s: ClassVar[float] = 8.0  # for the attempts of a call whose caller can do without
    silent_s: ClassVar[float] = 4.0  # after which such a call asks whether the endpoint lives
    untold_context_tokens: ClassVar[int] = 8192  # where neither settings nor endpoint tell

    def __init__(self, endpoint: Endpoint, config: LlmConfig | None = None) -> None:
        """Takes the endpoint's own settings by default. Raises LlmSettingsError for an unreadable tokenizer_file."""
        self._endpoint = endpoint
        self._config = (config or endpoint.config).of_role(LlmRole.WRITER)  # of one role already, or of all
        self.dialect = Dialect(self._config)
        self.count_tokens = load_token_count(self._config.tokenizer_file)
        self.identity = self._config.identity
        self.context_tokens = self._config.context_tokens or self.untold_context_tokens
        self.prompts = self._config.prompts

    @property
    def thinking_tokens(self) -> int:
        """See ChatModel."""
        return self.dialect.thinking_tokens

    async def learn_context(self) -> None:
        """Holds what the endpoint tells, where nothing is set."""
        if self._config.context_tokens is None:
            self.context_tokens = await self._endpoint.context_of(self._config.model) or self.context_tokens

    async def complete(self, request: ChatRequest) -> Completion:
        """Returns an answer; with a `json_schema`, its text is JSON that fits. Raises LlmError after all retries."""
        if self._config.temperature is not None:
            request = replace(request, temperature=self._config.temperature)
        attributes = _span_attributes(self._config, request)
        with open_span(_tracer, f"chat {self._config.model}", attributes, kind=SpanKind.CLIENT) as span:
            try:
                async with asyncio.timeout(_patience_s()):
                    await self._expect_context(request)
                    asking = self._structured(request) if request.json_schema else self._ask(request)
                    completion = await (self._unless_silent(asking) if request.asks_once else asking)
            except errors.UnknownModelError as error:
                raise await self._unknown_model(error) from None
            except TimeoutError:
                raise errors.AnswerTimeoutError("no answer while the caller has time for other ways to one") from None
            span.set_attributes(
                {
                    "gen_ai.response.model": completion.model,
                    "gen_ai.response.finish_reasons": (completion.finish_reason,),
                    "gen_ai.usage.input_tokens": completion.usage.prompt_tokens,
                    "gen_ai.usage.output_tokens": completion.usage.completion_tokens,
                }
            )
            return completion

    async def _expect_context(self, request: ChatRequest) -> None:
        """Raises LlmSettingsError where more is set than the endpoint holds; not for who can do without an answer."""
        is_asked = self._config.context_tokens is not None and not request.asks_once
        holds = await self._endpoint.context_of(self._config.model) if is_asked else None
        if holds is not None and holds < self.context_tokens:
            raise errors.LlmSettingsError(
                f"llm.context_tokens is {self.context_tokens}, and the endpoint holds {holds} tokens of the model "
                f"{self._config.model}: set it to {holds}, or have the endpoint hold more"
            )

    async def _unless_silent(self, asking: Coroutine[Any, Any, Completion]) -> Completion:
        """Returns an answer that its caller can do without; leaves an endpoint that gives no sign of life."""
        answering = asyncio.create_task(asking)
        try:
            await asyncio.wait({answering}, timeout=0 if self._endpoint.is_silent else self.silent_s)
            if not answering.done() and not await self._endpoint.lives():
                raise errors.ConnectionFailedError(f"the endpoint {self._config.base_url} gives no sign of life")
            return await answering
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)

    async def _structured(self, request: ChatRequest) -> Completion:
        """Asks for JSON that fits the schema."""
        completion = await self._ask(request)
        try:
            text = await asyncio.to_thread(extract_json, completion.text, request.json_schema or {})
        except JsonProblemError as problem:
            advice = "; allow more max_tokens" if completion.finish_reason == "length" else ""
            failure = errors.SchemaMismatchError(f"the answer is not the JSON asked for: {problem}{advice}")
            failure.usage = completion.usage
            raise failure from None
        return replace(completion, text=text)

    async def _ask(self, request: ChatRequest) -> Completion:
        """Calls, and calls again as the endpoint turns out to want it: without a field, with more room for thoughts."""
        dialect, most_thinking, trial = self.dialect, self.dialect.most_thinking, Trial(self.dialect)
        held, spent = request.thinking_tokens, LlmUsage()
        while True:
            refused, limit = dialect.refused | trial.left_out, dialect.most_tokens
            thinking = min(dialect.thinking_tokens if held is None else held, most_thinking)
            most = min(min(request.max_tokens, self._config.max_tokens or limit) + thinking, limit)
            asked = replace(request, max_tokens=most)
            body = request_body(asked, refused, self._config)
            try:
                completion = await self._call(asked, body)
            except errors.RequestRefusedError as error:
                trial.learn(error, refused, body, most)
            except errors.EmptyAnswerError as error:
                spent += error.usage
                error.usage = spent
                is_full = thinking >= most_thinking or most >= limit
                has_more = error.finish_reason == "length" and not is_full and dialect.allow_more(thinking)
                if held is not None or not has_more:
                    raise  # who held thoughts to so much may ask again
            except errors.ContextOverflowError:
                prompt = request.prompt_tokens(self.count_tokens)
                most_thinking = max(0, self.context_tokens - prompt - request.max_tokens)
                if thinking <= most_thinking:
                    raise
            else:
                trial.remember(body)
                return replace(completion, usage=completion.usage + spent)

    async def _unknown_model(self, error: errors.UnknownModelError) -> errors.UnknownModelError:
        served = ", ".join(await self._endpoint.served_models()) or "which models, it does not say"
        asked = f"asked was {self._config.model!r} of {self._config.base_url}"
        return errors.UnknownModelError(f"{error}; {asked}, which serves: {served}")

    async def _call(self, request: ChatRequest, body: dict[str, object]) -> Completion:
        """Returns the first good answer. Raises LlmError when there will be none."""
        endpoint = self._endpoint
        most_bad, most_s = (1, self.once_s) if request.asks_once else (MAX_BAD_ANSWERS, math.inf)
        retries = Retries(self._config.retries, endpoint.usage, max_bad_answers=most_bad)
        number, ends_s = endpoint.limiter.take_number(), endpoint.clock.now_s() + most_s
        most_tokens = self._most_tokens(request)
        while True:
            try:
                async with endpoint.limiter.attempt(number, most_tokens) as permit:
                    completion = await self._attempt(request, body, permit)
                    return replace(completion, usage=completion.usage + LlmUsage(retries=retries.failed_attempts))
            except errors.LlmError as error:
                if isinstance(error, errors.AuthenticationFailedError) and endpoint.reload_key():
                    continue  # the key was changed under us, as it should be now and then
                delay_s = retries.delay_after(error, most_s=ends_s - endpoint.clock.now_s())
                if delay_s is None:
                    raise
                if request.on_draft is not None:
                    request.on_draft("")
                endpoint.usage.retries += 1
                trace.get_current_span().add_event(
                    "retry",
                    {"error.type": type(error).__name__, "attempt": retries.failed_attempts, "delay_s": delay_s},
                )
            await endpoint.clock.sleep(delay_s)

    def _most_tokens(self, request: ChatRequest) -> int:
        """Estimates what a request may cost; not worth the time when nobody counts."""
        if self._endpoint.config.rates.tokens_per_minute is None:
            return 0
        return request.prompt_tokens(estimate_tokens) + request.max_tokens

    async def _attempt(self, request: ChatRequest, body: dict[str, object], permit: Permit) -> Completion:
        usage = self._endpoint.usage
        usage.count_attempt()
        error: errors.LlmError | None = None
        try:
            completion = await self._endpoint.post(
                body,
                private_texts=[one.content for one in request.messages],
                most_bytes=_most_bytes(request),
                headers={name: value.get_secret_value() for name, value in self._config.extra_headers.items()},
                on_part=DraftReader(request.on_draft, _most_chars(request)).feed if request.on_draft else None,
            )
            if (length := len(completion.text)) > _most_chars(request):  # no text of so few tokens
                raise errors.EndlessAnswerError(
                    f"an answer of {length} characters ignores max_tokens, {request.max_tokens}"
                )
        except errors.LlmError as failure:
            error = failure
            is_cut = isinstance(failure, errors.EmptyAnswerError) and failure.finish_reason == "length"
            if is_cut and not failure.usage.completion_tokens:  # it does not count: all that it might was taken
                failure.usage = LlmUsage(1, request.prompt_tokens(self.count_tokens), request.max_tokens)
            usage.count_tokens(failure.usage, self._config.prices)
            raise
        finally:
            usage.count_outcome(error)
        _expect_whole(request, completion)
        completion = self._with_counts(completion, request)
        usage.answers += 1
        usage.count_tokens(completion.usage, self._config.prices)
        permit.used_tokens = completion.usage.prompt_tokens + completion.usage.completion_tokens
        return completion

    def _with_counts(self, completion: Completion, request: ChatRequest) -> Completion:
        """Fills in what the endpoint left out, and learns what the model takes for thoughts that nobody sees."""
        told, written = completion.usage, self.count_tokens(completion.text)
        self.dialect.learn_thoughts(told.completion_tokens - round(1.2 * written))  # it may be a fifth too low
        prompt_tokens = told.prompt_tokens or request.prompt_tokens(self.count_tokens)
        usage = LlmUsage(1, prompt_tokens, told.completion_tokens or written)
        return replace(completion, usage=usage, model=completion.model or self._config.model)


def _expect_whole(request: ChatRequest, completion: Completion) -> None:
    """Raises LlmSettingsError where an endpoint has read less than it was sent, by its own count.

    A word is at least a token, and so are eight bytes in scripts that write none. An endpoint may leave what it has in
    its cache out of its count: a conversation that goes on says nothing.
    """
    contents, read = [message.content for message in request.messages], completion.usage.prompt_tokens
    least_counted = 256  # fewer: what is in its cache is left out
    if read < least_counted or any(one.role == "assistant" for one in request.messages):
        return
    sent = max(
        sum(len(content.split()) for content in contents),
        sum(len(content.encode()) - len(content) for content in contents) // 8,
    )
    if read < sent:
        raise errors.LlmSettingsError(
            f"the endpoint has read {read} of more than {sent} tokens that were sent, and left the others out: "
            f"set llm.context_tokens to {read}, or have the endpoint hold more (Ollama: num_ctx)"
        )


def _most_bytes(request: ChatRequest) -> int:
    """Returns how long an answer may be as it is sent: each token is an event of a stream of its own."""
    return (1 << 16) + request.max_tokens * (512 + request.top_logprobs * 256)


def _most_chars(request: ChatRequest) -> int:
    """Returns how long the text of an answer may be: no token has as many characters."""
    return 1_024 + request.max_tokens * 16


def _span_attributes(config: LlmConfig, request: ChatRequest) -> dict[str, str | int | float]:
    """Describes a call after the GenAI conventions; no attribute holds a prompt, an answer or a key.

    https://github.com/open-telemetry/semantic-conventions-genai: one client span for each call, its retries as events.
    """
    address = urlsplit(config.base_url)
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # the convention's name for what speaks OpenAI's protocol
        "gen_ai.request.model": config.model,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.output.type": "text" if request.json_schema is None else "json",
        "server.address": address.hostname or "",
        "server.port": address.port or (443 if address.scheme == "https" else 80),
    }
