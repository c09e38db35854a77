"""OpenTelemetry spans of assessments: one for each execution of a graph node, above those of what it does."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.trace import Span

from pipeline.judge.spans import open_span


@contextmanager
def node_span(node: str, iteration: int) -> Iterator[Span]:
    """Opens the span of a node. An error that comes out of the `with` is its end.

    Args:
        node: its name in the graph.
        iteration: from 0.
    """
    with open_span(f"assess {node}", node=node, iteration=iteration) as span:
        yield span
