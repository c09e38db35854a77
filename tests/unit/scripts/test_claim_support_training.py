import json
import random
from pathlib import Path

import numpy as np
import pytest

from scripts.claim_support.corruptions import Corrupter, Document, Edit, negate, splice, swap_number
from scripts.claim_support.examples import cut_short
from scripts.claim_support.fit import Rows, area_under_curve, fit_support
from scripts.claim_support.nli_examples import PARTS, hide, make_nli_examples

BRIDGE = Document.of(
    "The mayor of Leeds opened a bridge on Tuesday with 300 guests. Builders from Austria worked on it for 14 months. "
    "The bridge was paid for by the state. It has not been named."
)
MARKET = Document.of("Prices of wheat fell in March because of the good harvest. Farmers in Kansas were not pleased.")
CORRUPTER = Corrupter([BRIDGE, MARKET])


def apply(edit: Edit, sentence: str, seed: int = 0) -> str | None:
    return CORRUPTER.apply(edit, sentence, BRIDGE, random.Random(seed))


@pytest.mark.parametrize("edit", Edit)
@pytest.mark.parametrize("seed", range(5))
def test_an_edit_changes_the_sentence_to_something_the_document_does_not_say(edit: Edit, seed: int) -> None:
    for sentence in BRIDGE.sentences:
        edited = apply(edit, sentence, seed)
        assert edited is None or edited not in BRIDGE.text


@pytest.mark.parametrize("edit", Edit)
def test_the_same_generator_gives_the_same_edit(edit: Edit) -> None:
    assert apply(edit, BRIDGE.sentences[0], 3) == apply(edit, BRIDGE.sentences[0], 3)


def test_a_number_is_replaced_and_nothing_else() -> None:
    edited = swap_number("It took 14 months.", BRIDGE.text, random.Random(0))
    assert edited is not None
    assert edited.startswith("It took ")
    assert edited.endswith(" months.")
    assert swap_number("It took long.", BRIDGE.text, random.Random(0)) is None


def test_negation_is_put_in_and_taken_out() -> None:
    assert negate("The bridge was paid for.") == "The bridge was not paid for."
    assert negate("It has not been named.") == "It has been named."
    assert negate("Nobody came.") is None


def test_a_splice_joins_two_sentences_at_a_word_of_both() -> None:
    edited = splice("The bridge was paid for by the state.", BRIDGE, random.Random(1))
    assert edited is not None
    assert edited.startswith("The bridge was")
    assert edited.split()[-1] in {sentence.split()[-1] for sentence in BRIDGE.sentences}


def test_a_clause_is_cut() -> None:
    assert cut_short("The bridge, which he opened, is new.") == "The bridge is new."
    assert cut_short("Prices of wheat and maize fell again in March because of rain.") == (
        "Prices of wheat and maize fell again in March."
    )
    assert cut_short("It is new.") is None


def test_the_fit_finds_what_separates_and_leaves_out_what_does_not() -> None:
    rng = np.random.default_rng(0)
    faithful = rng.random(600) < 0.5
    telling, noise, misleading = faithful + rng.normal(0, 0.5, 600), rng.normal(0, 1, 600), -1.0 * faithful
    rows = Rows(np.column_stack([telling, noise, misleading]), faithful, np.ones(600))
    fitted = fit_support(rows, regularization=0.1, prior=0.5)
    assert fitted.weights[0] > 10 * fitted.weights[1] >= 0
    assert fitted.weights[2] == 0  # it would need a negative weight
    assert area_under_curve(telling, faithful) == pytest.approx(
        area_under_curve(fitted.probabilities(np.column_stack([telling, 0 * noise, misleading])), faithful)
    )


def test_the_mean_probability_is_the_prior_whatever_the_penalty() -> None:
    rng = np.random.default_rng(1)
    faithful = rng.random(500) < 0.3
    signal = faithful + rng.normal(0, 1, 500)
    for regularization in (0.01, 1.0):
        rows = Rows(signal[:, None], faithful, np.ones(500))
        fitted = fit_support(rows, regularization=regularization, prior=0.75)
        found = fitted.probabilities(signal[:, None])
        assert 0.75 * found[faithful].mean() + 0.25 * found[~faithful].mean() == pytest.approx(0.75, abs=1e-3)


def test_an_example_of_weight_two_counts_as_two() -> None:
    rng = np.random.default_rng(2)
    faithful = rng.random(200) < 0.5
    signal = (faithful + rng.normal(0, 1, 200))[:, None]
    twice = np.concatenate([np.arange(200), np.arange(50)])
    weights = np.where(np.arange(200) < 50, 2.0, 1.0)
    # Without a penalty the scale on which signals are standardized does not matter.
    weighted = fit_support(Rows(signal, faithful, weights), regularization=0.0, prior=0.5)
    repeated = fit_support(Rows(signal[twice], faithful[twice], np.ones(250)), regularization=0.0, prior=0.5)
    assert weighted.weights == pytest.approx(repeated.weights, rel=1e-4)
    assert weighted.intercept == pytest.approx(repeated.intercept, abs=1e-4)


def test_pairs_come_from_licensed_parts_and_every_second_premise_is_hidden(tmp_path: Path) -> None:
    part = next(iter(PARTS))
    rows = [
        {"premise": f"Premise {number}", "hypothesis": "Six words are enough for it", "label": label, "source": source}
        for number, (label, source) in enumerate([("entailment", part), ("neutral", part), ("neutral", "unknown")] * 10)
    ]
    pool = tmp_path / "pool.jsonl"
    pool.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    examples = make_nli_examples(pool)
    assert {example.kind for example in examples} == {part}
    assert sum(example.is_faithful for example in examples) == 10
    assert [example.source.count("Premise") for example in examples] == [1, 13] * 10
    assert make_nli_examples(pool) == examples


def test_a_hidden_premise_is_a_sentence_among_others() -> None:
    assert hide("It rained", ["One. ", "Two?"], 1) == "One. It rained. Two?"


def test_the_area_under_the_curve_by_hand() -> None:
    # Pairs of positive and negative: 3 > 1, 3 > 2, 2 > 1, and 2 = 2 counts half.
    assert area_under_curve([3.0, 2.0, 2.0, 1.0], np.array([True, True, False, False])) == 3.5 / 4
