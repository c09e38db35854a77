"""The program `precis` over mutual TLS."""

from pathlib import Path

import trustme

from tests.integration.conftest import Start
from tests.integration.support.programs import precis


def written(path: Path, *blobs: trustme.Blob) -> Path:
    path.write_bytes(b"".join(blob.bytes() for blob in blobs))
    return path


async def test_certificates_are_given_by_options(start: Start, tmp_path: Path) -> None:
    servers, clients = trustme.CA(), trustme.CA()
    server, client = servers.issue_cert("localhost"), clients.issue_cert("client")
    tls = {
        "certificate_file": written(tmp_path / "server.pem", *server.cert_chain_pems),
        "key_file": written(tmp_path / "server.key", server.private_key_pem),
        "client_ca_file": written(tmp_path / "clients.pem", clients.cert_pem),
    }
    authority = written(tmp_path / "servers.pem", servers.cert_pem)
    identity = (
        *("--tls-cert", written(tmp_path / "client.pem", *client.cert_chain_pems)),
        *("--tls-key", written(tmp_path / "client.key", client.private_key_pem)),
    )
    async with start(tls=tls) as app:
        address = app.address.replace("127.0.0.1", "localhost")
        assert (await precis("health", "-a", address, "--tls-ca", authority, *identity)).code == 0
        stranger = await precis("health", "-a", address, "--tls-ca", tls["client_ca_file"], *identity)
        assert stranger.code == 3
        assert f"cannot reach {address} over TLS" in stranger.error
        assert "--tls-ca" in stranger.error
        plain = await precis("health", "-a", address)
        assert plain.code == 3
        assert "cannot reach" in plain.error
