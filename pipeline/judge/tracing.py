"""OpenTelemetry spans of judgements: one for each, below it evidence and frameworks."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span

from pipeline import tracing as spans
from pipeline.judge.judgement import Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.tracing import Attribute, note, prefixed

_tracer = trace.get_tracer("precis.judge")


def open_span(name: str, **attributes: Attribute) -> AbstractContextManager[Span]:
    """Opens a span. An error that comes out of the `with` is its end.

    Args:
        name: of few values, which traces are sorted by.
        attributes: what is known beforehand; `precis.` is put before their names.
    """
    return spans.open_span(_tracer, name, prefixed(attributes))


@contextmanager
def judgement_span(request: JudgeRequest) -> Iterator[Span]:
    """Opens the span of one request, answered from the cache or not."""
    with open_span(
        "invoke_workflow judge", source_chars=len(request.source), summary_chars=len(request.summary)
    ) as span:
        if span.is_recording():
            span.set_attributes({"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "judge"})
            span.set_attribute("precis.frameworks", [framework.value for framework in request.wanted])
        yield span


def note_judgement(span: Span, judgement: Judgement) -> None:
    """Adds what the request came to, and what it cost."""
    usage = judgement.language_model_usage
    note(
        span,
        request_hash=judgement.request_hash,
        cached=judgement.is_cached,
        degraded=judgement.degraded,
        model_calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        retries=usage.retries,
    )
