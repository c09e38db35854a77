from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from pipeline.llm.refusal import safe_quote

KEY = SecretStr("sk-proj-0123456789abcdef")
PROMPT = "The reactor of unit 7 leaks at valve V-113 since Monday."


def test_plain_words_are_quoted_on_one_line() -> None:
    assert safe_quote("too\n many   tokens", key=KEY, private_texts=[PROMPT]) == "too many tokens"


def test_long_words_are_cut() -> None:
    assert len(safe_quote("word " * 1000, key=None, private_texts=[])) <= 240


def test_the_key_is_never_quoted_not_even_half_masked() -> None:
    for said in (f"bad key {KEY.get_secret_value()}", "bad key sk-pro***", "bad key ***abcdef"):
        assert safe_quote(said, key=KEY, private_texts=[]) == ""


@given(st.integers(0, len(PROMPT) - 16))
def test_a_stretch_of_a_private_text_is_never_quoted(start: int) -> None:
    said = f"invalid input: {PROMPT[start : start + 16]} (string)"
    assert safe_quote(said, key=None, private_texts=["other", PROMPT]) == ""


def test_other_blanks_do_not_hide_a_quotation() -> None:
    assert (
        safe_quote("got 'The reactor of unit 7\nleaks'", key=None, private_texts=["The reactor\n\nof unit 7 leaks"])
        == ""
    )


def test_an_encoded_picture_is_never_quoted() -> None:
    said = f"invalid url data:image/png;base64,{'iVBORw0KGgoAAAANSUhEUgAA' * 4}"
    assert safe_quote(said, key=None, private_texts=[PROMPT]) == ""
