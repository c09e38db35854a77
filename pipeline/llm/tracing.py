"""OpenTelemetry spans of calls, after the GenAI conventions. Without the SDK they cost next to nothing.

https://github.com/open-telemetry/semantic-conventions-genai: one client span for each call, its attempts as events.
No attribute holds a prompt, an answer or a key.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind

from pipeline.llm.chat_model import ChatRequest, Completion
from pipeline.llm.config import LlmConfig
from pipeline.llm.errors import LlmError
from pipeline.tracing import open_span

_tracer = trace.get_tracer("precis.llm")


@contextmanager
def chat_span(config: LlmConfig, request: ChatRequest) -> Iterator[Span]:
    """Opens the span of one call. An error that comes out of the `with` is its end."""
    with open_span(_tracer, f"chat {config.model}", kind=SpanKind.CLIENT) as span:
        if span.is_recording():
            span.set_attributes(_request_attributes(config, request))
        yield span


def note_answer(span: Span, completion: Completion) -> None:
    """Adds what came back."""
    if span.is_recording():
        span.set_attributes(
            {
                "gen_ai.response.model": completion.model,
                "gen_ai.response.finish_reasons": (completion.finish_reason,),
                "gen_ai.usage.input_tokens": completion.prompt_tokens,
                "gen_ai.usage.output_tokens": completion.completion_tokens,
            }
        )


def note_retry(error: LlmError, *, attempt: int, delay_s: float) -> None:
    """Adds a failed attempt to the call's span."""
    trace.get_current_span().add_event(
        "retry", {"error.type": type(error).__name__, "attempt": attempt, "delay_s": round(delay_s, 3)}
    )


def _request_attributes(config: LlmConfig, request: ChatRequest) -> dict[str, str | int | float]:
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
