"""OpenTelemetry spans of summaries: one for each run, below it one for each graph node, below that those of the calls.

Without the SDK they cost next to nothing. Attributes are ids, names of ours, counts and shares: never a text, a name or
a topic of a document.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from pipeline.summarize.graph.texts import TextOutcome
from pipeline.summarize.result import SummaryResult
from pipeline.tracing import Attribute, note, open_span, prefixed

_tracer = trace.get_tracer("precis.summarize")
_propagator = TraceContextTextMapPropagator()
_TRACEPARENT = "traceparent"


def run_span(summary_id: str) -> AbstractContextManager[Span]:
    """Opens the span of one run of a summary.

    The summary's id is also the session, by which trace viewers put its runs together.
    """
    attributes: dict[str, Attribute] = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "summarize",
        "precis.summary_id": summary_id,
        "session.id": summary_id,
    }
    return open_span(_tracer, "invoke_workflow summarize", attributes)


def node_span(node: str, summary_id: str, **attributes: Attribute) -> AbstractContextManager[Span]:
    """Opens the span of one execution of a graph node; `precis.` is put before the attributes' names."""
    return open_span(_tracer, node, prefixed({"summary_id": summary_id, "node": node, **attributes}))


def note_text(span: Span, outcome: TextOutcome, *, is_reused: bool) -> None:
    """Adds what a map or reduce call came to."""
    usage = outcome.written.usage
    note(
        span,
        reused=is_reused,
        output_tokens=outcome.tokens,
        retained_share=outcome.retention.share,
        finish_reason=outcome.written.finish_reason,
        model_calls=0 if is_reused else usage.calls,
    )


def note_result(span: Span, result: SummaryResult) -> None:
    """Adds what a run came to."""
    note(
        span,
        status=result.status.value,
        writer=result.writer,
        iterations=result.iterations,
        calls_done=result.calls_done,
        calls_planned=result.calls_planned,
        calls_reused=result.calls_reused,
        model_calls=result.usage.calls,
        prompt_tokens=result.usage.prompt_tokens,
        completion_tokens=result.usage.completion_tokens,
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        retained_share=result.retention.share if result.retention else None,
        removed_duplicates=result.duplicate_count,
        topics=len(result.topics),
        warnings=len(result.warnings),
    )
    if result.failure is not None:
        span.set_attribute("error.type", result.failure.kind)
        span.set_status(Status(StatusCode.ERROR, result.failure.message))


def traceparent(span: Span) -> str | None:
    """Returns the W3C traceparent of a span; None when it is recorded nowhere."""
    carrier: dict[str, str] = {}
    if span.is_recording():
        _propagator.inject(carrier, trace.set_span_in_context(span))
    return carrier.get(_TRACEPARENT)


def link_to(span: Span, earlier: Sequence[str]) -> None:
    """Links the span of a run to those of the summary's runs before, given as W3C traceparents."""
    note(span, earlier_runs=len(earlier))
    for parent in earlier:
        context = _propagator.extract({_TRACEPARENT: parent})
        span.add_link(trace.get_current_span(context).get_span_context())
