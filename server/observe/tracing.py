"""Sends OpenTelemetry spans to a collector, over OTLP/HTTP. Needs the extra `tracing`.

Everything of the SDK that is not a setting of ours keeps its own variables (OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_...,
OTEL_EXPORTER_OTLP_CERTIFICATE).
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import trace

from pipeline.errors import needs_extra
from server.config import TracingConfig
from server.errors import StartupError

SERVICE_NAME_VARIABLE = "OTEL_SERVICE_NAME"


def process_attributes() -> dict[str, str]:
    """Describes this process; its name is OpenTelemetry's own variable, where that is set."""
    name = {} if os.environ.get(SERVICE_NAME_VARIABLE) else {"service.name": "precis"}
    return {"service.version": version("precis-server"), **name}


@contextmanager
def configured(config: TracingConfig) -> Iterator[None]:
    """Records and sends spans while entered; then sends what is left. Does nothing without an endpoint.

    The provider is OpenTelemetry's global one, which a process can set only once.

    Raises:
        StartupError: the extra is missing.
    """
    if config.endpoint is None:
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - only with the extra
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased  # noqa: PLC0415
    except ImportError as error:
        raise StartupError(f"tracing.endpoint {needs_extra('tracing')}") from error
    exporter = OTLPSpanExporter(
        endpoint=config.endpoint,
        headers={name: value.get_secret_value() for name, value in config.headers.items()},
        timeout=config.export_timeout_s,
    )
    provider = TracerProvider(
        resource=Resource.create(process_attributes()),
        sampler=ParentBased(TraceIdRatioBased(config.sample_share)),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=8_192))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        # A collector that is away must not keep the server: the exporter gives up, and then so does the provider.
        give_up = threading.Timer(config.export_timeout_s, exporter.shutdown)
        give_up.start()
        provider.shutdown()
        give_up.cancel()
