"""Lead-ins of a summary: what announces it or a part of it, or offers more.

They may name what the summary is about, and state nothing: in doubt a sentence is none. English only.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pipeline.judge.evidence.text.repeats import denies
from pipeline.judge.evidence.text.values import Values
from pipeline.judge.evidence.text.verbs import is_verb
from pipeline.judge.evidence.text.words import KnownWords, WordTable, is_content, stem
from pipeline.text.meta_commentary import lead_in_length, other_words
from pipeline.text.sentences import Sentence

_MOST_LOOSE = 2  # words of the source that name a subject although no sentence of it has all of them
_LONGEST_LABEL = 4
_LABEL_LIST = """
    background context causes cause reason reasons impact impacts effect effects consequence consequences concern
    concerns criticism criticisms critics reaction reactions opposition support response responses cost costs funding
    finance finances financing budget price prices design construction timeline history outlook future next step steps
    conclusion conclusions result results outcome outcomes benefit benefits advantages disadvantages risk risks
    challenge challenges problem problems solution solutions issue issues purpose goal goals objective objectives aim
    aims introduction intro setting plot participants people person place places location locations date dates time who
    what why when where which how numbers figures statistics stats quote quotes implications significance importance
    recommendation recommendations action actions item items decision decisions agenda plan plans proposal proposals
    overview pros cons strengths weaknesses limitations method methods methodology analysis definition definitions
    example examples feature features specifications status situation project development developments measure measures
    speaker reporter narrator interviewer host note notes brief bottom line tl dr additional initial previous current
    past present local public economic environmental social political legal financial technical historical medical
    international national community government view views opinion opinions perspective perspectives position positions
    role roles use uses
"""
_LABEL_WORDS = frozenset(_LABEL_LIST.split())


def without_lead_in(text: str, sentence: Sentence, source: KnownWords) -> Sentence | None:
    """Returns what a sentence states; None when it is a lead-in and nothing else."""
    written = text[sentence.start : sentence.end]
    if _is_label(written, source):
        return None
    start = sentence.start + lead_in_length(written, partial(_names_subject, source))
    return replace(sentence, start=start) if start < sentence.end else None


def _is_label(written: str, source: KnownWords) -> bool:
    """Tells whether words name what follows or who speaks: "Key points:", "Ann Holt:"; "False:" says something."""
    if not written.rstrip("*_").endswith(":") or denies(written):
        return False
    words = WordTable.of(written).words
    if not 0 < len(words) <= _LONGEST_LABEL or any(map(is_verb, words)):
        return False
    others = [word for word in other_words(written) if word not in _LABEL_WORDS]
    return not any(map(is_content, others)) or _names_subject(source, others)


def _names_subject(source: KnownWords, words: Sequence[str]) -> bool:
    """Tells whether words only name what a source is about: it has them all, and none of them may be a verb."""
    stems, counts = set(map(stem, words)), bool(Values.of(" ".join(words)).quantities)
    says = is_verb(words[0]) or any(is_verb(word) or word.endswith("ing") for word in words[1:])
    return (
        not says
        and all(map(source.sentence_count, stems))
        and ((len(stems) <= _MOST_LOOSE and not counts) or source.has_in_one_sentence(stems))
    )
