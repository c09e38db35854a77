"""What is installed: names that load when they are used, one version, both clients alike."""

import inspect
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import precis
import pytest
from precis import AsyncClient, Client

ROOT = Path(__file__).resolve().parents[3]
HEAVY = ("grpc", "asyncio", "importlib.metadata")


def loaded_by(statement: str) -> set[str]:
    listing = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-S", "-c", listing], env=env(), capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def env() -> dict[str, str]:
    """Without the site packages' .pth files, which load modules of their own."""
    return {"PYTHONPATH": ":".join([str(ROOT / "protos"), *filter(None, sys.path)])}


def methods(client: type) -> dict[str, Callable[..., Any]]:
    return {name: method for name, method in vars(client).items() if callable(method) and not name.startswith("_")}


@pytest.mark.parametrize(
    "statement", ["import precis", "import precis.v1.judge_pb2", "from precis.v1 import common_pb2"]
)
def test_the_messages_load_nothing_of_the_client(statement: str) -> None:
    loaded = loaded_by(statement)
    assert "precis" in loaded
    assert loaded & set(HEAVY) == set()
    assert {"precis.client", "precis.errors"} & loaded == set()


def test_every_public_name_is_there() -> None:
    assert [name for name in precis.__all__ if getattr(precis, name, None) is None] == []
    assert set(precis.__all__) <= set(dir(precis))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Cliemt'"):
        precis.Cliemt  # type: ignore[attr-defined] # noqa: B018 - the subject of this test


def test_server_and_client_have_one_version() -> None:
    server, client = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (".", "protos")
    )
    assert server["version"] == client["version"] == precis.__version__
    assert f"precis-client=={client['version']}" in server["dependencies"]


def test_the_client_needs_grpc_and_protobuf_alone() -> None:
    project = tomllib.loads((ROOT / "protos" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(name.split(">=")[0] for name in project["dependencies"]) == ["grpcio", "protobuf"]


def test_both_clients_have_the_same_methods_with_the_same_arguments() -> None:
    sync, asyncio = methods(Client), methods(AsyncClient)
    assert list(sync) == list(asyncio)
    for name, method in sync.items():
        here, there = (list(inspect.signature(found).parameters.values()) for found in (method, asyncio[name]))
        assert [(one.name, one.kind, one.default) for one in here] == [
            (one.name, one.kind, one.default) for one in there
        ]
    assert inspect.signature(Client) == inspect.signature(AsyncClient)


def test_the_messages_of_others_do_not_clash_with_their_packages() -> None:
    statement = (
        "from precis import wire_messages as w; [w.wire_message(n) for n in ('Status', 'HealthCheckRequest')]; "
        "import google.rpc.status_pb2, google.rpc.error_details_pb2, grpc_health.v1.health_pb2"
    )
    assert "google.rpc.error_details_pb2" in loaded_by(statement)
