"""The whole evaluation with fakes, recomputed by hand from its own result."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from math import log
from statistics import mean

import pytest

from pipeline.errors import InvalidInputError
from pipeline.evaluate.config import EvaluateConfig, EvaluateLimits, PrecisionSource
from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum, GoldStandardEntry
from pipeline.evaluate.evaluator import Evaluator
from pipeline.evaluate.result import Evaluation, HardFailRule
from tests.fakes_pipeline import (
    BagOfWordsEmbedder,
    FixedEmbedder,
    OverlapEntailment,
    ScriptedEntailment,
    WatchedTokenizer,
    fake_models,
)

FACTS = [f"Fact number {index} holds." for index in range(10)]
DATUM = GoldStandardDatum.model_validate(
    {
        "entry": {"text": "The agency raised fees. " * 60, "token_count": 5},
        "summary": {
            "main_theme": "Fees of the agency.",
            "summary": "The agency raised fees. Ann Lee objected.",
            "key_facts": FACTS,
            "logical_outline": ["Fees were raised.", "Ann Lee objected.", "A hearing took place."],
            "entity_list": ["Ann Lee", "Bob Ray"],
        },
    }
)
GENERATED = GeneratedSummary(text="Ann Lee objected. The agency raised ﬁve fees.", finish_reason="stop")
FIRST, SECOND = "Ann Lee objected.", "The agency raised five fees."
BOTH = f"{FIRST} {SECOND}"
GOLD = f"The agency raised fees. Ann Lee objected. {' '.join(FACTS)} Fees of the agency."  # as one text
SCRIPT = {
    (BOTH, FACTS[0]): 0.95,
    (BOTH, FACTS[1]): 0.9,
    (BOTH, FACTS[2]): 0.4999,
    (GOLD, FIRST): 0.99,
    (GOLD, SECOND): 0.3,
    (BOTH, "Fees were raised."): 0.8,
    (BOTH, "Ann Lee objected."): 0.9,
}


def evaluate(
    config: EvaluateConfig | None = None,
    *,
    datum: GoldStandardDatum = DATUM,
    generated: GeneratedSummary = GENERATED,
    entailment: ScriptedEntailment | OverlapEntailment | None = None,
    embedder: BagOfWordsEmbedder | FixedEmbedder | None = None,
) -> Evaluation:
    models = fake_models(entailment or ScriptedEntailment(SCRIPT), embedder)
    return asyncio.run(Evaluator(config).evaluate(datum, generated, models))


def test_every_component_is_what_the_formulas_give() -> None:
    evaluation = evaluate(embedder=FixedEmbedder({BOTH: (0.6, 0.8)}))
    parts = evaluation.components
    assert parts is not None
    assert parts.facts is not None
    assert [fact.hit for fact in parts.facts.facts] == [True, True, *[False] * 8]
    recall, precision = (mean(e.probability for e in one) for one in (parts.facts.facts, parts.facts.sentences))
    assert (parts.facts.recall, parts.facts.precision) == pytest.approx((recall, precision))
    facts = 2 * recall * precision / (recall + precision)
    assert parts.facts.score == pytest.approx(facts)
    assert parts.facts.soft_recall == pytest.approx((0.95 + 0.9 + 0.4999) / 10)
    assert parts.entities is not None
    assert parts.entities.score == 0.5
    assert parts.flow is not None
    coverage = mean(point.evidence.probability for point in parts.flow.points)
    assert parts.flow.coverage == pytest.approx(coverage)
    assert parts.flow.order < 0.01  # both points that are told are in the wrong order
    assert parts.flow.inversions == ((0, 1),)
    assert parts.semantic.score == pytest.approx(0.6)
    assert (parts.length.generated_tokens, parts.length.target_tokens, parts.length.input_tokens) == (10, 300, 300)
    expected = (
        0.40 * (1 - facts)
        + 0.20 * (1 - 0.5)
        + 0.20 * (1 - 0.7 * coverage - 0.3 * parts.flow.order)
        + 0.15 * (1 - 0.6)
        + 0.05 * min(1, log(1 + 290 / 300))
    )
    assert evaluation.loss == pytest.approx(expected)


def test_each_model_is_asked_once_and_nothing_twice() -> None:
    entailment, embedder = OverlapEntailment(), BagOfWordsEmbedder()
    evaluation = evaluate(entailment=entailment, embedder=embedder)
    ((pairs,), (texts,)) = entailment.calls, embedder.calls
    assert len(set(pairs)) == len(pairs) == evaluation.pair_count
    assert len(set(texts)) == len(texts)
    # One passage for 10 facts and 3 points; the short one of the reference is enough for 2 claims.
    assert len(pairs) == 10 + 3 + 2


def test_evidence_points_into_the_texts_as_sent() -> None:
    parts = evaluate().components
    assert parts is not None
    assert parts.facts is not None
    best = parts.facts.facts[0]
    assert best.premise is not None
    assert best.premise.text == BOTH  # read normalised
    assert (
        GENERATED.text[best.premise.start : best.premise.end] == best.premise.quote == GENERATED.text
    )  # quoted as sent
    assert best.hypothesis.text_id == "datum.summary.key_facts[0]"
    claim = parts.facts.sentences[1]
    assert claim.premise is not None
    assert (claim.premise.text_id, claim.premise.text, claim.hit) == ("datum.summary", GOLD, False)
    assert claim.hypothesis.quote == "The agency raised ﬁve fees."


def test_the_source_text_can_be_the_standard_of_precision() -> None:
    evaluation = evaluate(EvaluateConfig(precision_source=PrecisionSource.SOURCE_TEXT), entailment=OverlapEntailment())
    assert evaluation.components is not None
    assert evaluation.components.facts is not None
    premises = {e.premise.text_id for e in evaluation.components.facts.sentences if e.premise}
    assert premises == {"datum.entry.text"}


def test_what_only_frames_a_summary_is_no_claim() -> None:
    framed = GeneratedSummary(text=f"Sure! {FIRST} I hope this helps!", finish_reason="stop")
    parts = evaluate(generated=framed).components
    assert parts is not None
    assert parts.facts is not None
    assert [claim.hypothesis.quote for claim in parts.facts.sentences] == [FIRST]


def test_a_key_fact_of_two_sentences_counts_as_two_and_one_without_words_as_missed() -> None:
    facts = ["The agency has raised fees. Ann Lee has objected to fees.", *["..."] * 9]
    datum = DATUM.model_copy(update={"summary": DATUM.summary.model_copy(update={"key_facts": tuple(facts)})})
    parts = evaluate(datum=datum, entailment=ScriptedEntailment(default=0.9)).components
    assert parts is not None
    assert parts.facts is not None
    assert [fact.hit for fact in parts.facts.facts] == [True, True, *[False] * 9]
    assert parts.facts.facts[1].hypothesis.quote == "Ann Lee has objected to fees."


def test_empty_gold_lists_do_not_apply() -> None:
    datum = GoldStandardDatum.model_validate({"entry": {"text": "Fees rose."}, "summary": {"summary": "Fees rose."}})
    entailment = ScriptedEntailment()
    evaluation = evaluate(datum=datum, entailment=entailment)
    assert entailment.calls == []  # no pairs, no submission
    assert [score.applicable for score in evaluation.scores] == [False, False, False, True, True]
    assert [score.weight for score in evaluation.scores] == pytest.approx([0, 0, 0, 0.75, 0.25])


def test_a_perfect_summary_loses_nothing_but_length() -> None:
    summary = {"summary": "Fees rose. Ann Lee objected.", "key_facts": ["Fees rose."] * 10, "entity_list": ["Ann Lee"]}
    datum = GoldStandardDatum.model_validate({"entry": {"text": "Fees rose. Ann Lee objected."}, "summary": summary})
    evaluation = evaluate(
        datum=datum, generated=GeneratedSummary(text=summary["summary"]), entailment=OverlapEntailment()
    )
    assert evaluation.loss == pytest.approx(0, abs=0.003)  # no model is certain


def test_a_hard_fail_is_the_greatest_loss_and_no_model_runs() -> None:
    entailment, embedder = ScriptedEntailment(), BagOfWordsEmbedder()
    evaluation = evaluate(generated=GeneratedSummary(text="Fees rose by"), entailment=entailment, embedder=embedder)
    assert evaluation.loss == 1
    assert evaluation.hard_fail is not None
    assert evaluation.hard_fail.rule is HardFailRule.TRUNCATION
    assert (evaluation.components, evaluation.scores, entailment.calls, embedder.calls) == (None, (), [], [])
    assert evaluation.timings.total_ms == evaluation.timings.heuristics_ms > 0


@pytest.mark.parametrize(("source", "text", "rule"), [(61, 61, "not_shorter"), (61, 60, None), (60, 60, None)])
def test_a_summary_is_shorter_than_a_source_longer_than_its_target(source: int, text: int, rule: str | None) -> None:
    sentence = "The agency raised fees. "  # five tokens; the target of 60 is all of them
    datum = DATUM.model_copy(update={"entry": GoldStandardEntry(text=sentence * source)})
    fail = evaluate(datum=datum, generated=GeneratedSummary(text=sentence * text)).hard_fail
    assert (fail.rule if fail else None) == rule


def test_bad_input_is_refused_before_any_model_runs() -> None:
    entailment, embedder = ScriptedEntailment(), BagOfWordsEmbedder()
    with pytest.raises(InvalidInputError, match="NLI pairs"):
        evaluate(EvaluateConfig(limits=EvaluateLimits(max_nli_pairs=10)), entailment=entailment, embedder=embedder)
    assert (entailment.calls, embedder.calls) == ([], [])


async def test_cpu_work_runs_on_the_executor() -> None:
    tokenizer = WatchedTokenizer()
    with ThreadPoolExecutor(1, thread_name_prefix="evaluate") as executor:
        await Evaluator(executor=executor).evaluate(DATUM, GENERATED, fake_models(tokenizer=tokenizer))
    assert tokenizer.threads == {"evaluate_0"}
