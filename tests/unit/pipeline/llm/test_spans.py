"""Spans as the GenAI conventions want them, read back with the SDK."""

import asyncio
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pipeline.llm import openai as spans
from pipeline.llm.errors import AuthenticationFailedError
from tests.exported_spans import exported_spans
from tests.scripted_endpoint.faults import Fault
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import bench, failing, request


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    yield from exported_spans(spans, monkeypatch)


def only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


async def test_a_call_is_one_client_span_with_its_tokens(exporter: InMemorySpanExporter) -> None:
    async with bench() as at:
        completion = await at.model.complete(request())
        span = only(exporter)
        assert (span.name, span.kind) == ("chat scripted", SpanKind.CLIENT)
        assert dict(span.attributes or {}) == {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "scripted",
            "gen_ai.request.max_tokens": 100,
            "gen_ai.request.temperature": 0.1,
            "gen_ai.output.type": "text",
            "gen_ai.response.model": "scripted",
            "gen_ai.response.finish_reasons": ("stop",),
            "gen_ai.usage.input_tokens": completion.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": completion.usage.completion_tokens,
            "server.address": "127.0.0.1",
            "server.port": int(at.scripted.base_url.split(":")[2].removesuffix("/v1")),
        }


async def test_retries_are_events_of_the_span(exporter: InMemorySpanExporter) -> None:
    async with bench(failing(Fault.RATE_LIMIT, Fault.RESET)) as at:
        await at.model.complete(request())
        events = [(event.name, (event.attributes or {})["error.type"]) for event in only(exporter).events]
        assert events == [("retry", "EndpointBusyError"), ("retry", "ConnectionFailedError")]
        assert only(exporter).status.status_code is StatusCode.UNSET


async def test_a_failed_call_says_why(exporter: InMemorySpanExporter) -> None:
    async with bench(Script(api_key="right")) as at:
        with pytest.raises(AuthenticationFailedError) as caught:
            await at.model.complete(request())
        span = only(exporter)
        assert (span.attributes or {})["error.type"] == "AuthenticationFailedError"
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, str(caught.value))


async def test_a_cancelled_call_ends_its_span(exporter: InMemorySpanExporter) -> None:
    async with bench() as at:
        at.scripted.gate.clear()
        call = asyncio.create_task(at.model.complete(request()))
        await at.scripted.log.until(lambda log: log.in_flight == 1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert (only(exporter).attributes or {})["error.type"] == "CancelledError"
