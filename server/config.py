"""Settings of the server itself; `settings.py` joins them with those of the other packages."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from pipeline.frozen import FrozenModel


def _checked_address(value: str | None) -> str | None:
    parts = urlsplit(value or "http://none")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
        raise ValueError("must be an http:// or https:// address without user and password: a key goes in headers")
    return value


HttpAddress = Annotated[str | None, AfterValidator(_checked_address)]


class ListenConfig(FrozenModel):
    """Where and how the server listens."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 or [::] for every interface.")
    port: int = Field(default=50051, ge=0, le=65535, description="gRPC port; 0 lets the system choose one.")
    reuse_port: bool = Field(
        default=False,
        description="SO_REUSEPORT: several server processes share the port. Off, a busy port is an error.",
    )
    max_receive_mib: int = Field(
        default=32,
        ge=1,
        le=2047,
        description="Largest request message. What fits, but holds too long a text, is refused by the name "
        "of its field.",
    )
    max_list_mib: int = Field(
        default=4, ge=1, le=2047, description="Likewise for InferenceService, whose messages hold no documents."
    )
    max_send_mib: int = Field(default=64, ge=1, le=2047, description="Largest response message in MiB.")
    max_concurrent_calls: int = Field(
        default=1024,
        ge=1,
        description="Calls in flight; more are refused with RESOURCE_EXHAUSTED. A tenant, or without keys a host, "
        "gets no more than are free.",
    )
    max_request_mib: int = Field(
        default=512,
        ge=1,
        description="All requests that are worked on, in MiB; more are refused before parsing. Shared likewise.",
    )
    max_unsent_mib: int = Field(
        default=256,
        ge=1,
        description="All answers that clients have not taken, in MiB. A client may have as much as is free.",
    )
    body_timeout_s: float = Field(
        default=30, gt=0, description="How long the message of a call may take to arrive; then the call is ended."
    )
    idle_timeout_s: float = Field(
        default=600,
        gt=0,
        description="How long a client may send nothing into a stream, or take nothing from it; then it is ended.",
    )
    max_connections: int = Field(
        default=4096, ge=1, description="Connections of a listener; more are closed. Idle ones make room before."
    )
    grace_s: float = Field(
        default=30, ge=0, description="How long calls in flight may take to finish after SIGTERM; then they are cut."
    )


class LimitsConfig(FrozenModel):
    """What one request of InferenceService may hold. More is INVALID_ARGUMENT that names the field."""

    max_items: int = Field(default=10_000, ge=1, description="Texts of an Embed, pairs of an Entail request.")
    max_text_chars: int = Field(
        default=100_000,
        ge=1,
        description="Characters of one text. The models read a few hundred tokens; the rest would only be tokenized.",
    )


class ServicesConfig(FrozenModel):
    """How EvaluateService, JudgeService and SummarizeService work, each with threads of its own."""

    max_stream_items: int = Field(
        default=8,
        ge=1,
        description="Items of one EvaluateStream or JudgeBatch at once. More is not faster: a few keep all "
        "workers busy.",
    )
    max_queue_wait_s: float = Field(
        default=600,
        ge=0,
        description="How long an item of a stream, or a summary, waits for room in the models' queue before "
        "it is refused.",
    )
    cpu_threads: int = Field(default=2, ge=1, description="Threads of a service for its texts, beside the event loop.")
    chunk_tokens: int = Field(
        default=300,
        ge=16,
        description="Most tokens, as estimated, of a chunk when a request holds a text; 350 pages give about 1,400.",
    )
    inline_chars: ClassVar[int] = 2_000  # texts of an item up to here are read on the event loop: about 2 ms


class TlsConfig(FrozenModel):
    """TLS, and mutual TLS when a client CA is given. Files are read again on SIGHUP."""

    certificate_file: Path | None = Field(default=None, description="PEM chain of the server; without it: no TLS.")
    key_file: Path | None = Field(default=None, description="PEM private key of the certificate.")
    client_ca_file: Path | None = Field(
        default=None, description="PEM roots. Set: clients must present a certificate that one of them signed."
    )

    @model_validator(mode="after")
    def _check_pair(self) -> Self:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file go together: set both or neither")
        if self.client_ca_file is not None and self.certificate_file is None:
            raise ValueError("client_ca_file needs certificate_file and key_file")
        return self


class QuotaConfig(FrozenModel):
    """What one tenant may have of one server process; what is not set has no limit."""

    calls: int | None = Field(default=None, ge=1, description="Calls in flight.")
    items_per_minute: int | None = Field(default=None, ge=1, description="Items, as log lines count them.")
    tokens_per_day: int | None = Field(default=None, ge=1, description="Of the language model, read and written.")


class AuthConfig(FrozenModel):
    """Bearer keys."""

    keys_file: Path | None = Field(
        default=None,
        description="File with KEY NAME a line; a name is a tenant. Read again on SIGHUP. Then all calls but "
        "health checks need a key.",
    )
    quotas: dict[str, QuotaConfig] = Field(
        default={},
        description='Limits of a tenant, by name, by digits of its key\'s digest, or "*". As '
        "[auth.quotas.NAME] in the file.",
    )

    @model_validator(mode="after")
    def _check_quotas(self) -> Self:
        if self.quotas and self.keys_file is None:
            raise ValueError("quotas needs keys_file: without keys there are no tenants")
        return self


class HttpConfig(FrozenModel):
    """HTTP and JSON beside gRPC: the same calls, keys and limits. TLS is that of section `tls`."""

    enabled: bool = Field(default=False, description="Listen for HTTP. Needs the extra http.")
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="HTTP port; 0 lets the system choose one.")
    page: bool = Field(default=False, description="Serve the page of `precis ui` at /.")
    hosts: tuple[str, ...] = Field(
        default=(),
        description="Names of this server. Without keys, or with the page, requests must name one of them, an "
        "address, localhost or `host`.",
    )
    origins: tuple[str, ...] = Field(default=(), description="Sites whose pages may call, such as https://app.example.")
    max_texts: int = Field(default=32, ge=1, description="Texts of a request to /embed or /rerank, as with TEI.")
    model_aliases: tuple[str, ...] = Field(default=(), description='More names of the embedding model; "*" is any.')
    max_timeout_s: float = Field(
        default=600,
        gt=0,
        description="Longest time of a request that is no stream. A caller may ask for less with the header "
        "x-request-timeout, in seconds.",
    )


class MetricsConfig(FrozenModel):
    """Prometheus metrics over HTTP, and the same ones sent to an OpenTelemetry collector."""

    enabled: bool = Field(default=True, description="Serve /metrics.")
    host: str = Field(default="127.0.0.1", description="Address of the metrics server.")
    port: int = Field(default=9464, ge=0, le=65535, description="Port of the metrics server; 0: the system chooses.")
    otlp_endpoint: HttpAddress = Field(
        default=None,
        description="Where they are also sent by OTLP over HTTP, path included: http://127.0.0.1:4318/v1/metrics. "
        "Needs the extra tracing.",
    )
    otlp_headers: dict[str, SecretStr] = Field(
        default={}, description="Sent along; for keys, as JSON in the environment."
    )
    otlp_every_s: float = Field(default=15.0, gt=0, le=3_600, description="How often they are sent.")


class TracingConfig(FrozenModel):
    """OpenTelemetry spans of calls, summaries, graph nodes and requests to the language model."""

    endpoint: HttpAddress = Field(
        default=None,
        description="Where spans go, by OTLP over HTTP: http://127.0.0.1:4318/v1/traces. Default: nowhere. "
        "Needs the extra tracing.",
    )
    headers: dict[str, SecretStr] = Field(default={}, description="Sent along; for keys, as JSON in the environment.")
    sample_share: float = Field(
        default=1.0, ge=0, le=1, description="Share of the calls that are traced, unless the caller has decided."
    )
    export_timeout_s: float = Field(
        default=10.0, gt=0, le=60, description="How long one export, and the last one after SIGTERM, may take."
    )


class LogConfig(FrozenModel):
    """Log lines on standard error."""

    format: Literal["text", "json"] = Field(
        default="text",
        description="text: key=value; json: an object a line with the same keys, and numbers as numbers.",
    )
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severity that is written."
    )
    ok_call_sample: int = Field(
        default=1,
        ge=0,
        description="Writes one of N lines about successful calls; 0 none. Failures are always written.",
    )
