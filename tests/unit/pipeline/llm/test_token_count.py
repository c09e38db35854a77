from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from pipeline.llm.ask import fits
from pipeline.llm.chat_model import ChatMessage, ChatRequest, ImagePart
from pipeline.llm.errors import LlmSettingsError
from pipeline.llm.token_count import estimate_tokens, load_token_count
from tests.unit.pipeline.summarize.fake_chat import FakeChat

# Counted with SmolLM2-135M-Instruct.
KNOWN = {
    "hello 12345 world": 8,
    "Гидравлическая система требует обслуживания каждые 500 часов работы, проверьте давление.": 67,
    "Le système hydraulique doit être entretenu toutes les 500 heures; vérifiez la pression.": 35,
}


@pytest.mark.parametrize("text", KNOWN)
def test_the_estimate_is_near(text: str) -> None:
    assert 0.8 * KNOWN[text] <= estimate_tokens(text) <= 1.8 * KNOWN[text]


@given(st.text(), st.text())
def test_parts_never_count_less_than_the_whole(first: str, second: str) -> None:
    assert estimate_tokens(first + second) <= estimate_tokens(first) + estimate_tokens(second)
    assert estimate_tokens("") == 0 <= estimate_tokens(first) <= estimate_tokens(first + second)


def test_a_picture_counts_where_it_is_asked_whether_a_request_fits() -> None:
    message = ChatMessage("user", "Look.", (ImagePart("image/png", b""),) * 3)
    request, chats = ChatRequest((message,), 16, 0.0), (FakeChat("", context_tokens=most) for most in (4_500, 4_600))
    assert [fits(chat, request) for chat in chats] == [False, True]


def test_a_tokenizer_file_counts_exactly(tmp_path: Path) -> None:
    tokenizer = Tokenizer(WordLevel({"pump": 0, "oil": 1, "?": 2}, unk_token="?"))  # noqa: S106 - a token
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert load_token_count(tmp_path / "tokenizer.json")("pump oil pump oil") == 4


def test_a_file_that_is_no_tokenizer_says_which(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LlmSettingsError, match=r"tokenizer\.json"):
        load_token_count(tmp_path / "tokenizer.json")
