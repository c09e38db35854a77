"""How the client reaches a server: address, key, TLS, limits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import grpc

from precis.retry import DEFAULT_RETRY, SERVICE_CONFIG, RetryPolicy

DEFAULT_ADDRESS = "127.0.0.1:50051"
DEFAULT_TIMEOUT_S = 60.0
MAX_MESSAGE_BYTES = 64 * 1024 * 1024  # responses quote the evidence; the server has its own limit on requests
_MAX_RECONNECT_BACKOFF_MS = 2_000  # gRPC's own, 2 minutes, would outlast every attempt to reach a server that restarts


@dataclass(frozen=True, slots=True)
class Tls:
    """An encrypted connection. Files are read when the client is made.

    Attributes:
        ca: PEM file of the authority that the server's certificate is checked against; None: the system's.
        cert: PEM file of the client's own certificate, for mutual TLS.
        key: PEM file of its key.
    """

    ca: str | Path | None = None
    cert: str | Path | None = None
    key: str | Path | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """Reads the files. Raises OSError, and ValueError for a certificate without its key."""
        if (self.cert is None) != (self.key is None):
            raise ValueError("cert and key belong together: give both or none")
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.cert))


@dataclass(frozen=True, slots=True)
class Connection:
    """The options of one client.

    Attributes:
        address: "HOST:PORT", or any other name that gRPC resolves.
        api_key: the key itself, or a Path of the file that holds it; None: none is sent.
        tls: None: the connection is not encrypted.
        timeout_s: of a unary call that names no time.
        max_message_bytes: longest request and response.
        retry: how often failed calls are made again.
    """

    address: str = DEFAULT_ADDRESS
    api_key: str | Path | None = field(default=None, repr=False)
    tls: Tls | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    max_message_bytes: int = MAX_MESSAGE_BYTES
    retry: RetryPolicy = DEFAULT_RETRY

    def metadata(self) -> Sequence[tuple[str, str]]:
        """Returns the metadata of every call. Raises ValueError for a key that cannot be sent, and OSError."""
        if self.api_key is None:
            return ()
        key = self.api_key
        if isinstance(key, Path):
            key = key.read_text(encoding="ascii", errors="replace").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise ValueError("the API key must be one line of printable ASCII")
        return (("authorization", f"Bearer {key}"),)

    def open_channel(self) -> grpc.Channel:
        """Opens a channel for programs without asyncio. Raises as `Tls.credentials` does."""
        options = self.channel_options()
        if self.tls is None:
            return grpc.insecure_channel(self.address, options)
        return grpc.secure_channel(self.address, self.tls.credentials(), options)

    def channel_options(self) -> Sequence[tuple[str, str | int]]:
        """Returns the options of the channel."""
        return (
            ("grpc.max_receive_message_length", self.max_message_bytes),
            ("grpc.max_send_message_length", self.max_message_bytes),
            ("grpc.max_reconnect_backoff_ms", _MAX_RECONNECT_BACKOFF_MS),
            ("grpc.primary_user_agent", f"precis-client/{version('precis-client')}"),
            ("grpc.service_config", SERVICE_CONFIG),
            ("grpc.enable_retries", int(self.retry.max_attempts > 1)),
        )


def _read(path: str | Path | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
