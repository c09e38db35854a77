"""Spans of one room, read back with the SDK."""

from collections.abc import Iterator
from types import ModuleType

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def exported_spans(room: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Has the `_tracer` of a module export to memory until the iterator goes on; for the body of a fixture."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(room, "_tracer", provider.get_tracer("test"))  # the global provider can be set only once
    yield exporter
    provider.shutdown()
