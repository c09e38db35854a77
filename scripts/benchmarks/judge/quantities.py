"""Claims that say a quantity otherwise than their source: converted ones supported, others not."""

import json
from pathlib import Path

from pipeline.support.claim_support import ClaimLabel
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner

_CASES = Path(__file__).resolve().parents[2] / "data" / "judge" / "quantities.jsonl"


async def measure_quantities(runner: JudgeRunner, results: Results) -> None:
    """Reports the share of claims about quantities that are called supported exactly if they are."""
    cases = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines()]
    judged = await runner.check_claims([(case["source"], case["claim"]) for case in cases], "quantities")
    right = [
        all(claim.label is ClaimLabel.SUPPORTED for claim in claims) == case["is_supported"]
        for case, claims in zip(cases, judged, strict=True)
    ]
    results.add(f"claims about quantities that are labelled rightly, of {len(cases)}", str(sum(right)))
    results.figures["quantities_right"] = sum(right) / len(right)
