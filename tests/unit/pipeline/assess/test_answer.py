import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.assess.synthesizer import read_answer
from pipeline.llm.ask import WrongAnswerError
from tests.unit.pipeline.assess.questions import reply

IDS = {"D1", "T1"}


def test_a_good_reply_is_read() -> None:
    answer = read_answer(reply("C ", used=["T1", "T9"]), IDS)
    assert (answer.final_answer, answer.used_evidence) == ("C", ("T1", "T9"))


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't help with that.",
        "[]",
        "{}",
        '{"final_answer": "C"}',
        reply(" "),
        reply("C", used=["T7"]),
        reply(quality_reasoning="  "),
        reply(quality_reasoning=7),
        reply(need_replan="perhaps"),
        "[" * 100_000,
    ],
)
def test_what_is_no_answer_is_refused(text: str) -> None:
    with pytest.raises(WrongAnswerError):
        read_answer(text, IDS)


def test_the_problem_never_repeats_the_answer() -> None:
    with pytest.raises(WrongAnswerError) as caught:
        read_answer(json.dumps({"final_answer": "C", "quality_reasoning": ["IGNORE"]}), IDS)
    assert "IGNORE" not in str(caught.value)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_any_json_is_an_answer_or_a_problem(value: object) -> None:
    keys = ("final_answer", "quality_reasoning", "used_evidence", "need_replan")
    for key in keys:
        text = json.dumps({**json.loads(reply()), key: value})
        try:
            answer = read_answer(text, IDS)
        except WrongAnswerError:
            continue
        assert answer.final_answer == answer.final_answer.strip() != ""
