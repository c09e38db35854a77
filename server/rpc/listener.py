"""The gRPC server itself: its options, its port, its drain.

TLS and mutual TLS from PEM files that can change while the server runs.
"""

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc

from server.config import HttpConfig, ListenConfig, TlsConfig
from server.errors import StartupError
from server.rpc.admission import MIB
from server.rpc.handlers import HandlerTable


class CertificateStore:
    """The server's certificate and the roots it trusts; every handshake takes the ones read last."""

    def __init__(self, certificate_file: Path, key_file: Path, client_ca_file: Path | None) -> None:
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._client_ca_file = client_ca_file
        self._unseen: list[grpc.ServerCertificateConfiguration] = []  # by gRPC
        self.reload()

    def credentials(self) -> grpc.ServerCredentials:
        """Builds gRPC's credentials; they take what is new at a handshake.

        gRPC frees what they had while another handshake may use it: replaced each time, a crowd ended the process.
        """

        def take() -> Any:  # noqa: ANN401 - None keeps what there is, which the stubs forget
            return self._unseen.pop() if self._unseen else None

        return grpc.dynamic_ssl_server_credentials(self._unseen.pop(), take, self._client_ca_file is not None)

    def context(self) -> ssl.SSLContext:
        """Returns the context of an HTTP listener, whose handshakes go on with the one read last."""

        def go_on(handshake: ssl.SSLObject, *_: object) -> None:
            handshake.context = self._context

        self._context.sni_callback = go_on
        return self._context

    def reload(self) -> None:
        """Reads the files again. Raises StartupError and keeps the old ones when that fails."""
        try:
            # gRPC finds a bad file only at the first handshake, and then says little.
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self._client_ca_file)
            context.load_cert_chain(self._certificate_file, self._key_file)
            roots = self._client_ca_file.read_bytes() if self._client_ca_file else None
            pair = (self._key_file.read_bytes(), self._certificate_file.read_bytes())
        except (OSError, ssl.SSLError) as error:
            files = f"{self._certificate_file}, {self._key_file}, {self._client_ca_file or 'no client CA'}"
            raise StartupError(f"cannot use the TLS files ({files}): {error}; check PRECIS_TLS__*") from error
        if roots is not None:
            context.verify_mode, context.num_tickets = ssl.CERT_REQUIRED, 0  # a ticket would outlive its authority
        self._unseen[:] = [grpc.ssl_server_certificate_configuration([pair], roots)]
        self._context = context


def certificate_store(config: TlsConfig) -> CertificateStore | None:
    """Reads the files of the settings; None when the settings ask for no TLS."""
    if config.certificate_file is None or config.key_file is None:
        return None
    return CertificateStore(config.certificate_file, config.key_file, config.client_ca_file)


_IDLE_S = 300  # of a connection without a call; then it is asked to go
AGE_S = 3_600  # likewise with calls, which may end: clients find new servers, and strangers keep no place
_HANDSHAKE_S = 10  # until a connection has said what it speaks


class Listener:
    """A grpc.aio server on one port."""

    def __init__(
        self, config: ListenConfig, tables: Sequence[HandlerTable], certificates: CertificateStore | None
    ) -> None:
        """Binds the port. Raises StartupError when that cannot be done."""
        self._config = config
        self._server = grpc.aio.server(options=options(config))
        self._server.add_generic_rpc_handlers(tables)
        self.port = self._bind(certificates)

    async def start(self) -> None:
        """Begins to accept calls."""
        await self._server.start()

    async def close(self) -> None:
        """Ends what `drain` did not: a start that failed."""
        await self._server.stop(None)

    async def drain(self, cut_short: asyncio.Event) -> None:
        """Tells clients to go and lets calls in flight finish, within the grace or until `cut_short`.

        What a client sends before it has heard of that is lost to gRPC, and CANCELLED, which nobody repeats. So those
        who are calling are refused for a moment first, as UNAVAILABLE: they come again when they have heard.
        """
        cut = asyncio.ensure_future(cut_short.wait())
        # Less than a client's first wait before it repeats a call (protos/precis/v1/service_config.json).
        await asyncio.wait({cut}, timeout=min(0.1, self._config.grace_s))
        stopping = asyncio.ensure_future(self._server.stop(self._config.grace_s))
        await asyncio.wait({stopping, cut}, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            await self._server.stop(None)
        cut.cancel()
        await stopping

    def _bind(self, certificates: CertificateStore | None) -> int:
        address = address_of(self._config.host, self._config.port)
        try:
            if certificates is None:
                return self._server.add_insecure_port(address)
            return self._server.add_secure_port(address, certificates.credentials())
        except RuntimeError as error:
            raise _cannot_listen(self._config, error) from error


def bound(config: ListenConfig | HttpConfig, *, reuse_port: bool = False) -> socket.socket:
    """Binds a port, or finds out before the models are loaded why it cannot be had, which gRPC does not say.

    Raises:
        StartupError: the port is in use or forbidden, or the host is not one of this machine.
    """
    host, port = config.host.strip("[]"), config.port
    try:
        family, kind, protocol, _, place = min(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        found = socket.socket(family, kind, protocol)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if reuse_port:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            found.bind(place)
        except OSError:
            found.close()
            raise
    except OSError as error:
        reason = "the port is in use" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
        raise _cannot_listen(config, reason) from error
    return found


def _cannot_listen(config: ListenConfig | HttpConfig, reason: object) -> StartupError:
    flags, section = ("`precis ui --port`", "HTTP") if isinstance(config, HttpConfig) else ("--host, --port", "LISTEN")
    advice = f"choose another address with {flags}, or PRECIS_{section}__HOST, PRECIS_{section}__PORT"
    return StartupError(f"cannot listen on {address_of(config.host, config.port)}: {reason}; {advice}")


def exposure(host: str, *, has_keys: bool, has_tls: bool) -> str | None:
    """Says in what way a server is open to others; None when it is not, or listens to its own machine alone."""
    if _is_loopback(host) or (has_keys and has_tls):
        return None
    if not has_keys:
        return "anybody who reaches this address may call: set PRECIS_AUTH__KEYS_FILE, or mutual TLS"
    return "keys travel unencrypted: set PRECIS_TLS__CERTIFICATE_FILE and PRECIS_TLS__KEY_FILE"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(host: str, port: int) -> str:
    """Joins host and port as gRPC expects them."""
    return f"[{host.strip('[]')}]:{port}" if ":" in host else f"{host}:{port}"


def options(config: ListenConfig) -> list[tuple[str, int]]:
    """Lists the channel options that follow from the settings."""
    return [
        ("grpc.so_reuseport", int(config.reuse_port)),
        # Calls that gRPC has and Python has not seen, of some 40 kB each. What is more, or waits longer, it drops at
        # random as CANCELLED; ours are refused with RetryInfo. Its defaults, 1,000 and 30 s, lost honest calls.
        ("grpc.server.max_pending_requests", 1 << 13),
        ("grpc.server.max_pending_requests_hard_limit", 1 << 13),
        ("grpc.server_max_unrequested_time_in_server", 3_600),
        ("grpc.max_allowed_incoming_connections", config.max_connections),
        ("grpc.max_connection_idle_ms", _IDLE_S * 1_000),
        ("grpc.max_connection_age_ms", AGE_S * 1_000),
        ("grpc.server_handshake_timeout_ms", _HANDSHAKE_S * 1_000),
        ("grpc.http.overload_protection", 0),  # it refuses, without RetryInfo, while calls that have ended are freed
        ("grpc.max_concurrent_streams", 100),  # of one connection, as Envoy advises; its client holds back what is more
        ("grpc.max_receive_message_length", config.max_receive_mib * MIB),
        ("grpc.max_send_message_length", config.max_send_mib * MIB),
        ("grpc.keepalive_time_ms", 60_000),  # of silence; then a client is pinged
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ]
