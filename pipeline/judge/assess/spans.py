"""OpenTelemetry spans of assessments: one for each execution of a graph node, above those of the calls it makes.

Without the SDK they cost next to nothing. Attributes are names of ours and counts: never the caller's
texts or names.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode

from pipeline.errors import PipelineError

_tracer = trace.get_tracer("precis.judge")


@contextmanager
def node_span(node: str, iteration: int) -> Iterator[Span]:
    """Opens the span of a node. An error that comes out of the `with` is its end.

    Args:
        node: its name in the graph.
        iteration: from 0.
    """
    attributes: dict[str, str | int] = {"precis.node": node, "precis.iteration": iteration}
    with _tracer.start_as_current_span(
        f"assess {node}", attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except BaseException as error:  # cancellation too is worth seeing in a trace
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(Status(StatusCode.ERROR, str(error) if isinstance(error, PipelineError) else None))
            raise


def note(span: Span, **attributes: str | int | bool) -> None:
    """Adds what is known at the end."""
    if span.is_recording():
        span.set_attributes({f"precis.{name}": value for name, value in attributes.items()})
