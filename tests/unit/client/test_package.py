"""What is installed: names, versions and both clients alike; what `precis` and a type checker say to users."""

import inspect
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import precis
import pytest
from precis import AsyncClient, Client
from precis.__main__ import PACKAGES, main

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


def test_an_interrupt_while_commands_are_loaded_ends_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("precis.__main__.import_module", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main()


def test_every_public_name_is_there() -> None:
    assert [name for name in precis.__all__ if getattr(precis, name, None) is None] == []
    assert set(precis.__all__) <= set(dir(precis))
    with pytest.raises(AttributeError, match="no attribute 'Cliemt'"):
        precis.Cliemt  # type: ignore[attr-defined] # noqa: B018 - the subject of this test


def test_server_and_client_have_one_version_and_the_client_needs_grpc_and_protobuf_alone() -> None:
    server, client = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (".", "protos")
    )
    assert server["version"] == client["version"] == precis.__version__
    assert f"precis-client=={client['version']}" in server["dependencies"]
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


def run(*paths: Path, isolated: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs `precis --version`; without the installed packages when it is isolated."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, paths))}
    flags = ["-S"] if isolated else []
    return subprocess.run(
        [sys.executable, *flags, "-P", "-m", "precis", "--version"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def foreign(folder: Path, name: str) -> Path:
    """Writes a package that is not ours."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("raise ImportError('No module named inference_models')\n")
    return folder


def test_the_marks_of_our_packages_are_there_and_the_server_is_found() -> None:
    for name, module in PACKAGES.items():
        assert (ROOT / name / module).is_file()
        assert (ROOT / name / "__init__.py").stat().st_size == 0
    ended = run(ROOT, ROOT / "protos")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("precis ")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_hides_ours_is_named(tmp_path: Path, name: str) -> None:
    ended = run(foreign(tmp_path, name), ROOT, ROOT / "protos")
    assert ended.returncode == 4
    [line] = ended.stderr.splitlines()
    assert line.startswith(f"precis: the package `{name}` of Precis is hidden by another one of this name in ")
    assert str(tmp_path / name) in line
    assert "uv tool install . --with ./protos" in line


def test_a_package_whose_files_lie_among_ours_is_named(tmp_path: Path) -> None:
    module = foreign(tmp_path, "inference") / "inference" / PACKAGES["inference"]
    module.touch()
    assert f"{tmp_path / 'inference' / '__init__.py'}" in run(tmp_path, ROOT, ROOT / "protos").stderr


@pytest.mark.parametrize("is_hidden", [False, True])
def test_without_the_server_the_client_says_how_to_install_it(tmp_path: Path, *, is_hidden: bool) -> None:
    if is_hidden:
        foreign(tmp_path, "server")
    ended = run(tmp_path, ROOT / "protos", isolated=True)
    assert ended.returncode == 4
    problem = "the server and its commands are not installed: `pip install . ./protos` in a checkout of Precis"
    assert ended.stderr == f"precis: {problem}\n"


USER = """
import precis

async def judged(pairs: list[tuple[str, str]]) -> float:
    async with precis.AsyncClient(timeout_s=5) as client:
        async for item in client.judge_batch(pairs, view="scores"):
            if item.error is not None:
                print(item.error.field, item.error.retry_delay_s)
        return (await client.judge("a", "b", frameworks=["ultra"])).hallucination

with precis.Client("127.0.0.1:50051", api_key="key", tls=precis.Tls(ca="ca.pem")) as client:
    judgement = client.judge("source", "summary", timeout_s=3)
    print(judgement.hallucination + 1, [claim.text for claim in judgement.unsupported])
    print(sum(client.embed(["text"])[0].values))
    loss: float = client.evaluate(precis.gold_standard("source", "gold"), "summary").loss
    run = client.summarize("text", name="manual")
    for step in run:
        print(step.calls_done / step.calls_total, step.phase == "map")
    print(run.result().text, client.health()["server"] == "SERVING")
    try:
        client.models()
    except precis.errors.Overloaded as error:
        print(error.retry_delay_s)
"""
MISTAKES = """
import precis

precis.Cliemt()
with precis.Client(addresz="x") as client:
    judgement = client.judge("a", sumnary="b")
    client.judge("a", "b", frameworks=["utra"])
    judgement.halucination
    judgement.claims[0].labeI
    judgement.claims[0].label == "unsupportet"
    for item in client.judge_batch([("a", "b")]):
        item.result().scores
    client.summarize("a").result().txt
    for step in client.summarize(7):
        step.call_done
"""
EXPECTED = [
    (3, 'Module has no attribute "Cliemt"'),
    (4, 'Unexpected keyword argument "addresz"'),
    (5, 'Unexpected keyword argument "sumnary"'),
    (6, "List item 0 has incompatible type \"Literal['utra']\""),
    (7, 'has no attribute "halucination"'),
    (8, 'has no attribute "labeI"'),
    (9, "Non-overlapping equality check"),
    (11, '"Judgement" has no attribute "scores"'),
    (12, '"Summary" has no attribute "txt"'),
    (13, 'Argument 1 to "summarize" of "Client" has incompatible type "int"'),
    (14, '"SummaryStep" has no attribute "call_done"'),
]


def mypy(text: str, folder: Path) -> list[str]:
    """Checks a file as a user would who has only the packages installed."""
    (folder / "user.py").write_text(text.lstrip(), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(folder / "cache"), "user.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT / "protos")},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in run.stdout.splitlines() if line.startswith("user.py")]


def test_right_use_is_clean(tmp_path: Path) -> None:
    assert mypy(USER, tmp_path) == []


def test_every_mistake_is_found_in_its_line(tmp_path: Path) -> None:
    lines = mypy(MISTAKES, tmp_path)
    for number, message in EXPECTED:
        assert [line for line in lines if line.startswith(f"user.py:{number}:") and message in line], message
