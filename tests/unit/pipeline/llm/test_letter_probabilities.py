import math

import pytest

from pipeline.llm.ask import letter_logprobs
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
    found = letter_logprobs(places, "ABCDE", "final_answer")
    assert found == pytest.approx({"A": math.log(0.3), "B": math.log(0.65)})


def test_the_last_answer_counts() -> None:
    tokens = ['<think>{"final_answer": "', "A", '"}</think>{"final_answer": "', "C", '"}']
    assert letter_logprobs([place(token) for token in tokens], "ABCDE", "final_answer") == {"C": math.log(0.9)}


@pytest.mark.parametrize(("shown", "found"), [(0.5, {"A": math.log(0.5)}), (0.49, None)])
def test_letters_that_the_model_hardly_thought_of_say_nothing(shown: float, found: dict[str, float] | None) -> None:
    places = [place('{"level": "'), place("A", A=shown, The=1 - shown), place('"}')]
    assert letter_logprobs(places, "ABCDE", "level") == found


@pytest.mark.parametrize("tokens", [[], ["Sure", ", ", "here"], ['{"final_answer": "']])
def test_no_place_no_probabilities(tokens: list[str]) -> None:
    assert letter_logprobs([place(token) for token in tokens], "ABCDE", "final_answer") is None
