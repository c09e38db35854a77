"""Help that teaches, and that does not load the server to be shown."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from typer.core import TyperGroup
from typer.main import get_group
from typer.testing import CliRunner

from inference.compile.export import GraphOrigin
from inference.models.manifest import Task
from server.cli.commands import models as cli_models
from server.cli.commands.models import ModelTask
from server.cli.main import app

ROOT = Path(__file__).resolve().parents[5]


def names_of(command: TyperGroup, before: str = "") -> Iterator[str]:
    """Yields the name of every command below one that has some, as a user writes it."""
    for name, one in command.commands.items():
        yield from names_of(one, f"{before}{name} ") if isinstance(one, TyperGroup) else (f"{before}{name}",)


COMMANDS = tuple(names_of(get_group(app)))
HEAVY = {"grpc", "google.protobuf", "numpy", "onnx", "onnxruntime", "tokenizers", "server.app", "torch"}


def run(*code_and_arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command, env = [sys.executable, *code_and_arguments], {**ENVIRONMENT, **variables}
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, env=env)


ENVIRONMENT = {
    "COLUMNS": "100",
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "protos"))),
}


def help_of(command: str) -> str:
    ended = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="precis", env={"COLUMNS": "100"})
    assert ended.exit_code == 0
    return ended.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(command: str) -> None:
    text = help_of(command)
    usage, first, *_ = (line.strip() for line in text.splitlines() if line.strip())
    assert usage.startswith(f"Usage: precis {command}")
    assert first[0].isupper()
    assert f"precis {command}" in text.partition("Examples")[2]
    assert "[bold]" not in text
    assert "\\[" not in text


def test_help_fills_its_lines_and_has_no_type_behind_a_flag() -> None:
    text = help_of("judge")
    lines = [line.strip() for line in text.splitlines()]
    first = next(at for at, line in enumerate(lines) if line.startswith("FILE.jsonl holds"))
    *filled, _ = lines[first : lines.index("", first)]
    assert filled
    assert min(map(len, filled)) > 80
    assert "<bool>" not in next(line for line in text.splitlines() if "--no-llm" in line)


def test_the_program_lists_all_commands_and_exit_codes() -> None:
    text = help_of("")
    assert all(command.split()[0] in text for command in COMMANDS)
    assert "Exit codes" in text


def test_judge_prints_the_schema_of_its_objects() -> None:
    ended = run("-m", "precis", "judge", "--schema")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["$id"] == "urn:precis:judge-objects:1"


def test_help_does_not_load_what_it_does_not_need() -> None:
    code = (
        "import sys; sys.argv = ['precis', 'evaluate', '--help']\n"
        "from server.cli.main import run\n"
        "run(sys.argv[1:]); print('loaded', *sys.modules)"
    )
    loaded = set(run("-c", code).stdout.rsplit("loaded ", 1)[1].split())
    assert "server.cli.commands.evaluate" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_said_without_loading_the_runtime(option: str) -> None:
    code = f"import sys\nfrom server.cli.main import run\ncode = run([{option!r}]); print(code, 'loaded', *sys.modules)"
    version, loaded = run("-c", code).stdout.splitlines()
    words = version.replace(",", "").split()
    assert words[::2] == ["precis", "Python", "onnxruntime"]
    assert loaded.startswith("0 loaded")
    assert set(loaded.split()) & HEAVY == set()


def test_commands_share_their_options_in_words_and_order() -> None:
    shared = ["json", "brief", "output", "resume", "concurrency", "timeout", "address", "tls-ca", "api-key-file"]
    for command in ("evaluate", "judge"):
        options = re.findall(r"│ --([a-z-]+) ", help_of(command).split(" Options ")[1])
        assert [option for option in options if option in shared] == shared


@pytest.mark.parametrize(
    ("command", "variables", "shown"),
    [
        ("evaluate /none/“file”", {"PYTHONIOENCODING": "ascii"}, "/none/?file?"),
        ("target 15000", {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, "──"),
    ],
)
def test_a_terminal_gets_what_it_can_show_and_a_pipe_utf_8(command: str, variables: dict[str, str], shown: str) -> None:
    ended = run("-m", "precis", *command.split(), **variables)
    assert shown in ended.stdout + ended.stderr


def test_the_choices_of_export_are_those_of_the_compiler() -> None:
    assert set(ModelTask) == set(get_args(Task))
    assert set(get_args(cli_models.GraphChoice)) == set(get_args(GraphOrigin))
