"""Weights of claim support never decide about claims that they were fitted to."""

import numpy as np

from scripts.claim_training.example import CONTRADICTION, ENTAILMENT, Example
from scripts.claim_training.measure import EVEN
from scripts.claim_training.support import judged_by_others, peoples_claims

SOURCES = ("news", "records", "stories")


def example(source: str, number: int, label: int, edit: str = "") -> Example:
    return Example(source, f"{number:016}", "premise", f"claim {number}", label, f"{number}", None, edit)


EXAMPLES = [
    example(source, number, ENTAILMENT if number % 2 else CONTRADICTION) for source in SOURCES for number in range(40)
]
SHIFT = {"news": 0.0, "records": 8.0, "stories": 0.0}
"""How much higher the signal of a source is, of its true claims and its false ones."""


def signal(one: Example) -> float:
    is_high = (one.label == ENTAILMENT) != (int(one.group) % 10 < 2)  # one of five is on the wrong side
    return SHIFT[one.source] + (2.0 if is_high else -2.0)


EVIDENCE = [{"entailment": signal(one), "known_words": 0.0} for one in EXAMPLES]


def test_a_source_is_judged_by_weights_of_the_others() -> None:
    judged = judged_by_others(EXAMPLES, EVIDENCE)
    by_source = judged.by_source()
    assert set(by_source) == set(SOURCES)
    assert (by_source["records"].probabilities > EVEN).all()  # by weights of sources whose signal is lower


def test_sources_left_out_together_are_fitted_to_by_none_of_them() -> None:
    together = judged_by_others(EXAMPLES, EVIDENCE, ("news", "stories"))
    assert {one.source for one in together.examples} == {"news", "stories"}
    assert (together.probabilities < EVEN).all()  # by weights of the one whose signal is higher
    alone, each = judged_by_others(EXAMPLES, EVIDENCE, ("records",)), judged_by_others(EXAMPLES, EVIDENCE)
    assert np.array_equal(alone.probabilities, each.by_source()["records"].probabilities)


def test_claims_of_people_are_no_edits_whatever_the_order() -> None:
    pool = [*EXAMPLES, example("news", 99, CONTRADICTION, edit="number")]
    chosen = peoples_claims(pool)
    assert not any(one.edit for one in chosen)
    assert chosen == peoples_claims(pool[::-1])
    assert len(chosen) == len(EXAMPLES)
