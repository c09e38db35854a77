"""`precis evaluate` over JSON Lines: many items, some of them bad, and readers that leave."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from server.app import App
from tests.integration.cli.conftest import started
from tests.integration.evaluate.evaluations import evaluate_request
from tests.integration.support.programs import ROOT, fields_of, precis


def lines_of(count: int) -> list[str]:
    return [json.dumps({"id": f"item-{seed}", **fields_of(evaluate_request(seed))}) for seed in range(count)]


async def test_bad_lines_are_errors_of_their_own(app: App) -> None:
    good = lines_of(3)
    refused = fields_of(evaluate_request())
    del refused["datum"]["entry"]
    lines = [good[0], "{", json.dumps(refused), good[1], '{"id": 7}', "\x00", good[2]]
    stdin = "\n".join(lines).encode() + b"\n\xff\xfe\n"
    ended = await precis("evaluate", "-", "--jsonl", "--json", "-a", app.address, stdin=stdin)
    assert ended.code == 4
    assert ended.error == "precis: 5 of 8 items failed; the others are done"
    results = {result["id"]: result for result in map(json.loads, ended.out.splitlines())}
    assert {name for name, result in results.items() if "response" in result} == {f"item-{seed}" for seed in range(3)}
    assert results["line 3"]["error"]["field"] == "datum.entry"
    assert "not JSON" in results["line 2"]["error"]["message"]
    assert "not UTF-8" in results["line 8"]["error"]["message"]
    assert results["7"]["error"]["field"] == "datum"


async def test_a_reader_that_leaves_is_no_error(app: App, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(lines_of(20)), encoding="utf-8")
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "precis", "evaluate", str(path), "--json", "-a", app.address),
        stdout=writing,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    os.close(writing)
    _, err = await process.communicate()
    assert (process.returncode, err.decode()) == (141, "")


async def test_ctrl_c_ends_a_bulk_run_that_waits_for_input(app: App) -> None:
    arguments = ("evaluate", "-", "--jsonl", "--json", "-a", app.address)
    running = await started(*arguments, stdin=asyncio.subprocess.PIPE)
    assert running.process.stdin is not None
    running.process.stdin.write(lines_of(1)[0].encode() + b"\n")
    assert json.loads(await running.out.readline())["id"] == "item-0"
    running.process.send_signal(signal.SIGINT)
    assert await running.process.wait() == 130
    assert (await running.err.read()).decode() == "precis: interrupted\n"
    running.process.stdin.close()
