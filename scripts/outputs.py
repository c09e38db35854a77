"""Runs what the pages show, and compares what it prints with what they say it prints.

A fence of `text` is the output of the program before it: of Python, or of the last command of a console. It may be a
part: whole lines that follow each other, or the beginning of one. A fence of `json` is the file items.jsonl of the
commands behind it. Numbers may differ by TOLERANCE, since a processor without the compiled core rounds elsewhere.

Run: python -m scripts.outputs [PAGE ...]
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from scripts.benchmarks.shared.precis_server import PrecisServer, free_port
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    *("README.md", "docs/index.md", "docs/start/evaluate.md", "docs/start/serve.md", "docs/start/summarize.md"),
    "docs/concepts/language-models.md",
)
TOLERANCE = 0.02
LONGEST_S = 300.0
_NUMBER = re.compile(r"\d+\.\d+")
_WORD = re.compile(r"\w")  # a line without one is a table's rule


class Fence(NamedTuple):
    """A block of a page: its language, its text, and the line on which it begins."""

    language: str
    text: str
    line: int


class ShownOutput(NamedTuple):
    """An output that a page shows, what prints it, and the items that the page has given by then."""

    program: Fence
    output: Fence
    items: str


def shown_outputs(page: str) -> Iterator[ShownOutput]:
    """Lists the outputs of a page, each with the program before it."""
    fences = [
        Fence(token.info, token.content, (token.map or [0])[0] + 1)
        for token in MarkdownIt().parse(page)
        if token.type == "fence"
    ]
    program, items = Fence("", "", 0), ""
    for fence in fences:
        if fence.language in {"python", "console"}:
            program = fence
        elif fence.language == "json":
            items = fence.text
        elif fence.language == "text":
            yield ShownOutput(program, fence, items)


def last_command(console: str) -> str:
    """Returns the last command of a fence, without its prompt; a comment behind it is the shell's."""
    return console.rpartition("$ ")[2]


@contextmanager
def language_model() -> Iterator[str]:
    """Yields host and port of an endpoint whose model does what `precis llm check` asks for."""
    replies = Reply("Polly", "Polly"), Reply("JSON schema", '{"greeting": "Hello Ann", "warmth": 3}')
    told = {"/v1/models": {"data": [{"id": "qwen3", "max_model_len": 32_768}]}}
    endpoint = ScriptedEndpoint(Script(models=("qwen3",), replies=replies, tells=told))
    loop = asyncio.new_event_loop()
    loop.run_until_complete(endpoint.start())
    thread = threading.Thread(target=loop.run_forever, name="language-model")
    thread.start()
    try:
        yield endpoint.base_url.removeprefix("http://").removesuffix("/v1")
    finally:
        asyncio.run_coroutine_threadsafe(endpoint.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def run(shown: ShownOutput, server: PrecisServer, http_port: int, llm: str) -> str:
    """Runs a program as the page shows it, but at servers of its own. Returns all that it prints."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scripts").symlink_to(ROOT / "scripts")
        (folder / "items.jsonl").write_text(shown.items, encoding="utf-8")
        text = shown.program.text.replace("127.0.0.1:50051", server.address)
        if shown.program.language == "python":
            file = folder / "test_page.py"
            file.write_text(text, encoding="utf-8")
            is_test = "\ndef test_" in text
            plugin = ["-m", "pytest", "-q", "-p", "precis.integrations.pytest_plugin", "--rootdir", name]
            command = [sys.executable, *(plugin if is_test else []), str(file)]
        else:
            line = last_command(text).replace("127.0.0.1:8080", f"127.0.0.1:{http_port}")
            line = line.replace("127.0.0.1:8000", llm)
            command = ["bash", "-c", line.replace(".venv/bin/", "")]
        bin_first = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        paths = {"PATH": bin_first, "PYTHONPATH": f"{ROOT}:{ROOT / 'protos'}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment = {**os.environ, **paths, "PRECIS_ADDRESS": server.address, "COLUMNS": "120"}
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
        return ended.stdout + ended.stderr


def is_in(shown: str, printed: str) -> bool:
    """Tells whether the lines of `shown` stand in `printed` one after the other.

    Spaces, empty lines, the rules of a table and pytest's margin make no difference.
    """
    wanted, lines = ([_plain(line) for line in text.splitlines() if _WORD.search(line)] for text in (shown, printed))
    starts = range(len(lines) - len(wanted) + 1)
    return any(all(map(_is_same, wanted, lines[start:])) for start in starts)


def _plain(line: str) -> str:
    return " ".join(re.sub(r"^E {2,}", "", line).split())


def _is_same(shown: str, printed: str) -> bool:
    if not _NUMBER.sub("", printed).startswith(_NUMBER.sub("", shown)):
        return False
    numbers = (map(float, _NUMBER.findall(line)) for line in (shown, printed))
    return all(abs(one - other) <= TOLERANCE for one, other in zip(*numbers, strict=False))


def differences(pages: Sequence[str] = PAGES) -> dict[str, str]:
    """Returns what is printed in place of what a page shows, by page and line; empty when all is as shown."""
    http_port = free_port()
    found = {}
    with (
        tempfile.TemporaryDirectory() as summaries,
        language_model() as llm,
        PrecisServer(
            ROOT / "models",
            {
                "PRECIS_HTTP__ENABLED": "true",
                "PRECIS_HTTP__PORT": str(http_port),
                "PRECIS_SUMMARY_STORAGE__DIRECTORY": summaries,
            },
        ) as server,
    ):
        for page in pages:
            for shown in shown_outputs((ROOT / page).read_text(encoding="utf-8")):
                printed = run(shown, server, http_port, llm)
                if not is_in(shown.output.text, printed):
                    found[f"{page}:{shown.output.line}"] = printed
    return found


def main() -> int:
    """Prints what differs. Returns 1 when something does."""
    found = differences(sys.argv[1:] or PAGES)
    for place, printed in found.items():
        print(f"== {place}: is printed now\n{printed}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
