"""Reads a critic's answer."""

import re

from pipeline.summarize.writer import CriticVerdict

# The first word, whatever stands around it: "PASS", "**FAIL**", "Verdict: PASS". "PASS or FAIL" is no verdict.
_VERDICT = re.compile(
    r"[\W_]*(?:(?:final\s+)?(?:verdict|evaluation|decision|result|answer)[\W_]+)?(PASS|FAIL)(?:ED)?(?![^\W_])"
    r"(?![\W_]*(?:or|and)?[\W_]*(?:PASS|FAIL)(?![^\W_]))",
    re.IGNORECASE,
)


def parse_verdict(text: str) -> CriticVerdict:
    """Returns PASS or FAIL if the answer begins with it, else UNPARSEABLE."""
    match = _VERDICT.match(text)
    if match is None:
        return CriticVerdict.UNPARSEABLE
    return CriticVerdict.PASS if match.group(1).upper() == "PASS" else CriticVerdict.FAIL
