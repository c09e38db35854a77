"""Texts in small letters keep their length, so that places in them are places in the texts themselves."""

import asyncio

import pytest

from pipeline.model_answers import PairScores, small_letters
from tests.fakes_pipeline import ScriptedEntailment


@pytest.mark.parametrize("text", ["", "Ann BOUGHT it", "İstanbul and İzmir", "ΑΣ ΣΑΣ", "ǅ ß ŉ"])
def test_small_letters_keep_the_length_of_a_text(text: str) -> None:
    small = small_letters(text)
    assert len(small) == len(text)
    assert all(
        one == other or one.lower() == other or len(one.lower()) > 1
        for one, other in zip(text, small, strict=True)
        if one != "Σ"
    )


@pytest.mark.parametrize("marked", [False, True])
def test_what_the_model_reads_in_small_letters_is_found_by_the_texts_themselves(*, marked: bool) -> None:
    model = ScriptedEntailment({("ann sold it.", "ann sold it."): 0.9})
    scores = asyncio.run(PairScores.ask(model, [("Ann sold it.", "ANN sold it.")], fold_case=True, with_marks=marked))
    assert model.calls == [[("ann sold it.", "ann sold it.")]]
    assert scores.entailment("Ann sold it.", "ANN sold it.") == pytest.approx(0.9)
