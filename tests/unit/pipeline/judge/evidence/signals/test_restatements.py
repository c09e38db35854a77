"""Padding: a truth that is said in many ways raises a score once, and what is wrong lowers it each time."""

import itertools
from collections.abc import Sequence

import pytest

from pipeline.judge.evidence.signals.statements import ClaimWords, count_same
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.locks.hallucination import ClaimCounts
from pipeline.support.claim_support import ClaimLabel
from tests.fakes_pipeline import ScriptedEntailment
from tests.unit.pipeline.judge.evidence.tables_by_fakes import ARTICLE, build

TRUE = "The council will close the old steel bridge over the river."
OTHER = "Shop owners in the old town fear that they will lose customers."
WAYS = [
    f"{subject} council {adverb} close the old {words}bridge over the river."
    for subject in ("The", "This")
    for adverb in ("will", "will truly", "will simply", "will of course")
    for words in ("", "steel ", "Brookfield steel ")
]


def judged(*sentences: str, entailment: float = 0.95) -> EvidenceTable:
    return build(summary=" ".join(sentences), entailment=ScriptedEntailment(default=entailment))


def times_said(*sentences: str) -> list[int]:
    return [claim.times_said for claim in judged(*sentences).claims]


def test_ways_to_say_one_thing_weigh_as_much_as_one() -> None:
    claims = judged(*WAYS, OTHER).claims
    assert [claim.times_said for claim in claims] == [len(WAYS)] * len(WAYS) + [1]
    assert sum(claim.weight for claim in claims) == 2


@pytest.mark.parametrize(
    "adverb", ["truly", "certainly", "quite simply", "in actual fact", "evidently", "it must be stressed", "notably"]
)
def test_filler_makes_no_other_statement(adverb: str) -> None:
    assert times_said(TRUE, TRUE.replace("will", f"will {adverb}"), OTHER) == [2, 2, 1]


def test_every_order_gives_the_same_weights() -> None:
    said = ["The bridge over the river will close.", TRUE, WAYS[5], OTHER, "The state will pay half of the repairs."]
    expected = dict(zip(said, times_said(*said), strict=True))
    assert set(expected.values()) == {1, 3}
    for order in itertools.permutations(said):
        assert times_said(*order) == [expected[sentence] for sentence in order]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Repairs are expected to cost $4.2 million.", "Repairs are expected to cost $5.2 million."),
        ("The council of Brookfield voted to close the bridge.", "The council of Hatton voted to close the bridge."),
        ("Mayor Anna Holt said the bridge had become unsafe.", "Mayor Tom Reed said the bridge had become unsafe."),
        (TRUE, OTHER),
        ("The bridge was built in 1931.", "Engineers found cracks in three supports."),
    ],
)
def test_another_statement_is_no_restatement(first: str, second: str) -> None:
    assert times_said(first, second) == [1, 1]


def test_what_one_sentence_of_the_source_does_not_support_together_is_told_apart() -> None:
    source = "The gate closes when the value is low. The gate opens when the value is high. " + ARTICLE
    told = "The gate closes when the value is low. The gate opens when the value is high."
    claims = build(source, told, entailment=ScriptedEntailment(default=0.95)).claims
    assert [claim.times_said for claim in claims] == [1, 1]


COUNCIL = "The council of Marrow Sound approved {} at its meeting on Tuesday evening."
ITEMS = ["the budget", "the new roof of the school", "the bus line", "the swimming pool", "the library"]
FACTS = [COUNCIL.format(item) for item in (*ITEMS, "the bicycle path")]
WHOLE = COUNCIL.format(f"{', '.join(ITEMS)} and the bicycle path")
PUMPS = "The {} of the harbour station at Marrow Sound were replaced by divers in spring."
SIDES = ("north", "south", "east", "west")
PLATES = [
    f"{subject} gate {is_one} a single {words} plate."
    for subject in ("The", "This", "That")
    for is_one in ("is", "is just", "is simply", "is truly")
    for words in ("steel", "heavy steel", "wide steel")
]


def times_said_of(source: str, told: Sequence[str], entailment: float = 0.95) -> list[int]:
    table = build(f"{source} {ARTICLE}", " ".join(told), entailment=ScriptedEntailment(default=entailment))
    return [claim.times_said for claim in table.claims]


@pytest.mark.parametrize(
    ("source", "facts"),
    [
        (WHOLE, FACTS),
        (PUMPS.format("north, south, east and west pumps"), [PUMPS.format(f"{side} pumps") for side in SIDES]),
    ],
)
def test_facts_of_one_shape_weigh_one_each(source: str, facts: list[str]) -> None:
    assert times_said_of(source, facts) == [1] * len(facts)
    assert times_said_of(source, [*facts, facts[0].replace("The", "This")]) == [2] + [1] * (len(facts) - 1) + [2]


@pytest.mark.parametrize("more", [COUNCIL.format("plans"), WHOLE])
def test_what_is_part_of_all_of_them_or_has_them_all_joins_one_alone(more: str) -> None:
    expected = dict(zip((*FACTS, more), times_said_of(WHOLE, [*FACTS, more]), strict=True))
    assert sorted(expected.values()) == [1] * 5 + [2] * 2
    for order in itertools.islice(itertools.permutations(expected), 0, None, 97):
        assert times_said_of(WHOLE, order) == [expected[fact] for fact in order]


@pytest.mark.parametrize(("source", "most"), [("The gate is a single steel plate.", 1), (PLATES[2], 1)])
def test_near_repeats_weigh_one(source: str, most: int) -> None:
    assert sum(1 / times for times in times_said_of(source, PLATES)) == pytest.approx(most)


def test_near_repeats_with_two_words_of_the_source_by_turns_weigh_two() -> None:
    times = times_said_of("The gate is a single heavy, wide steel plate.", PLATES)
    assert sum(1 / said for said in times) == pytest.approx(2)


def test_choices_among_the_words_of_a_sentence_weigh_no_more_than_these_words() -> None:
    words = ["old", "grey", "iron", "north", "narrow", "coastal"]
    told = "The council of Marrow Sound closed the {} bridge over the river on Tuesday evening."
    ways = [told.format(" ".join(chosen)) for chosen in itertools.combinations(words, 3)]
    assert sum(1 / said for said in times_said_of(told.format(" ".join(words)), ways)) <= len(words)


def test_what_is_invented_is_told_apart_by_words_that_the_source_has_not() -> None:
    deeds = ["dynamited", "embezzled", "auctioned", "smuggled", "flooded", "pawned", "torched", "kidnapped"]
    invented = [f"Mayor Edwin Okafor {deed} the tide gate at the harbour." for deed in deeds]
    source = "Mayor Edwin Okafor opened the tide gate at the harbour."
    assert times_said_of(source, invented, entailment=0.02) == [1] * len(deeds)
    again = invented[0].replace("dynamited", "simply dynamited")
    assert times_said_of(source, [*invented, again], entailment=0.02) == [2] + [1] * (len(deeds) - 1) + [2]


def test_each_claim_is_compared_with_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    is_like = ClaimWords.is_like

    def counted(one: ClaimWords, other: ClaimWords) -> bool:
        nonlocal compared
        compared += 1
        return is_like(one, other)

    monkeypatch.setattr(ClaimWords, "is_like", counted)
    frame = {"mayor", "tide", "gate", "harbour"}
    told = [frozenset({*frame, f"deed{at}"}) for at in range(500)]
    assert count_same([ClaimWords(stems, stems, frozenset()) for stems in told]) == [1] * 500
    assert compared <= 64 * 500


@pytest.mark.parametrize(
    ("entailment", "label"), [(0.02, ClaimLabel.UNSUPPORTED), (0.35, ClaimLabel.PARTIAL), (0.95, ClaimLabel.SUPPORTED)]
)
def test_what_is_not_supported_counts_each_time(entailment: float, label: ClaimLabel) -> None:
    ways = WAYS[:6]
    once, often = judged(OTHER, ways[0], entailment=entailment), judged(OTHER, *ways, entailment=entailment)
    assert {claim.label for claim in often.claims} == {label}
    counts = [ClaimCounts.of(table.claims) for table in (once, often)]
    assert counts[1].unsupported == (7 if label is ClaimLabel.UNSUPPORTED else 0)
    assert counts[1].unsupported_fraction == counts[0].unsupported_fraction
    assert counts[1].total == 7


def test_clauses_and_the_segments_that_they_stand_in_are_weighed_too() -> None:
    parts = [way.rstrip(".") for way in WAYS[:6]]
    table = judged(f"{'; '.join(parts)}.", OTHER)
    assert [claim.times_said for claim in table.claims] == [6] * 6 + [1]
    assert [segment.times_said for segment in table.segments] == [6] * 6 + [1]


def drift(sentences: Sequence[str]) -> tuple[float, float, float, float]:
    tone = judged(*sentences).tone
    return tone.stance_distance, tone.tone_distance, tone.meaning_distance, tone.focus_distance


def test_many_ways_bring_neither_tone_nor_stance_closer_than_one() -> None:
    bad = "Sadly, the terrible council brings grief and death to Brookfield, its shop owners and the old bridge."
    ways = [way for way in WAYS if "truly" not in way]  # which sounds glad
    once, often = drift([bad, ways[0]]), drift([bad, *ways])
    assert often[0] >= once[0] - 1e-9
    assert often[1] >= once[1]


def test_every_claim_is_read_and_listed_however_often_it_is_said() -> None:
    claims = judged(*WAYS).claims
    assert [claim.passage.text for claim in claims] == WAYS
    assert {claim.label for claim in claims} == {ClaimLabel.SUPPORTED}
