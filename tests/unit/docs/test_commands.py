"""The commands and variables that documents name are those that there are."""

import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from typer.main import get_command

from server.cli.main import app
from server.config import HttpConfig
from server.http.paths import PATHS, ContractExchange
from server.settings import NOT_OURS

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("deploy", "docs", "examples", "inference", "pipeline", "protos", "scripts", "server")
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
    if path.name != "CHANGELOG.md"  # it names what is gone
}
PROGRAM: Any = get_command(app)
COMMAND = re.compile(r"(?:^\$ (?:.*? )?|`)(?:\.venv/bin/)?precis ([^`\n]+)", re.MULTILINE)
VARIABLE = re.compile(r"\bPRECIS_[A-Z_]+\b")
BODY = re.compile(r"^\$ curl (?:-N )?[\w.]+(?::\d+)?(/[\w./]+)(?:[^\n]|\\\n)*?-d '([^'\n]+)'", re.MULTILINE)
SETTING = re.compile(r"`([a-z_]+(?:\.[a-z_]+)+)")
ENDINGS = {"py", "js", "go", "sh", "proto"}  # of files whose name begins like a section
OTHERS = NOT_OURS | {"PRECIS_", "PRECIS_LLM__ROLES__PLANNER__MODEL"}  # how all begin; a table by role


def commands_of(text: str) -> list[str]:
    """Lists what follows the word precis on command lines and in code; an ellipsis stands for any command."""
    return [found for found in COMMAND.findall(text) if not found.startswith("...")]


def unknown_parts(line: str) -> list[str]:
    """Lists the commands and options of a line that there are not."""
    tokens = shlex.split(re.split(r"\s[|&#>;]|\s\$", re.sub("'[^']*'", "''", line))[0], comments=True)
    command = PROGRAM
    while tokens and hasattr(command, "commands"):
        name = tokens.pop(0)
        if name.startswith("-"):
            tokens.insert(0, name)
            break
        if name not in command.commands:
            return [name]
        command = command.commands[name]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    named = [token.partition("=")[0] for token in tokens if re.match(r"--?[a-z]", token)]
    return [name for name in named if name not in options | {"--help", "-h"}]


def test_every_command_and_option_of_a_page_exists() -> None:
    lines = [(page, line) for page, text in PAGES.items() for line in commands_of(text)]
    assert len(lines) > 50
    assert {place: parts for place in lines if (parts := unknown_parts(place[1]))} == {}


def test_a_wrong_option_would_be_seen() -> None:
    [line] = commands_of("```console\n$ X=1 precis judge a.jsonl --fail-under x=1 --fale 2 | jq '.a' --b # --c\n```")
    assert unknown_parts(line) == ["--fale"]
    assert unknown_parts("models fetch") == ["fetch"]
    assert commands_of("`precis ... --resume` and `precis serve`") == ["serve"]


def test_every_body_of_a_page_is_a_request_of_its_path() -> None:
    scope: Any = {"app": SimpleNamespace(state=SimpleNamespace(config=HttpConfig()))}
    exchanges = {path.path: path.exchange(scope) for path in PATHS}  # their own, and through Envoy those of the RPCs
    exchanges |= {path.full_name: ContractExchange(path.rpc, scope) for path in PATHS}
    found = [(path, body) for text in PAGES.values() for path, body in BODY.findall(text)]
    assert len(found) >= 9
    assert all(exchanges[path].request(body.encode()) for path, body in found)


def test_every_variable_of_a_page_is_a_setting() -> None:
    named = {page: set(VARIABLE.findall(text)) for page, text in PAGES.items()}
    known = named["docs/settings.md"] | OTHERS
    assert {page: found - known for page, found in named.items() if found - known} == {}


def test_every_setting_that_a_page_names_exists() -> None:
    names = set(re.findall(r"^\| `([a-z_.]+)`", PAGES["docs/settings.md"], re.MULTILINE))
    known = {".".join(name.split(".")[:length]) for name in names for length in range(1, 5)}
    sections = {name.partition(".")[0] for name in names}
    named = {(page, name) for page, text in PAGES.items() for name in SETTING.findall(text)}
    unknown = {(page, name) for page, name in named if name.partition(".")[0] in sections and name not in known}
    assert {name for name in unknown if name[1].rpartition(".")[2] not in ENDINGS} == set()
