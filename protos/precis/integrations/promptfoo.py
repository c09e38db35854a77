"""promptfoo: a Python assertion that judges an output against its source, without a language model.

The server is that of PRECIS_ADDRESS, its key in PRECIS_API_KEY_FILE. An assertion may say under `config`: `threshold`
(0.7), `metric` ("hallucination") and `source_key`, the variable that holds the source ("source"). Its limits are
`worst_claim` (of 10) and `max_unsupported` (claims).
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from precis.client import Client
from precis.connection import DEFAULT_ADDRESS
from precis.words import MetricName


@cache
def _client() -> Client:
    """Connects once for all tests of promptfoo's worker, which ends with its evaluation."""
    key = os.environ.get("PRECIS_API_KEY_FILE")
    return Client(os.environ.get("PRECIS_ADDRESS") or DEFAULT_ADDRESS, api_key=Path(key) if key else None)


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, object]:
    """Scores an output from 0 to 1, with the reason and the unsupported claims."""
    config: Mapping[str, Any] = context.get("config") or {}
    name: MetricName = config.get("metric", "hallucination")
    source_key = config.get("source_key", "source")
    if source_key not in context["vars"]:
        return {"pass": False, "score": 0, "reason": f"expected the source in the variable {source_key!r}"}
    judgement = _client().judge(str(context["vars"][source_key]), output)
    score = judgement.score(name) / 10
    limits = {limit: config[limit] for limit in ("worst_claim", "max_unsupported") if limit in config}
    passes = score >= config.get("threshold", 0.7) and not judgement.faults(**limits)
    return {"pass": passes, "score": score, "reason": judgement.explain(name)}
