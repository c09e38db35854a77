"""The source's subject in one short quote."""

import re
from collections.abc import Sequence

from pipeline.judge.evidence.reading import ReadText
from pipeline.protocols import Tokenizer
from pipeline.text.passage import Passage

_CLAUSE_END = re.compile(r"[,;:—–]|\s(?:who|which|that|because|after|before|while|as|when)\s")
_LEAST_PART = 0.5  # better to end at a clause than anywhere, unless half would be lost


def find_theme(
    source: ReadText, ranked: Sequence[int], tokenizer: Tokenizer, max_tokens: int
) -> tuple[Passage, int | None]:
    """Returns the most central sentence that is short enough, of the first three; else the beginning of the first.

    With it comes the index of the sentence; None when the source has none.

    Args:
        source: read.
        ranked: indices of sentences, the most central first; may be empty.
        tokenizer: counts tokens.
        max_tokens: of the theme.
    """
    for index in ranked[:3]:
        if len(tokenizer.offsets(source.passages[index].text)) <= max_tokens:
            return source.passages[index], index
    if ranked:
        sentence = source.sentences[ranked[0]]
        start, end = sentence.start, sentence.end
    else:
        start, end = 0, len(source.text.text)
    theme = source.text.passage(start, start + _cut(source.text.text[start:end], tokenizer, max_tokens))
    return theme, ranked[0] if ranked else None


def _cut(text: str, tokenizer: Tokenizer, max_tokens: int) -> int:
    """Returns how many characters fit, up to the end of a clause or a word."""
    offsets = tokenizer.offsets(text[: max_tokens * 60])
    if len(offsets) <= max_tokens:
        return len(text) if len(text) <= max_tokens * 60 else offsets[-1][1]
    end = offsets[max_tokens - 1][1]
    if text[end : end + 1].isalnum() and " " in text[:end]:  # not inside a word
        end = text.rindex(" ", 0, end)
    clauses = [match.start() for match in _CLAUSE_END.finditer(text, 0, end) if match.start() >= _LEAST_PART * end]
    return clauses[-1] if clauses else end
