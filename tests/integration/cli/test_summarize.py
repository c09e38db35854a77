"""`precis summarize` and `precis summaries` against a real server: what is written, and how it goes on after Ctrl+C."""

import json
import signal
from pathlib import Path

import pytest
from google.protobuf import json_format
from precis.v1 import summarize_pb2 as pb

from tests.integration.cli.conftest import started
from tests.integration.conftest import Start
from tests.integration.summarize.summaries import PASS, bench
from tests.integration.support.programs import precis
from tests.pdf import make_pdf
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.script import Script


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    """A PDF of three pages."""
    path = tmp_path / "manual.pdf"
    path.write_bytes(make_pdf(*(f"Torque bolt B-{page} to {page}0 Nm. " * 60 for page in range(1, 4))))
    return path


async def test_a_pdf_becomes_markdown_json_or_a_plan(start: Start, manual: Path, tmp_path: Path) -> None:
    async with bench(start) as served:
        arguments = ("summarize", manual, "--address", served.app.address)
        plan = await precis(*arguments, "--plan", "--json")
        calls = json.loads(plan.out)["calls"]
        assert (plan.code, served.endpoint.log.requests.total()) == (0, 0)
        output = tmp_path / "manual.md"
        written = await precis(*arguments, "--output", output)
        assert (written.code, written.out) == (0, "")
        assert "## Key topics" in output.read_text(encoding="utf-8")
        assert served.endpoint.log.answered.total() == calls
        assert f"{calls} calls" in written.err
        again = await precis(*arguments, "--json")
        summary = json_format.ParseDict(json.loads(again.out), pb.Summary())
        assert (summary.document_name, summary.calls_reused) == ("manual.pdf", calls)


async def test_a_spent_budget_says_how_to_go_on(start: Start, manual: Path) -> None:
    prices: dict[str, object] = {"prices": {"prompt_per_million": 1.0, "completion_per_million": 2.0}}
    async with bench(start, llm=prices) as served:
        address = ("-a", served.app.address)
        spent = await precis("summarize", manual, "--max-calls", "2", "--json", *address)
        assert (spent.code, served.endpoint.log.answered.total()) == (4, 2)
        summary = json.loads(spent.out)
        assert (summary["failure"]["kind"], summary["budget"]["max_calls"]) == ("BudgetSpentError", 2)
        assert 0 < summary["cost"] == summary["total_cost"]
        resumed = await precis("summarize", "--resume", summary["summary_id"], "--max-calls", "99", *address)
        assert (resumed.code, "## Key topics" in resumed.out) == (0, True), resumed.err


async def test_ctrl_c_says_how_to_go_on(start: Start, manual: Path) -> None:
    async with bench(start) as served:
        served.endpoint.gate.clear()
        running = await started("summarize", manual, "-a", served.app.address)
        summary_id = (await running.err.readline()).decode().split()[1]
        await served.endpoint.log.until(lambda log: log.in_flight > 0)
        running.process.send_signal(signal.SIGINT)
        out, err = await running.process.communicate()
        assert (running.process.returncode, out) == (130, b"")
        assert f"precis summarize --resume {summary_id} --address {served.app.address}" in err.decode()
        assert err.decode().splitlines()[-1] == "precis: interrupted"
        await served.endpoint.log.until(lambda log: log.in_flight == 0)
        served.endpoint.gate.set()
        resumed = await precis("summarize", "--resume", summary_id, "-a", served.app.address)
        assert (resumed.code, "## Key topics" in resumed.out) == (0, True)


async def test_a_partial_summary_is_written_and_is_an_error(start: Start, manual: Path) -> None:
    script = Script(replies=(PASS,), author=write, first_faults=(None,), faults=FaultPlan({Fault.QUOTA: 1.0}))
    async with bench(start, script, summarize={"wave": 1}) as served:
        ended = await precis("summarize", manual, "--json", "-a", served.app.address)
    assert ended.code == 4
    assert json.loads(ended.out)["status"] == "SUMMARY_STATUS_FAILED"
    assert "--resume" in ended.err
    assert ended.err.splitlines()[-1].startswith("precis: the summary is partial: ")


async def test_a_page_shows_what_every_sentence_stands_on(start: Start, tmp_path: Path) -> None:
    file, report = tmp_path / "manual.txt", tmp_path / "manual.html"
    file.write_text("\f".join(f"Torque bolt B-{page} to {page}0 Nm before start." for page in (1, 2)), encoding="utf-8")
    async with bench(start) as served:
        written = await precis("summarize", file, "-a", served.app.address, "--cite-pages", "--report", report)
        html = report.read_text(encoding="utf-8")
        summary_id = written.err.split("summary ")[-1].split(";")[0]
        again = await precis("summarize", "--resume", summary_id, "-a", served.app.address, "--report", report)
    assert (written.code, again.code) == (0, 0)
    assert report.read_text(encoding="utf-8").count("<a class") == html.count("<a class")  # the server has the document
    assert "Torque bolt B-2 to 20 Nm before start. [p. 2]" in written.out
    assert '<a class="claim verbatim" id="m1" href="#s1-0"' in html
    assert 'id="s2-0" href="#m2"' in html


async def test_documents_are_submitted_watched_listed_shown_and_deleted(start: Start, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.md" for name in ("pump", "valve")]
    for file in files:
        file.write_text(f"# The {file.stem}\n\nIt runs at 5 bar and is checked every 90 days.\n", encoding="utf-8")
    async with bench(start, Script(replies=(PASS,), author=write, keep_bodies=True)) as served:
        address = ("-a", served.app.address)
        submitted = await precis("summaries", "submit", *files, "--form", "bullets", *address)
        assert submitted.code == 0, submitted.err
        ids = [line.split()[0] for line in submitted.out.splitlines()]
        assert [line.split()[1] for line in submitted.out.splitlines()] == ["pump.md", "valve.md"]
        for summary_id in ids:
            watched = await precis("summaries", "watch", summary_id, *address)
            assert (watched.code, "90 days" in watched.out) == (0, True), watched.err
        listed = await precis("summaries", "list", "--json", *address)
        assert [one["summary_id"] for one in json.loads(listed.out)["summaries"]] == ids[::-1]
        table = await precis("summaries", "list", *address)
        assert all(word in table.out for word in (*ids, "done", "valve.md"))
        report = tmp_path / "pump.html"
        shown = await precis("summaries", "show", ids[0], "--report", report, *address)
        assert (shown.code, "90 days" in shown.out) == (0, True)
        assert "is checked every 90 days" in report.read_text(encoding="utf-8").rpartition("</header>")[2]
        assert "one flat Markdown list" in json.dumps(served.endpoint.log.bodies)
        assert (await precis("summaries", "delete", ids[0], *address)).code == 0
        gone = await precis("summaries", "show", ids[0], *address)
        assert gone.code != 0
        assert ids[0] in gone.err
