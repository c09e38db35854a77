"""OpenTelemetry spans of this package. Without the SDK they cost next to nothing.

Attributes are names of ours, hashes, counts and scores: never a text of the caller or of a model.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode

from pipeline.errors import PipelineError

Attribute = str | int | float | bool

_tracer = trace.get_tracer("precis.judge")


@contextmanager
def open_span(name: str, **attributes: Attribute) -> Iterator[Span]:
    """Opens a span. An error that comes out of the `with` is its end.

    Args:
        name: of few values, which traces are sorted by.
        attributes: what is known beforehand; `precis.` is put before their names.
    """
    named = {f"precis.{key}": value for key, value in attributes.items()}
    with _tracer.start_as_current_span(
        name, attributes=named, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except BaseException as error:  # cancellation too is worth seeing in a trace
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(Status(StatusCode.ERROR, str(error) if isinstance(error, PipelineError) else None))
            raise


def note(span: Span, **attributes: Attribute | None) -> None:
    """Adds what is known at the end; what is None is left out."""
    if span.is_recording():
        span.set_attributes({f"precis.{key}": value for key, value in attributes.items() if value is not None})
