"""The gate that docs/start/evaluate.md recommends, with the installed models and without a server."""

import asyncio
import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.unit.pipeline.judge.long_summaries import INVENTED, SENTENCES, SOURCE

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "start" / "evaluate.md").read_text(encoding="utf-8")
CLAIMS = 211


def recommended() -> list[str]:
    """Returns the options of the page's job, without its files."""
    [line] = [line for line in PAGE.splitlines() if line.startswith("- run: precis judge")]
    words = shlex.split(line.removeprefix("- run: "))
    return words[words.index("--fail-under") :]


@pytest.mark.timeout(400)
async def test_it_stops_five_inventions_among_211_claims_and_not_a_summary_without(tmp_path: Path) -> None:
    told = [one for one in SENTENCES if one not in INVENTED][: CLAIMS - len(INVENTED)]
    spread = list(told)
    for number, invented in enumerate(INVENTED, start=1):
        spread.insert(40 * number, invented)
    summaries = {"faithful": " ".join(told), "invented": " ".join(spread)}
    items = tmp_path / "items.jsonl"
    items.write_text(
        "".join(json.dumps({"id": name, "source": SOURCE, "summary": one}) + "\n" for name, one in summaries.items())
    )
    command = ["-m", "precis", "judge", str(items), "--local", "--output", str(tmp_path / "results.jsonl")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, *recommended(), cwd=ROOT, stderr=asyncio.subprocess.PIPE
    )
    said = (await process.communicate())[1].decode()
    lines = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    scores = {line["id"]: line["scores"] for line in lines}
    assert (process.returncode, "invented: the worst claim" in said, "faithful" in said) == (1, True, False)
    assert (scores["invented"]["claims"], scores["invented"]["unsupported_claims"]) == (CLAIMS, len(INVENTED))
    assert (scores["invented"]["verdict"], scores["faithful"]["verdict"]) == ("has-unsupported", "supported")
    assert scores["invented"]["ultra_hallucination"] < 7 <= scores["faithful"]["ultra_hallucination"]
