import random
from array import array
from collections.abc import Callable, Sequence

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from inference.tokens import word_memo
from inference.tokens.word_memo import WordMemo, word_separators

ALPHABET = "abcdefgh éÉ´¨ª½ﬁ中가\u0301\u200b\xa0\u2003\u2581\x0b\x1c\x00 \t\n\r.,'-[]"
ONE_SPACE = normalizers.Replace(Regex(" {2,}"), " ")


def bert() -> Tokenizer:
    pieces = ["[UNK]", *"abcdefgh", *(f"##{letter}" for letter in "abcdefgh"), "e", "ab", "##cd", "中", ".", ","]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def sentencepiece(prepend_scheme: str = "always") -> Tokenizer:
    pieces = [("<unk>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in "abcdefgh"), ("▁a", -1.0), ("bc", -1.5)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFKC(), ONE_SPACE])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend_scheme)
    return tokenizer


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE({"a": 0, "Ġ": 1}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    return tokenizer


def whole(tokenizer: Tokenizer, text: str) -> bytes:
    return array("i", tokenizer.encode(text, add_special_tokens=False).ids).tobytes()


class Watched:
    """Tokenizes whole texts and remembers which."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.texts: list[str] = []
        self._tokenizer = tokenizer

    def __call__(self, texts: Sequence[str]) -> list[bytes]:
        self.texts += texts
        return [whole(self._tokenizer, text) for text in texts]


def memo_of(tokenizer: Tokenizer) -> WordMemo:
    return WordMemo(Watched(tokenizer), word_separators(tokenizer))


def random_texts(count: int) -> list[str]:
    rng = random.Random(7)
    return ["".join(rng.choices(ALPHABET, k=rng.randrange(30))) for _ in range(count)]


@pytest.mark.parametrize("make", [bert, sentencepiece])
def test_a_text_has_the_tokens_of_its_words(make: Callable[[], Tokenizer]) -> None:
    tokenizer = make()
    memo = memo_of(tokenizer)
    by_words = 0
    for text in random_texts(20_000):
        ids = memo.ids(text)
        if ids is not None:
            by_words += 1
            assert ids == whole(tokenizer, text), repr(text)
    assert by_words > 1_000


@pytest.mark.parametrize("text", ["a\xa0b", "a\x0bb", "a b\x1cc", "a \u0301b", "a\u200bb", "ab ´c", "a ▁b"])
def test_a_text_whose_words_are_not_its_parts_is_left_to_the_tokenizer(text: str) -> None:
    assert memo_of(sentencepiece()).ids(text) is None


def test_a_word_is_tokenized_once() -> None:
    tokenize = Watched(bert())
    memo = WordMemo(tokenize, " \n")
    first = memo.ids("ab cd ab")
    assert memo.ids("cd  ab\nab") is not None
    assert memo.ids("ab cd ab") == first
    assert tokenize.texts == ["ab", "cd"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_memo, "_MAX_WORDS", 4)
    tokenize = Watched(bert())
    memo = WordMemo(tokenize, " \n")
    for text in ("a b c d", "e", "a", "a b c d e f g h"):
        assert memo.ids(text) == whole(bert(), text)
    memo.ids("e")
    assert tokenize.texts == [*"abcd", "e", "a", *"bcdfgh", "e"]


def test_a_long_word_is_not_remembered() -> None:
    tokenize = Watched(bert())
    memo = WordMemo(tokenize, " \n")
    word = "a" * 40
    assert memo.ids(word) == memo.ids(word) == whole(bert(), word)
    assert tokenize.texts == [word, word]


def test_white_space_is_what_the_tokenizer_takes_for_it() -> None:
    assert memo_of(bert()).ids("a\nb") == whole(bert(), "a b")
    assert memo_of(sentencepiece()).ids("a\nb") is None


def test_a_tokenizer_that_reads_spaces_is_not_cut_into_words() -> None:
    with_token, replacing, counting = bert(), bert(), sentencepiece()
    with_token.add_tokens([AddedToken("a b")])
    replacing.normalizer = normalizers.Replace("a b", "c")
    counting.normalizer = normalizers.NFKC()  # two spaces are not one
    others = (with_token, replacing, counting, sentencepiece("never"), byte_level(), Tokenizer(models.BPE()))
    assert [word_separators(tokenizer) for tokenizer in (bert(), sentencepiece())] == [" \t\n\r", " "]
    assert not any(map(word_separators, others))
