import math

import pytest

from pipeline.llm.ask import letter_probabilities
from pipeline.llm.chat_model import TokenLogprobs


def place(token: str, **alternatives: float) -> TokenLogprobs:
    shown = {name.replace("_", " "): p for name, p in alternatives.items()} or {token: 0.9}
    return TokenLogprobs(tuple((name, math.log(p)) for name, p in shown.items()), token)


@pytest.mark.parametrize(
    "tokens",
    [
        ["{", '"final_answer"', ":", ' "', "B", '"', "}"],
        ['{"', "final", "_answer", '":', ' "', "B", '",'],
        ['```json\n{"final_answer": ', '"B', '"}'],
        ['{"final_answer":"', 'B","quality_reasoning":"A'],
    ],
)
def test_the_letter_is_found_however_the_json_is_cut(tokens: list[str]) -> None:
    at = next(index for index, token in enumerate(tokens) if "B" in token)
    places = [place(token) for token in tokens]
    places[at] = TokenLogprobs((('"B', math.log(0.6)), ("A", math.log(0.3)), ("B", math.log(0.05))), tokens[at])
    found = letter_probabilities(places, "ABCDE", key="final_answer")
    assert found == pytest.approx({"A": 0.3, "B": 0.65})


def test_the_last_answer_counts_or_without_a_key_the_first_token_that_is_a_letter() -> None:
    tokens = ['<think>{"final_answer": "', "A", '"}</think>{"final_answer": "', "C", '"}']
    found = letter_probabilities([place(token) for token in tokens], "ABCDE", key="final_answer")
    assert found == pytest.approx({"C": 0.9})
    places = [place("\n"), TokenLogprobs(((" D", math.log(0.7)), ("A)", math.log(0.2)), ("The", math.log(0.1))), " D")]
    assert letter_probabilities(places, "ABCDE") == pytest.approx({"D": 0.7, "A": 0.2})
    assert letter_probabilities([place("X")], "ABCDE") is None
    assert letter_probabilities([place("A", A=0.5, X=0.5)], "ABCDE") == pytest.approx({"A": 0.5})


@pytest.mark.parametrize("tokens", [[], ["Sure", ", ", "here"], ['{"final_answer": "']])
def test_no_place_no_probabilities(tokens: list[str]) -> None:
    assert letter_probabilities([place(token) for token in tokens], "ABCDE", key="final_answer") is None
