"""TLS, mutual TLS, and certificates that change under a running server."""

import asyncio
import signal
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import grpc
import httpx
import pytest
import trustme
from grpc import StatusCode
from precis.v1.inference_pb2 import ListModelsRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.app import App
from tests.integration.conftest import Start
from tests.integration.support.server_process import gated_server


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA, tmp_path: Path) -> dict[str, Path]:
    """Settings of a server with a certificate for localhost."""
    write_certificate(authority, tmp_path)
    return {"certificate_file": tmp_path / "cert.pem", "key_file": tmp_path / "key.pem"}


def write_certificate(authority: trustme.CA, folder: Path) -> None:
    certificate = authority.issue_cert("localhost")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    (folder / "cert.pem").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))


@asynccontextmanager
async def secure_stub(
    app: App, authority: trustme.CA, client: trustme.LeafCert | None = None
) -> AsyncIterator[InferenceServiceStub]:
    """Opens a channel of its own, hence with a handshake of its own."""
    credentials = grpc.ssl_channel_credentials(
        authority.cert_pem.bytes(),
        client.private_key_pem.bytes() if client else None,
        b"".join(blob.bytes() for blob in client.cert_chain_pems) if client else None,
    )
    address = app.address.replace("127.0.0.1", "localhost")
    options = [("grpc.use_local_subchannel_pool", 1)]  # or the next channel would take over the connection
    async with grpc.aio.secure_channel(address, credentials, options=options) as channel:
        yield InferenceServiceStub(channel)


async def test_calls_are_encrypted_and_the_server_is_known(
    start: Start, authority: trustme.CA, tls: dict[str, Path]
) -> None:
    async with start(tls=tls) as app:
        async with secure_stub(app, authority) as stub:
            assert len((await stub.ListModels(ListModelsRequest())).models) == 2
        async with secure_stub(app, trustme.CA()) as stub:
            assert await stub.ListModels(ListModelsRequest()).code() is StatusCode.UNAVAILABLE
        async with grpc.aio.insecure_channel(app.address) as channel:
            assert await InferenceServiceStub(channel).ListModels(ListModelsRequest()).code() is StatusCode.UNAVAILABLE


async def test_a_reload_takes_the_new_certificate_for_new_connections_unless_it_is_broken(
    start: Start, authority: trustme.CA, tls: dict[str, Path], tmp_path: Path
) -> None:
    successor = trustme.CA()
    async with start(tls=tls) as app, secure_stub(app, authority) as old:
        assert await old.ListModels(ListModelsRequest()).code() is StatusCode.OK
        tls["certificate_file"].write_text("not PEM", encoding="utf-8")
        app.reload()
        async with secure_stub(app, authority) as same:
            assert await same.ListModels(ListModelsRequest()).code() is StatusCode.OK
        write_certificate(successor, tmp_path)
        app.reload()
        async with secure_stub(app, successor) as new:
            assert await new.ListModels(ListModelsRequest()).code() is StatusCode.OK
        assert await old.ListModels(ListModelsRequest()).code() is StatusCode.OK


async def test_a_crowd_leaves_the_server_alive(tiny_models: Path, tls: dict[str, Path]) -> None:
    async with gated_server(tiny_models, **{f"TLS__{name.upper()}": path for name, path in tls.items()}) as server:
        host, _, port = (await server.line()).rpartition(":")
        for _ in range(20):
            for _, writer in await asyncio.gather(*[asyncio.open_connection(host, int(port)) for _ in range(200)]):
                writer.transport.abort()
        server.process.send_signal(signal.SIGTERM)
        assert await server.ended() == 0


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_idle_http_connections_make_room_in_handshakes(start: Start, tls: dict[str, Path], scheme: str) -> None:
    sections = {"http": {"enabled": True, "port": 0}, "listen": {"max_connections": 8}}
    async with start(**sections, tls=tls if scheme == "https" else {}) as app, asyncio.timeout(60):
        opened = [await asyncio.open_connection("127.0.0.1", app.http_port) for _ in range(32)]
        waiting = {asyncio.create_task(reader.readline()): writer for reader, writer in opened}
        while len(waiting) > 4:
            for one in (await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED))[0]:
                waiting.pop(one).close()
                assert one.exception() or one.result() == b""
        for writer in waiting.values():
            writer.close()
        await asyncio.wait(waiting)


async def test_certificates_of_callers_count_by_what_is_reloaded_whole_or_not_at_all(
    start: Start, authority: trustme.CA, tls: dict[str, Path], tmp_path: Path
) -> None:
    former, present, roots = trustme.CA(), trustme.CA(), tmp_path / "clients.pem"
    former.cert_pem.write_to_path(roots)
    async with start(tls={**tls, "client_ca_file": roots}, http={"enabled": True, "port": 0}) as app:

        async def is_let_in(clients: trustme.CA, not_after: datetime | None = None) -> bool:
            context, certificate = ssl.create_default_context(), clients.issue_cert("client", not_after=not_after)
            authority.configure_trust(context)
            certificate.configure_cert(context)
            async with secure_stub(app, authority, certificate) as stub:
                code = await stub.ListModels(ListModelsRequest()).code()
            assert code in (StatusCode.OK, StatusCode.UNAVAILABLE)
            async with httpx.AsyncClient(verify=context, trust_env=False) as client:
                try:
                    is_http = (await client.get(f"https://localhost:{app.http_port}/health")).is_success
                except httpx.TransportError:
                    is_http = False
            assert is_http == (code is StatusCode.OK)
            return is_http

        assert not await is_let_in(former, not_after=datetime(2020, 1, 1, tzinfo=UTC))
        async with secure_stub(app, authority) as stub:
            assert await stub.ListModels(ListModelsRequest()).code() is StatusCode.UNAVAILABLE
        assert (await is_let_in(former), await is_let_in(present)) == (True, False)
        tls["key_file"].write_bytes(authority.issue_cert("localhost").private_key_pem.bytes())  # of another certificate
        app.reload()
        write_certificate(authority, tmp_path)
        roots.write_text("not PEM", encoding="utf-8")
        app.reload()
        assert (await is_let_in(former), await is_let_in(present)) == (True, False)
        present.cert_pem.write_to_path(roots)
        app.reload()
        assert (await is_let_in(former), await is_let_in(present)) == (False, True)
