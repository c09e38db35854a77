"""Texts and pairs to token ids, cut to what the model reads, never silently."""

from __future__ import annotations

import os
from array import array
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from inference.batching.in_flight import Encoded
from inference.errors import CorruptModelError

# It would otherwise start one thread a core, beside workers that already use every core.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_ID_BYTES = 4
_HEAD_CHARS_PER_TOKEN = 16  # a head this long nearly always has all the tokens that the model reads
_HEAD_GROWTH = 4  # of a head that has fewer
_MOST_GROWTH = 64  # what is behind so long a head is left out: the time for a text is bounded


class _Tokens(NamedTuple):
    ids: bytes  # int32, no special tokens, at most what the model reads
    is_cut: bool  # the text has more tokens than `ids`


@dataclass(frozen=True)
class _Frame:
    """The special tokens around and between texts, as int32 bytes, found by encoding a probe."""

    before: bytes
    between: bytes
    after: bytes
    types_differ: bool  # tokens after `between` are of type 1

    @property
    def token_count(self) -> int:
        return (len(self.before) + len(self.between) + len(self.after)) // _ID_BYTES


class TextEncoder:
    """Tokenizes for one model. Safe to call from several threads.

    A pair's texts are tokenized apart and joined here. The texts of one call are the same few again and again (each
    premise with each hypothesis); each is tokenized once. Special tokens written out in a text are ordinary text:
    nobody can end a premise early by writing "[SEP]". They are left out where the vocabulary cannot spell them
    otherwise (SentencePiece).
    """

    def __init__(self, path: Path, *, max_tokens: int) -> None:
        """Loads tokenizer.json.

        Raises:
            CorruptModelError: it cannot be read.
        """
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise CorruptModelError(path, str(error)) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self.max_tokens = max_tokens
        self._single = self._find_frame(is_pair=False)
        self._pair = self._find_frame(is_pair=True)
        self._reserved = frozenset(array("i", self._pair.before + self._pair.between + self._pair.after))

    def encode_texts(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokenizes single texts. What is over `max_tokens` is cut at the end and flagged."""
        frame = self._single
        room_bytes = (self.max_tokens - frame.token_count) * _ID_BYTES
        rows = []
        for tokens in map(self._tokens_of, texts):
            is_cut = tokens.is_cut or len(tokens.ids) > room_bytes
            ids = frame.before + tokens.ids[:room_bytes] + frame.after
            rows.append(Encoded(ids, len(ids) // _ID_BYTES, is_truncated=is_cut, key=ids))
        return rows

    def encode_pairs(
        self, pairs: Sequence[tuple[str, str]], memo: MutableMapping[str, _Tokens] | None = None
    ) -> list[Encoded]:
        """Tokenizes (premise, hypothesis) pairs.

        A pair over `max_tokens` loses tokens from the end of its longer text until both are equally long, then from
        both ("longest_first"). A hypothesis of at most half the room stays whole. The pair is flagged.

        Args:
            memo: tokens of texts seen before, added to; pass the same one for all slices of a call.
        """
        memo = {} if memo is None else memo
        for text in {text for pair in pairs for text in pair} - memo.keys():
            memo[text] = self._tokens_of(text)
        return [self._join(memo[premise], memo[hypothesis]) for premise, hypothesis in pairs]

    def hypothesis_offsets(self, hypothesis: str, row: Encoded) -> list[tuple[int, int]]:
        """Start and end character of each token of a hypothesis that its pair's row holds, spaces left out.

        A token that is nothing but a space ends where it starts.
        """
        head = hypothesis[: self.max_tokens * _HEAD_CHARS_PER_TOKEN * _HEAD_GROWTH]
        encoding = self._tokenizer.encode(head, add_special_tokens=False)
        spans = zip(encoding.ids, encoding.offsets, strict=True)
        offsets = [_without_spaces(hypothesis, *span) for token, span in spans if token not in self._reserved]
        return offsets[: row.length - row.first_length - len(self._pair.after) // _ID_BYTES]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Returns start and end of every token in code points of `text`, however long it is."""
        found: list[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return found

    def _join(self, premise: _Tokens, hypothesis: _Tokens) -> Encoded:
        frame = self._pair
        first, second = premise.ids, hypothesis.ids
        room_bytes = (self.max_tokens - frame.token_count) * _ID_BYTES
        is_cut = premise.is_cut or hypothesis.is_cut
        if len(first) + len(second) > room_bytes:
            is_cut = True
            first_bytes, second_bytes = _longest_first(len(first), len(second), room_bytes)
            first, second = first[:first_bytes], second[:second_bytes]
        ids = frame.before + first + frame.between + second + frame.after
        split = len(frame.before) + len(first) + len(frame.between) if frame.types_differ else len(ids)
        first_length = split // _ID_BYTES
        key = ids + first_length.to_bytes(_ID_BYTES, "little")
        return Encoded(ids, first_length, is_truncated=is_cut, key=key)

    def _tokens_of(self, text: str) -> _Tokens:
        """Tokenizes a text; as much of a long one as the model reads, in a time that does not grow with the rest.

        The head ends before a space, where tokenizers begin a new word anyway, so its tokens are the text's first.
        """
        head_chars = self.max_tokens * _HEAD_CHARS_PER_TOKEN
        most_chars = head_chars * _MOST_GROWTH
        while head_chars < min(len(text), most_chars):
            end = text.rfind(" ", 0, head_chars)
            if end > 0:
                tokens = self._cut(self._ids(text[:end]))
                if len(tokens.ids) >= self.max_tokens * _ID_BYTES:
                    return _Tokens(tokens.ids, is_cut=True)
            head_chars *= _HEAD_GROWTH
        tokens = self._cut(self._ids(text[:most_chars]))
        return _Tokens(tokens.ids, tokens.is_cut or len(text) > most_chars)

    def _ids(self, text: str) -> bytes:
        """Returns int32 ids. The batch call lets other threads run, the fast one skips offsets."""
        [encoding] = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return array("i", [token for token in encoding.ids if token not in self._reserved]).tobytes()

    def _cut(self, ids: bytes) -> _Tokens:
        room_bytes = self.max_tokens * _ID_BYTES
        return _Tokens(ids[:room_bytes], is_cut=len(ids) > room_bytes)

    def _find_frame(self, *, is_pair: bool) -> _Frame:
        probe = self._tokenizer.encode("a", "a") if is_pair else self._tokenizer.encode("a")
        runs = [array("i")]
        was_special = True
        for token, special in zip(probe.ids, probe.special_tokens_mask, strict=True):
            if special and not was_special:
                runs.append(array("i"))
            if special:
                runs[-1].append(token)
            was_special = bool(special)
        if not was_special:
            runs.append(array("i"))
        before, *middle, after = (run.tobytes() for run in runs)
        return _Frame(before, b"".join(middle), after, types_differ=1 in probe.type_ids)


def _without_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    first = start + len(stretch) - len(stretch.lstrip())
    return first, max(first, start + len(stretch.rstrip()))


def _longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """How much of two texts fits when the longer one is cut until both are equal, then both."""
    if first >= second:
        kept = min(second, room // (2 * _ID_BYTES) * _ID_BYTES)
        return room - kept, kept
    kept = min(first, room // (2 * _ID_BYTES) * _ID_BYTES)
    return kept, room - kept
