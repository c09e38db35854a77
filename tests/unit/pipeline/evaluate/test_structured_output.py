import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.structured_output import join_strings, summary_strings

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def string_values(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for child in children for text in string_values(child)]


@given(value=JSON, escaped=st.booleans(), indent=st.sampled_from([None, 1]))
def test_the_strings_are_those_that_a_json_reader_finds(value: object, *, escaped: bool, indent: int | None) -> None:
    if isinstance(value, dict):
        value.pop("summary", None)
    answer = json.dumps(value, ensure_ascii=escaped, indent=indent)
    assert [string.text for string in summary_strings(answer)] == string_values(value)


@given(texts=st.lists(TEXTS, max_size=4), escaped=st.booleans())
def test_every_character_leads_back_to_its_spelling_in_the_answer(texts: list[str], *, escaped: bool) -> None:
    answer = json.dumps(texts, ensure_ascii=escaped)
    joined, offsets = join_strings(summary_strings(answer))
    assert joined == "\n\n".join(text for text in texts if text)
    for index, character in enumerate(joined):
        start, end = offsets.to_original(index, index + 1)
        spelled = json.loads(f'"{answer[start:end]}"')
        assert character in {spelled, "\n"}


def test_the_outermost_summary_is_the_text() -> None:
    answer = '{"title": "T", "meta": {"summary": "no"}, "summary": "Fees \\"rose\\".", "topics": ["a"]}'
    (only,) = summary_strings(answer)
    assert only.text == 'Fees "rose".'
    assert answer[slice(*only.spelled[5])] == '\\"'


def test_a_summary_that_is_no_string_means_all_strings() -> None:
    assert [s.text for s in summary_strings('{"summary": ["a", {"k": "b"}], "k": "c"}')] == ["a", "b", "c"]


def test_a_bare_string_is_an_answer() -> None:
    assert [s.text for s in summary_strings('"Fees rose."')] == ["Fees rose."]


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert summary_strings(r'["\ud83c\udf89 \ud83c"]')[0].text == "🎉 \ufffd"


@pytest.mark.parametrize(
    ("answer", "position"),
    [
        ("Fees rose.", 0),
        ('{"summary": "Fees rose', 12),
        ('```json\n{"summary": "x"}\n```', 0),
        ('{"summary": "x"} Done.', 17),
        ('{"summary": NaN}', 0),
        ("[" * 100_000, 0),
        ("9" * 5_000, 0),
        ("", 0),
    ],
)
def test_what_is_not_json_is_refused_where_it_breaks(answer: str, position: int) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        summary_strings(answer)
    assert caught.value.pos == position
