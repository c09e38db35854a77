"""`precis judge` over many items: bounded, one error for one bad item, and never twice for what is done."""

import json
import signal
from pathlib import Path

from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb

from tests.integration.cli.conftest import started
from tests.integration.cli.scripted_judge import ScriptedJudge
from tests.integration.support.programs import precis


def lines_of(*summaries: str) -> str:
    rows = [{"id": f"item {number}", "source": "Source.", "summary": text} for number, text in enumerate(summaries)]
    return "\n".join(map(json.dumps, rows)) + "\n"


def results_in(path: Path) -> dict[str, dict[str, object]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


def names_in(path: Path) -> set[str]:
    return {entry.name for entry in path.iterdir()}


async def test_lines_are_judged_and_never_more_than_allowed_at_once(judge: ScriptedJudge, tmp_path: Path) -> None:
    items, output = tmp_path / "items.jsonl", tmp_path / "out.jsonl"
    items.write_text(lines_of(*(f"Summary {number}." for number in range(40))), encoding="utf-8")
    judge.awaited = 3
    ended = await precis("judge", items, "-o", output, "--concurrency", 3, "-a", judge.address)
    assert (ended.code, ended.err) == (0, "")
    assert "40 items, 0 failed" in ended.out
    assert set(results_in(output)) == {f"item {number}" for number in range(40)}
    assert judge.seen.total() == 40
    assert judge.most_at_once == 3


async def test_options_reach_the_server(judge: ScriptedJudge, tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    items.write_text(lines_of("Summary."), encoding="utf-8")
    ended = await precis("judge", items, "-f", "ultra", "-f", "ultra", "--no-llm", "-a", judge.address)
    assert ended.code == 0
    request = judge.requests["Summary."]
    assert (request.source, request.summary) == ("Source.", "Summary.")
    assert request.frameworks == [pb.JUDGE_FRAMEWORK_ULTRA]
    assert request.options.HasField("use_language_model")
    assert not request.options.use_language_model
    assert request.priority == common_pb2.PRIORITY_BULK


async def test_a_bad_item_is_one_error_and_the_others_are_done(judge: ScriptedJudge, tmp_path: Path) -> None:
    items, output, report = tmp_path / "items.jsonl", tmp_path / "out.jsonl", tmp_path / "out.html"
    items.write_text(lines_of("one", "bad", "two", "busy") + "{\n", encoding="utf-8")
    ended = await precis("judge", items, "-o", output, "--report", report, "-a", judge.address)
    assert ended.code == 4
    assert ended.err.splitlines() == [f"report: {report}", "precis: 2 of 5 items failed; the others are done"]
    results = results_in(output)
    assert {name for name, row in results.items() if "result" in row} == {"item 0", "item 2", "item 3"}
    refused = results["item 1"]["error"]
    assert isinstance(refused, dict)
    assert (refused["field"], refused["message"]) == ("summary", "expected better")
    assert "not JSON" in str(results["line 5"]["error"])
    assert judge.seen["busy"] == 3
    html = report.read_text(encoding="utf-8")
    assert "INVALID_ARGUMENT: summary: expected better" in html
    assert html.count('<section class="item"') == 3


async def test_failed_items_are_judged_again_and_no_other(judge: ScriptedJudge, tmp_path: Path) -> None:
    items, output = tmp_path / "items.jsonl", tmp_path / "out.jsonl"
    items.write_text(lines_of("one", "bad", "two"), encoding="utf-8")
    assert (await precis("judge", items, "-o", output, "-a", judge.address)).code == 4
    ended = await precis("judge", items, "-o", output, "--resume", "-a", judge.address)
    assert ended.code == 4
    assert "2 kept from an earlier run" in ended.out
    assert judge.seen == {"one": 1, "two": 1, "bad": 2}
    items.write_text(lines_of("one", "good", "two"), encoding="utf-8")
    assert (await precis("judge", items, "-o", output, "--resume", "-a", judge.address)).code == 0
    assert judge.seen == {"one": 1, "two": 1, "bad": 2, "good": 1}
    assert names_in(tmp_path) == {"items.jsonl", "out.jsonl"}


async def test_a_server_that_stops_ends_the_run_and_the_next_goes_on(judge: ScriptedJudge, tmp_path: Path) -> None:
    items, output = tmp_path / "items.jsonl", tmp_path / "out.jsonl"
    items.write_text(lines_of("one", "two", "gone", "three"), encoding="utf-8")
    arguments = ("judge", items, "-o", output, "--concurrency", 1, "-a", judge.address)
    ended = await precis(*arguments)
    assert ended.code == 3
    assert ended.err.splitlines() == [
        "Done: 2 items. To go on: the same command with --resume",
        "precis: the server is stopping (try later)",
    ]
    assert names_in(tmp_path) == {"items.jsonl", "out.jsonl.partial"}
    items.write_text(lines_of("one", "two", "here", "three"), encoding="utf-8")
    assert (await precis(*arguments, "--resume")).code == 0
    del judge.seen["gone"]  # more than once: the client tries again
    assert judge.seen == {"one": 1, "two": 1, "here": 1, "three": 1}
    assert set(results_in(output)) == {f"item {number}" for number in range(4)}


async def test_ctrl_c_keeps_what_is_done(judge: ScriptedJudge, tmp_path: Path) -> None:
    items, output = tmp_path / "items.jsonl", tmp_path / "out.jsonl"
    items.write_text(lines_of("one", "never"), encoding="utf-8")
    arguments = ("judge", items, "-o", output, "--json", "-a", judge.address)
    running = await started(*arguments)
    assert json.loads(await running.out.readline())["id"] == "item 0"
    running.process.send_signal(signal.SIGINT)
    _, err = await running.process.communicate()
    assert running.process.returncode == 130
    assert err.decode().splitlines() == [
        "Done: 1 item. To go on: the same command with --resume",
        "precis: interrupted",
    ]
    items.write_text(lines_of("one", "two"), encoding="utf-8")
    assert (await precis(*arguments, "--resume")).code == 0
    assert judge.seen["one"] == 1


async def test_an_item_that_takes_too_long_is_one_error(judge: ScriptedJudge) -> None:
    stdin = lines_of("never", "one").encode()
    ended = await precis("judge", "-", "--json", "--timeout", "0.5", "-a", judge.address, stdin=stdin)
    assert ended.code == 4
    results = {row["id"]: row for row in map(json.loads, ended.out.splitlines())}
    assert "raise --timeout" in results["item 0"]["error"]["message"]
    assert "result" in results["item 1"]


async def test_limits_decide_the_exit_code(judge: ScriptedJudge) -> None:
    stdin = lines_of("one", "two").encode()
    in_turn = ("judge", "-", "--concurrency", "1", "-a", judge.address)  # faults are named as they come
    low = await precis(*in_turn, "--fail-under", "twin-lock:hallucination=7", stdin=stdin)
    assert (low.code, low.error) == (
        1,
        "precis: under the limit: item 0: twin-lock hallucination 3.00 < 7; item 1: twin-lock hallucination 3.00 < 7",
    )
    met = await precis("judge", "-", "--fail-under", "twin-lock:hallucination=3", "-a", judge.address, stdin=stdin)
    assert (met.code, met.err) == (0, "")
