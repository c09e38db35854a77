"""The documents of the quickstart: what is evaluated is what is summarized, and the golden reference fits it."""

import json
from pathlib import Path

from precis.v1.evaluate_pb2 import PRECISION_SOURCE_SOURCE_TEXT

from pipeline.reading.terms import find_terms
from server.cli.evaluate.evaluations import read_candidates

MANUAL = Path(__file__).resolve().parents[3] / "scripts" / "data" / "manual"


def test_the_golden_reference_is_of_the_manual_and_precis_reads_it() -> None:
    text = (MANUAL / "pump-skid.md").read_text(encoding="utf-8")
    datum = json.loads((MANUAL / "gold.json").read_text(encoding="utf-8"))["datum"]
    assert datum["entry"]["text"] == text
    assert text.count("\f") == 9  # ten pages
    facts = datum["summary"]["key_facts"]
    assert 10 <= len(facts) <= 20
    assert all(entity in text for entity in datum["summary"]["entity_list"])
    known = set(find_terms(text))
    assert [fact for fact in facts if not set(find_terms(fact)) <= known] == []  # no value that the manual lacks
    [candidate] = read_candidates(MANUAL / "gold.json", [MANUAL / "pump-skid.md"])
    assert candidate.request.options.precision_source == PRECISION_SOURCE_SOURCE_TEXT
