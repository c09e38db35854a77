"""Options that several commands share. Imports nothing heavy: `precis --help` reads this."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_ADDRESS = "127.0.0.1:50051"

AddressOption = Annotated[
    str,
    typer.Option("--address", "-a", envvar="PRECIS_ADDRESS", metavar="HOST:PORT", help="Where the server listens."),
]
TimeoutOption = Annotated[float, typer.Option("--timeout", "-t", min=0.001, metavar="SECONDS", help="Longest wait.")]
TlsCaOption = Annotated[
    Path | None,
    typer.Option("--tls-ca", envvar="PRECIS_TLS_CA", metavar="PEM", help="Use TLS and trust this certificate."),
]
TlsCertOption = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="PEM", help="Client certificate, for mutual TLS.")
]
TlsKeyOption = Annotated[Path | None, typer.Option("--tls-key", metavar="PEM", help="Key of the client certificate.")]
ApiKeyFileOption = Annotated[
    Path | None,
    typer.Option("--api-key-file", envvar="PRECIS_API_KEY_FILE", metavar="FILE", help="File that holds the API key."),
]


@dataclass(frozen=True)
class Connection:
    """The connection options of one command."""

    address: str = DEFAULT_ADDRESS
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    api_key_file: Path | None = None


@dataclass(frozen=True)
class OutputOptions:
    """What `precis evaluate` does with its results.

    Attributes:
        as_json: JSON on stdout instead of tables.
        file: also written there, as JSON.
        fail_over: a loss above this is a NegativeAnswer; None: no loss is.
        is_brief: scores without evidence.
    """

    as_json: bool = False
    file: Path | None = None
    fail_over: float | None = None
    is_brief: bool = False


@dataclass(frozen=True)
class EndpointOptions:
    """An OpenAI-compatible endpoint named on the command line.

    Attributes:
        url: base address.
        model: as the endpoint calls it.
        key_file: holds the endpoint's key; None for an endpoint without one.
    """

    url: str
    model: str
    key_file: Path | None = None


@dataclass(frozen=True)
class SummaryOptions:
    """How `precis summarize` has a document summarized.

    Attributes:
        audience: "technical" or "operator".
        wave: batches at once; 0 all; None the server's default.
        max_iterations: None for the server's default.
        idempotency_key: empty for none.
    """

    audience: str = "technical"
    wave: int | None = None
    max_iterations: int | None = None
    idempotency_key: str = ""
