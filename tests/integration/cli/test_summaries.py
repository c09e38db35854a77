"""`precis summaries` against a real server."""

import json
from pathlib import Path

from tests.integration.conftest import Start
from tests.integration.summarize.summaries import PASS, bench
from tests.integration.support.programs import precis
from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.script import Script


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
