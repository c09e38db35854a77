"""An OpenTelemetry collector: takes spans and metrics by OTLP over HTTP, as any real one does, and keeps them."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.scripted_endpoint.http import Exchange, HttpConnection

METRICS_PATH = "/v1/metrics"


@dataclass
class Collector:
    """What arrived."""

    endpoint: str = ""  # address for the settings, of spans
    metrics_endpoint: str = ""  # likewise, of metrics
    spans: list[Span] = field(default_factory=list)  # in order of arrival
    metrics: dict[str, Metric] = field(default_factory=dict)  # as last sent, by name
    resource: Mapping[str, object] = field(default_factory=dict)  # attributes of the process that sent them
    headers: Mapping[str, str] = field(default_factory=dict)  # of the last request

    async def take(self, exchange: Exchange) -> None:
        """Answers one export."""
        request = exchange.request
        is_zipped = request.headers.get("content-encoding") == "gzip"
        body = gzip.decompress(request.body) if is_zipped else request.body
        self.headers = request.headers
        if request.path == METRICS_PATH:
            for part in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.resource = attributes_of(part.resource.attributes)
                self.metrics |= {one.name: one for scope in part.scope_metrics for one in scope.metrics}
        else:
            for sent in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resource = attributes_of(sent.resource.attributes)
                self.spans += [span for scope in sent.scope_spans for span in scope.spans]
        await exchange.send(200, b"", content_type="application/x-protobuf")

    def named(self, name: str) -> list[Span]:
        """Returns the spans of a name."""
        return [span for span in self.spans if span.name == name]


@asynccontextmanager
async def collector() -> AsyncIterator[Collector]:
    """Listens while entered."""
    taken, connections = Collector(), set[HttpConnection]()
    make: Callable[[], HttpConnection] = lambda: HttpConnection(taken.take, connections)  # noqa: E731
    server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    taken.endpoint, taken.metrics_endpoint = f"{address}/v1/traces", f"{address}{METRICS_PATH}"
    try:
        yield taken
    finally:
        server.close()
        for connection in list(connections):
            connection.close()
            await connection.lost.wait()
        await server.wait_closed()


def attributes_of(pairs: "list[KeyValue] | object") -> dict[str, object]:
    """Returns attributes as a dictionary."""
    assert not isinstance(pairs, str)
    return {pair.key: _plain(pair.value) for pair in pairs}  # type: ignore[attr-defined] # a repeated field


def _plain(value: AnyValue) -> object:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None
