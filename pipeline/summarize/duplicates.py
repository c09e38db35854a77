"""Removes duplicate sentences, those that were said before word for word, and remembers where.

Only what is safe to say once is removed: sentences of prose, and list items under the same heading. Headings, table
rows, code and the numbered steps of a procedure stay where they are, however often they come.
"""

import hashlib
import re
from dataclasses import dataclass, field

from pipeline.reading.parts import FENCE
from pipeline.reading.sentences import split_sentences
from pipeline.reading.words import fold
from pipeline.summarize.writer import Extraction, RemovedDuplicate

_MIN_WORDS = 4  # "See below." and "Press Enter." belong to what stands around them
_HEADING = re.compile(r"\s*(?:#{1,6}\s|(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$)")
_NUMBERED = re.compile(r"\s*\(?(?:\d{1,3}|[a-zA-Z])[.)]\s")
_BULLET = re.compile(r"\s*[-*+•‣◦▪·]\s+")
_CODE_OR_TABLE = re.compile(r"\s*\||\t| {4,}\S")
_ROUGH_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+")
_ENDS = (".", "!", "?", "。", "！", "？", ":", ")", '"', "”", "’")
_MAX_SENTENCE_CHARS = 2_000


@dataclass(slots=True)
class DuplicateFilter:
    """Goes through texts in the order of the document and keeps every sentence where it first stands.

    Holds 16 bytes of hash for each sentence, not the sentences.
    """

    removed: list[RemovedDuplicate] = field(default_factory=list)
    _seen: dict[bytes, tuple[int, int]] = field(default_factory=dict)

    def clean(self, extraction: Extraction) -> str:
        """Returns the text without what this filter has seen before. Linear in its length."""
        kept: list[str] = []
        heading = ""
        in_code = False
        for line in extraction.text.splitlines(keepends=True):
            if FENCE.match(line):
                in_code = not in_code
            elif not in_code and _HEADING.match(line):
                heading = fold(line)
            elif not in_code and not _NUMBERED.match(line) and not _CODE_OR_TABLE.match(line):
                line = self._clean_line(line, heading, extraction.chunk_indexes)  # noqa: PLW2901
            kept.append(line)
        return "".join(kept).strip()

    def _clean_line(self, line: str, heading: str, chunks: tuple[int, int]) -> str:
        if _BULLET.match(line):
            return "" if self._is_repeated(line, heading, chunks) else line
        keys = [key for part in _ROUGH_END.split(line) if (key := _key(part, ""))]
        if self._seen.keys().isdisjoint(keys) and len(set(keys)) == len(keys):
            self._seen.update(dict.fromkeys(keys, chunks))
            return line
        # Some part was seen before. The exact splitter is slow, and knows that "Sec. Hydraulics" is one sentence.
        return self._clean_sentences(line, chunks)

    def _clean_sentences(self, line: str, chunks: tuple[int, int]) -> str:
        kept: list[str] = []
        end_of_last = 0
        for sentence in split_sentences(line, _MAX_SENTENCE_CHARS):
            if not self._is_repeated(line[sentence.start : sentence.end], "", chunks):
                kept.append(line[end_of_last : sentence.end])
            end_of_last = sentence.end
        rest = line[end_of_last:]
        return "".join(kept).lstrip() + rest if kept else ""

    def _is_repeated(self, sentence: str, heading: str, chunks: tuple[int, int]) -> bool:
        """Remembers a sentence; tells whether it was seen before."""
        key = _key(sentence, heading)
        if key is None:
            return False
        if key not in self._seen:
            self._seen[key] = chunks
            return False
        self.removed.append(RemovedDuplicate(sentence.strip(), self._seen[key], chunks))
        return True


def _key(sentence: str, heading: str) -> bytes | None:
    """Returns a hash of what a sentence says; None if it is too short to judge or, outside of lists, no sentence."""
    words = fold(sentence)
    if sum(len(word) > 1 or word.isalnum() for word in words.split()) < _MIN_WORDS or not (
        heading or _BULLET.match(sentence) or sentence.rstrip(" *_").endswith(_ENDS)
    ):
        return None
    return hashlib.blake2b(f"{heading}\n{words}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
