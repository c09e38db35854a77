"""What all rooms' OpenTelemetry spans have in common. Without the SDK they cost next to nothing.

Attributes are ids, names of ours, hashes, counts and scores: never a text of the caller or of a model.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from pipeline.errors import PipelineError

# LangGraph sends the state of every node, documents included, to a hosted service when a server's environment happens
# to hold LANGSMITH_TRACING or LANGCHAIN_TRACING_V2. This name is looked up before those.
os.environ["LANGSMITH_TRACING_V2"] = "false"

Attribute = str | int | float | bool

_tracer = trace.get_tracer("precis.judge")


@contextmanager
def open_span(
    tracer: Tracer, name: str, attributes: Mapping[str, Attribute] | None = None, *, kind: SpanKind = SpanKind.INTERNAL
) -> Iterator[Span]:
    """Opens a span. An error that comes out of the `with` is its end; only messages of our own errors are kept.

    Args:
        tracer: of the room.
        name: of few values, which traces are sorted by.
        attributes: what is known beforehand.
        kind: CLIENT for a call of another service.
    """
    with tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except BaseException as error:  # cancellation too is worth seeing in a trace
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(Status(StatusCode.ERROR, str(error) if isinstance(error, PipelineError) else None))
            raise


def open_judge_span(name: str, **attributes: Attribute) -> AbstractContextManager[Span]:
    """Opens a span of a judgement or an assessment: one for each, below it its steps.

    Args:
        name: of few values, which traces are sorted by.
        attributes: what is known beforehand; `precis.` is put before their names.
    """
    return open_span(_tracer, name, prefixed(attributes))


def prefixed(attributes: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    """Puts `precis.` before the names of our own attributes; leaves out what is None."""
    return {f"precis.{name}": value for name, value in attributes.items() if value is not None}


def note(span: Span, **attributes: Attribute | None) -> None:
    """Adds what is known at the end, under our own names; what is None is left out."""
    if span.is_recording():
        span.set_attributes(prefixed(attributes))
