"""OpenTelemetry spans of judgements: one for each, below it evidence and frameworks."""

from contextlib import AbstractContextManager

from opentelemetry import trace
from opentelemetry.trace import Span

from pipeline import tracing as spans
from pipeline.tracing import Attribute, prefixed

_tracer = trace.get_tracer("precis.judge")


def open_span(name: str, **attributes: Attribute) -> AbstractContextManager[Span]:
    """Opens a span. An error that comes out of the `with` is its end.

    Args:
        name: of few values, which traces are sorted by.
        attributes: what is known beforehand; `precis.` is put before their names.
    """
    return spans.open_span(_tracer, name, prefixed(attributes))
