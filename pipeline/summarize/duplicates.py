"""Removes duplicate sentences, those that were said before word for word, and remembers where.

Only what is safe to say once is removed: sentences of prose, and list items under the same heading. Headings, table
rows, code and the numbered steps of a procedure stay where they are, however often they come.
"""

import hashlib
import re
from dataclasses import dataclass, field

from pipeline.reading.sentences import split_sentences
from pipeline.reading.words import fold
from pipeline.summarize.extractive.excerpt import ExcerptKind
from pipeline.summarize.extractive.source_blocks import split_source
from pipeline.summarize.writer import Extraction, RemovedDuplicate

_MIN_WORDS = 4  # "See below." and "Press Enter." belong to what stands around them
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
        text, chunks = extraction.text, extraction.chunk_indexes
        kept: list[str] = []
        heading, done = "", 0
        for block in split_source(text):
            said = text[block.start : block.end]
            if block.kind in (ExcerptKind.HEADING, ExcerptKind.LABEL):
                heading = fold(said)
                continue
            if block.kind is ExcerptKind.BULLET:
                left = "" if self._is_repeated(said, heading, chunks) else said
            else:
                left = self._unsaid(said, chunks) if block.kind is ExcerptKind.SENTENCE else said
            if left != said:
                start = block.start if left else text.rfind("\n", 0, block.start) + 1  # with its mark
                kept += [text[done:start], left]
                done = block.end + (not left)  # and its line break
        return "".join([*kept, text[done:]]).strip()

    def _unsaid(self, said: str, chunks: tuple[int, int]) -> str:
        """Returns the sentences of a paragraph that were not said before."""
        keys = [key for part in _ROUGH_END.split(said) if (key := _key(part))]
        if self._seen.keys().isdisjoint(keys) and len(set(keys)) == len(keys):
            self._seen.update(dict.fromkeys(keys, chunks))
            return said
        # Some part was seen before. The exact splitter is slow, and knows that "Sec. Hydraulics" is one sentence.
        kept: list[str] = []
        end = 0
        for sentence in split_sentences(said, _MAX_SENTENCE_CHARS):
            if not self._is_repeated(said[sentence.start : sentence.end], None, chunks):
                kept.append(said[end : sentence.end])
            end = sentence.end
        return "".join(kept).lstrip() + (said[end:] if kept else "")

    def _is_repeated(self, sentence: str, heading: str | None, chunks: tuple[int, int]) -> bool:
        """Remembers a sentence; tells whether it was seen before."""
        key = _key(sentence, heading)
        if key is None:
            return False
        if key not in self._seen:
            self._seen[key] = chunks
            return False
        self.removed.append(RemovedDuplicate(sentence, self._seen[key], chunks))
        return True


def _key(sentence: str, heading: str | None = None) -> bytes | None:
    """Returns a hash of what a sentence says; None if it is too short to judge or, outside of lists, no sentence.

    Args:
        heading: above a list item; None for a sentence of prose.
    """
    words = fold(sentence)
    is_whole = heading is not None or sentence.rstrip(" *_").endswith(_ENDS)
    if not is_whole or sum(len(word) > 1 or word.isalnum() for word in words.split()) < _MIN_WORDS:
        return None
    return hashlib.blake2b(f"{heading or ''}\n{words}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
