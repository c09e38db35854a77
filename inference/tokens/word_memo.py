"""Tokens of words that were met before: a text is mostly words that earlier texts had."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from tokenizers import Tokenizer

_MAX_WORDS = 32_768  # about 6 MB of English, 15 MB at most
_MAX_WORD_CHARS = 32  # longer ones are hardly met again

_WHITE_SPACE = " \t\n\r"  # Python's `split` takes more for it, tokenizers take less or other characters
_SPACES = frozenset(" \u2581")  # and the block that SentencePiece writes for one
_PROBES = ("a{0}b", "a{0}{0}b", "a {0}b", "a{0} b", "{0}a b{0}")  # all the same to a tokenizer that cuts there

_CUTTING = ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")
# Each looks at one grapheme at a time, or at the text's ends.
_LOCAL_NORMALIZERS = frozenset(
    "BertNormalizer Lowercase NFC NFD NFKC NFKD Precompiled Strip StripAccents".split()  # noqa: SIM905  (names)
)
_ONE_SPACE = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}


class WordMemo:
    """Tokenizes a text word by word, each word once. Safe to call from several threads.

    A tokenizer that cuts at white space before it does anything else makes of a text what it makes of its words, one
    after the other. Looking 30 words up takes 5 us, tokenizing them 50. What is remembered is bounded: a full memo is
    emptied.
    """

    def __init__(self, tokenize: Callable[[Sequence[str]], list[bytes]], separators: str) -> None:
        """Takes what turns texts into int32 ids without special tokens, and what `word_separators` says of it."""
        self._tokenize = tokenize
        self._split = re.compile(f"[^{separators}]+").findall
        self._known: dict[str, bytes] = {}

    def ids(self, text: str) -> bytes | None:
        """Returns the ids of a text, or None when it has to be tokenized whole."""
        words: list[str] = self._split(text)
        try:
            return b"".join([self._known[word] for word in words])
        except KeyError:
            return self._join_new(words)

    def _join_new(self, words: list[str]) -> bytes | None:
        tokens = {word: ids for word in words if (ids := self._known.get(word)) is not None}
        new = [word for word in dict.fromkeys(words) if word not in tokens]
        if not all(map(_stands_alone, new)):
            return None
        fresh = dict(zip(new, self._tokenize(new), strict=True))
        self._remember({word: ids for word, ids in fresh.items() if len(word) <= _MAX_WORD_CHARS})
        tokens |= fresh
        return b"".join([tokens[word] for word in words])

    def _remember(self, tokens: dict[str, bytes]) -> None:
        if len(self._known) + len(tokens) > _MAX_WORDS:
            self._known.clear()
        if len(tokens) <= _MAX_WORDS:
            self._known.update(tokens)


def word_separators(tokenizer: Tokenizer) -> str:
    """Returns the characters at which a tokenizer cuts a text into words that it then looks at one by one.

    None unless it is built from parts that are known to do so.
    """
    if any(not token.special for token in tokenizer.get_added_tokens_decoder().values()):
        return ""  # one may hold a space, or stand for part of a word
    cutters, normalizers = _steps(tokenizer.pre_tokenizer), _steps(tokenizer.normalizer)
    is_local = all(step["type"] in _LOCAL_NORMALIZERS or step == _ONE_SPACE for step in normalizers)
    if not (cutters and _cuts(cutters[0]) and is_local):
        return ""
    separators = "".join(space for space in _WHITE_SPACE if _is_cut_at(tokenizer, space))
    return separators if " " in separators else ""


def _cuts(step: dict[str, Any]) -> bool:
    """Whether a pre-tokenizer cuts at white space and marks the first word like any other."""
    if step["type"] == "Metaspace":
        return step["split"] is True and step["prepend_scheme"] != "never"
    return step["type"] in _CUTTING


def _steps(component: Any) -> list[dict[str, Any]]:  # noqa: ANN401  (the library's classes share no base)
    """Lists what a normalizer or pre-tokenizer does, one after the other."""
    if component is None:
        return []
    state: dict[str, Any] = json.loads(component.__getstate__())
    if state["type"] != "Sequence":
        return [state]
    steps: list[dict[str, Any]] = state.get("normalizers") or state["pretokenizers"]
    return steps


def _is_cut_at(tokenizer: Tokenizer, space: str) -> bool:
    first, *others = tokenizer.encode_batch(["a b", *(probe.format(space) for probe in _PROBES)])
    return all(other.ids == first.ids for other in others)


def _stands_alone(word: str) -> bool:
    """Whether a word comes out alike between spaces and by itself.

    Not so if part of it counts as space or as nothing, or if it begins with a mark that belongs to the space before it.
    """
    if word.isascii():
        return word.isprintable()
    is_mark = unicodedata.category(word[0]).startswith("M")
    return word.isprintable() and not is_mark and _SPACES.isdisjoint(unicodedata.normalize("NFKD", word))
