"""Parts of a summary that state nothing of its source: how many are checked as claims.

`non_claims.jsonl` has summaries of `article.txt` with one such part each, of eleven kinds. No rule was
written from them.
"""

import json
from pathlib import Path

from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner

_DATA = Path(__file__).resolve().parents[2] / "data" / "judge"


async def measure_non_claims(runner: JudgeRunner, results: Results) -> None:
    """Reports how many parts are judged as if they said something."""
    source = (_DATA / "article.txt").read_text(encoding="utf-8")
    cases = [json.loads(line) for line in (_DATA / "non_claims.jsonl").read_text(encoding="utf-8").splitlines()]
    judged = await runner.check_claims([(source, case["summary"]) for case in cases], "parts that state nothing")
    found = [
        case["kind"]
        for case, claims in zip(cases, judged, strict=True)
        if any(claim.passage.quote in case["nothing"] or case["nothing"] in claim.passage.quote for claim in claims)
    ]
    results.add(f"parts that state nothing, judged as claims, of {len(cases)}", str(len(found)), ", ".join(found))
    results.figures["non_claims_judged"] = len(found)
