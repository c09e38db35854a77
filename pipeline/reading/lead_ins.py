"""Lead-ins of a summary: what announces it or a part of it, or offers more.

They may name what the summary is about, and state nothing: in doubt a sentence is none. English only.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pipeline.reading.framing import LABEL_WORDS, lead_in_length, other_words
from pipeline.reading.repeats import denies
from pipeline.reading.sentences import Sentence
from pipeline.reading.values import Values
from pipeline.reading.verbs import is_verb
from pipeline.reading.word_table import KnownWords, WordTable, is_content, stem

_MOST_LOOSE = 2  # words of the source that name a subject although no sentence of it has all of them
_LONGEST_LABEL = 4
_NUMBERED = re.compile(r"[^\W\d_]+(?<![^\Ws]s) ?\d{1,2}")  # "Step 1", "Q1"; "Divers 4" counts something


def without_lead_in(text: str, sentence: Sentence, source: KnownWords) -> Sentence | None:
    """Returns what a sentence states; None when it is a lead-in and nothing else."""
    written = text[sentence.start : sentence.end]
    if _is_label(written, source):
        return None
    start = sentence.start + lead_in_length(written, partial(_names_subject, source))
    return replace(sentence, start=start) if start < sentence.end else None


def with_labels(text: str, sentences: Sequence[Sentence], max_chars: int, source: KnownWords) -> list[Sentence]:
    """Returns the sentences, each with a label before it that may say something of it: "Embezzlers and liars:".

    Alone such a label is never supported. One that has words of the source too, "Mayor in prison:", stays alone.

    Args:
        sentences: in order, without what states nothing.
        max_chars: of a sentence with its label.
    """
    labels = [_is_unknown_label(text[sentence.start : sentence.end], source) for sentence in sentences]
    joined = list[Sentence]()
    for index, sentence in enumerate(sentences):
        start = sentence.start
        if index and labels[index - 1] and not labels[index]:
            label = sentences[index - 1]
            is_next = not any(map(str.isalnum, text[label.end : start]))
            if is_next and sentence.end - label.start <= max_chars:
                start = joined.pop().start
        joined.append(replace(sentence, start=start))
    return joined


def _is_label(written: str, source: KnownWords) -> bool:
    """Tells whether words name what follows or who speaks: "Key points:", "Ann Holt:"; "False:" says something."""
    words = _label(written)
    if not words:
        return False
    others = [word for word in other_words(written) if word not in LABEL_WORDS]
    if not any(map(is_content, others)):
        return not any(is_verb(word) and word not in LABEL_WORDS for word in words)
    if any(map(is_verb, words)):
        return False
    return _names_subject(source, others) or _only_names(words)


def _is_unknown_label(written: str, source: KnownWords) -> bool:
    """Tells whether a label has words that nobody knows, and none of the source."""
    words = _label(written)
    if not words or any(map(is_verb, words)):
        return False
    others = [word for word in other_words(written) if word not in LABEL_WORDS and is_content(word)]
    return bool(others) and not any(map(source.sentence_count, map(stem, others)))


def _label(written: str) -> Sequence[str]:
    """Returns the words of what stands before a colon; none if it is too long for a label, or denies something."""
    if not written.rstrip("*_").endswith(":") or denies(written):
        return ()
    words = WordTable.of(written).words
    return words if len(words) <= _LONGEST_LABEL else ()


def _only_names(words: Sequence[str]) -> bool:
    """Tells whether a label is a single word, or one with its number, that nothing is counted or dated by."""
    written = " ".join(words)
    values = Values.of(written)
    if values.date_parts or not is_content(words[0]):
        return False
    return bool(_NUMBERED.fullmatch(written)) or (len(words) == 1 and not values.quantities)


def _names_subject(source: KnownWords, words: Sequence[str]) -> bool:
    """Tells whether words only name what a source is about: it has them all, and none of them may be a verb."""
    stems, counts = set(map(stem, words)), bool(Values.of(" ".join(words)).quantities)
    says = is_verb(words[0]) or any(is_verb(word) or word.endswith("ing") for word in words[1:])
    return (
        not says
        and all(map(source.sentence_count, stems))
        and ((len(stems) <= _MOST_LOOSE and not counts) or source.has_in_one_sentence(stems))
    )
