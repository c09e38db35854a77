"""TLS and mutual TLS from PEM files that can change while the server runs."""

import ssl
from pathlib import Path

import grpc

from server.config import TlsConfig
from server.errors import StartupError


class CertificateStore:
    """The server's certificate and the roots it trusts; every handshake takes the ones read last."""

    def __init__(self, certificate_file: Path, key_file: Path, client_ca_file: Path | None) -> None:
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._client_ca_file = client_ca_file
        self._current = self._read()

    def credentials(self) -> grpc.ServerCredentials:
        """Builds gRPC's credentials; they ask this store at every handshake."""
        is_mutual = self._client_ca_file is not None
        return grpc.dynamic_ssl_server_credentials(self._current, lambda: self._current, is_mutual)

    def reload(self) -> None:
        """Reads the files again. Raises StartupError and keeps the old ones when that fails."""
        self._current = self._read()

    def _read(self) -> grpc.ServerCertificateConfiguration:
        try:
            # gRPC finds a bad file only at the first handshake, and then says little.
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self._certificate_file, self._key_file)
            roots = self._client_ca_file.read_bytes() if self._client_ca_file else None
            pair = (self._key_file.read_bytes(), self._certificate_file.read_bytes())
        except (OSError, ssl.SSLError) as error:
            files = f"{self._certificate_file}, {self._key_file}, {self._client_ca_file or 'no client CA'}"
            raise StartupError(f"cannot use the TLS files ({files}): {error}; check PRECIS_TLS__*") from error
        return grpc.ssl_server_certificate_configuration([pair], roots)


def certificate_store(config: TlsConfig) -> CertificateStore | None:
    """Reads the files of the settings; None when the settings ask for no TLS."""
    if config.certificate_file is None or config.key_file is None:
        return None
    return CertificateStore(config.certificate_file, config.key_file, config.client_ca_file)
