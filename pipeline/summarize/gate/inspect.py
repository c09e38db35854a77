"""Inspects one answer without a model: which of its parts stand in the input, which cannot, which must be read.

Then repairs it by place: a faulty sentence is replaced by the input's own, or dropped.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.prompts.prompts import built_in
from pipeline.reading.blocks import TABLE_KINDS, BlockKind
from pipeline.reading.framing import is_framing
from pipeline.reading.language import is_english, is_english_prose
from pipeline.reading.sentences import Sentence, split_sentences
from pipeline.reading.word_lists import phrase_list, word_list
from pipeline.reading.words import fold, fold_case
from pipeline.summarize.gate.findings import FaultKind, Remedy, TrustFinding, finding
from pipeline.summarize.gate.source import SourceText

_FEWEST_WORDS = 4  # of a sentence that is not to be said twice; shorter ones belong to what stands around them
_FEWEST_SHOWN = 3  # of one that the writer saw beside the input; fewer may name a subject
_LEAST_CLAIM = 3  # words; less is a label
_ENDS = (*".!?:;。！？…",)


@dataclass(slots=True)
class Inspection:
    """What is known of an answer.

    Attributes:
        text: without what was put around it.
        removed: what was.
        parts: of the text.
        faults: by part, the first that was found in it.
        to_read: parts that a model should compare with a passage: all else of them is right.
        verbatim_count: parts that stand in the input word for word.
        whole: what is wrong with the answer as a whole; None if nothing is.
    """

    text: str
    removed: list[TrustFinding]
    parts: list[Sentence] = field(default_factory=list)
    faults: dict[int, FaultKind] = field(default_factory=dict)
    to_read: list[int] = field(default_factory=list)
    verbatim_count: int = 0
    whole: FaultKind | None = None

    def words_of(self, part: int) -> str:
        """Returns a part's text."""
        return self.text[self.parts[part].start : self.parts[part].end]


def inspect(answer: str, source: SourceText) -> Inspection:
    """Inspects an answer. Linear in its length once the source is read."""
    text, removed = unwrap(answer, source)
    found = Inspection(text, [finding(FaultKind.CHATTER, Remedy.REMOVED, words) for words in removed])
    if not any(map(str.isalnum, text)):
        found.whole = FaultKind.EMPTY
        return found
    found.parts = split_sentences(text)
    said: Counter[str] = Counter()
    for number, part in enumerate(found.parts):
        _inspect_part(found, number, part, source, said)
    last = len(found.parts) - 1
    if last in found.to_read and _is_cut(text, found.words_of(last), source):
        found.to_read.remove(last)
        found.faults[last] = FaultKind.CUT
    if set(found.faults.values()) == {FaultKind.REFUSAL} and not found.verbatim_count:
        found.whole = FaultKind.REFUSAL
    elif _is_other_language(text, source):
        found.whole = FaultKind.LANGUAGE
    elif (share := _repeated_share(text)) > _MOST_REPEATED and share > _MOST_REPEATED + _repeated_share(source.text):
        found.whole = FaultKind.REPETITION
    return found


def riskiest(sentences: Sequence[str], limit: int) -> list[int]:
    """Returns the indices of the sentences that a model reads: of too many, those with values and negations first."""
    ranked = sorted(range(len(sentences)), key=lambda at: not _is_risky(sentences[at]))
    return sorted(ranked[:limit])


def _is_risky(sentence: str) -> bool:
    words = fold_case(sentence).split()
    denies = any(not word_list(name).isdisjoint(words) for name in ("negations", "weak_negations"))
    return denies or any(map(str.isdigit, sentence))


def _inspect_part(found: Inspection, number: int, part: Sentence, source: SourceText, said: Counter[str]) -> None:
    words = found.words_of(number)
    folded, count = fold(words), source.count(words)
    said[folded] += 1
    found.verbatim_count += bool(count)
    if not count and (fault := _fault(words, folded, part, source)):
        found.faults[number] = fault
    elif part.is_prose and len(folded.split()) >= _FEWEST_WORDS and said[folded] > max(1, count):
        found.faults[number] = FaultKind.REPETITION
    elif not count and is_claim(part, words):
        found.to_read.append(number)


def is_claim(part: Sentence, words: str) -> bool:
    """Tells whether a part states something that a model can compare with a passage."""
    return (part.is_prose or part.kind in TABLE_KINDS) and len(fold(words).split()) >= _LEAST_CLAIM


_OUTLINE_NUMBER = re.compile(r"[*_]*(?:(?:\d{1,2}\.){0,3}\d{1,2}[.):]|(?:\d{1,2}\.){1,3}\d{1,2})(?=\s|$)\s*")


def _fault(words: str, folded: str, part: Sentence, source: SourceText) -> FaultKind | None:
    """Returns what is wrong with a part that is not the input's own."""
    if part.kind is BlockKind.CODE:
        return None if source.has_code(words) else FaultKind.CODE
    if part.is_prose and is_refusal(words):
        return FaultKind.REFUSAL
    if part.is_prose and len(folded.split()) >= _FEWEST_SHOWN and folded in source.shown:
        return FaultKind.ECHO
    is_heading = part.kind is BlockKind.HEADING
    number = _OUTLINE_NUMBER.match(words)
    stated = words[number.end() :] if number and (is_heading or number.end() == len(words)) else words
    faults = source.value_faults(stated, with_names=not is_heading)
    if not faults and not is_heading and source.is_english and source.is_twisted(words):
        return FaultKind.TWISTED
    return faults[0] if faults else None


def _is_cut(text: str, last: str, source: SourceText) -> bool:
    """Tells whether a text's last sentence is the beginning of one of the input."""
    is_open = not text.rstrip("\"'”’)]|*_` ").endswith(_ENDS)
    return is_open and any(sentence.startswith(fold(last)) for sentence in source.sentences)


_STATE_NOTHING = {FaultKind.REPETITION, FaultKind.ECHO, FaultKind.REFUSAL}
_LEAST_SHARED = 0.5  # of the weight of a sentence's words, for the input's own to say what it meant to say
_BLANK_LINES = re.compile(r"\n{3,}")


def repair(found: Inspection, source: SourceText) -> tuple[str, list[TrustFinding]]:
    """Returns an answer without its faulty parts, and what became of each."""
    if not found.faults:
        return found.text, []
    present = {fold(found.words_of(number)) for number in range(len(found.parts)) if number not in found.faults}
    edits: list[tuple[int, int, str]] = []
    findings: list[TrustFinding] = []
    gone = set[int]()
    for number, kind in sorted(found.faults.items()):
        part, words, is_empty = found.parts[number], found.words_of(number), kind in _STATE_NOTHING
        may_stand = part.is_prose and not is_empty and not source.is_translated
        if may_stand and (own := source.own_sentence(words, _LEAST_SHARED)) and fold(own) not in present:
            present.add(fold(own))
            edits.append((part.start, part.end, own))
            findings.append(finding(kind, Remedy.CORRECTED, words))
        else:
            gone.add(number)
            findings.append(finding(kind, Remedy.REMOVED if is_empty else Remedy.DROPPED, words))
    emptied = _emptied_headings(found, gone)
    edits += [(*_whole_line(found.text, found.parts[number]), "") for number in gone | emptied]
    pieces, end = list[str](), 0
    for start, stop, instead in sorted(edits):
        pieces += [found.text[end : max(start, end)], instead]
        end = max(stop, end)
    return _BLANK_LINES.sub("\n\n", "".join((*pieces, found.text[end:]))).strip(), findings


def _emptied_headings(found: Inspection, gone: set[int]) -> set[int]:
    """Returns the headings with marks below which all text is gone."""
    levels, emptied = [0] * len(found.parts), set[int]()
    for number, part in enumerate(found.parts):
        if part.kind is BlockKind.HEADING:
            levels[number] = found.text[found.text.rfind("\n", 0, part.start) + 1 : part.start].count("#")
    for number, level in enumerate(levels):
        below = range(number + 1, len(levels)) if level else range(0)
        end = next((other for other in below if 0 < levels[other] <= level), len(levels))
        texts = {other for other in below[: end - number - 1] if not levels[other]}
        if texts and gone >= texts:
            emptied.add(number)
    return emptied


def _whole_line(text: str, part: Sentence) -> tuple[int, int]:
    """Returns a part with the mark in front and the line's end behind it, if nothing else stands in its lines."""
    start, stop = text.rfind("\n", 0, part.start) + 1, text.find("\n", part.end) + 1 or len(text)
    behind = text[part.end : stop]
    if not fold(text[start : part.start]) and not fold(behind):
        return start, stop
    return part.start, part.end + len(behind) - len(behind.lstrip(" "))


_FENCE_LINE = re.compile(r"[ \t]*+(?:```|~~~)[ \t]*+(\w*+)[ \t]*+")
_TEXT_FENCES = {"", "markdown", "md", "text", "txt", "plaintext", "plain"}
_TAG = re.compile(r"</?data(?:-[0-9a-f]{1,64})?(?:\s[^<>\n]{0,80})?>", re.IGNORECASE)
_PART_OF = re.compile(r"(?:this is )?part \d{1,6} of \d{1,6}|document: .{1,200}", re.IGNORECASE)
_EDGE_LINES = 2
_FEWEST_LETTERS = 40

_OWN_LINES = frozenset(
    fold(line)
    for name in ("map", "merge", "shape", "shared")
    for words in built_in()[name].sections.values()
    for line in words.splitlines()
    if "$" not in line and len(line.split()) > 3  # noqa: PLR2004
)


def unwrap(text: str, source: SourceText) -> tuple[str, list[str]]:
    """Returns an answer without fences around all of it, our tags and prompt lines, and chat at its edges."""
    removed: list[str] = []
    text = _without_fence(text.strip(), source, removed)
    if _TAG.search(text) and not _TAG.search(source.text):
        removed += dict.fromkeys(_TAG.findall(text))
        text = _TAG.sub("", text)
    kept = list[str]()
    for line in text.splitlines():
        (removed if _is_ours(line, source) else kept).append(line)
    for edge in (0, -1):  # announcements at the beginning, offers at the end
        for _ in range(_EDGE_LINES):
            while kept and not kept[edge].strip():
                kept.pop(edge)
            if not kept or not _is_chat(kept[edge], source):
                break
            removed.append(kept.pop(edge))
    return ("\n".join(kept).strip() if removed else text), removed


def _without_fence(text: str, source: SourceText, removed: list[str]) -> str:
    """Takes the fence from around a whole answer; code of the input keeps its own."""
    lines = text.splitlines()
    opening = _FENCE_LINE.fullmatch(lines[0]) if lines else None
    if not opening or opening[1].lower() not in _TEXT_FENCES:
        return text
    fences = [number for number, line in enumerate(lines) if _FENCE_LINE.fullmatch(line)]
    is_cut, is_closed = len(fences) == 1, len(fences) % 2 == 0 and fences[-1] == len(lines) - 1
    is_code = not opening[1] and ("```" in source.text or len(fences) > 2)  # noqa: PLR2004 - two blocks of code
    if is_code or not (is_cut or is_closed):
        return text
    removed.append(lines[0])
    return "\n".join(lines[1:] if is_cut else lines[1:-1]).strip()


def _is_ours(line: str, source: SourceText) -> bool:
    folded = fold(line)
    is_ours = folded in _OWN_LINES or _PART_OF.fullmatch(folded) is not None
    return is_ours and folded not in source.lines


def _is_chat(line: str, source: SourceText) -> bool:
    words = line.strip().strip("*_ ")
    return not words.startswith("#") and fold(words) not in source.lines and is_framing(words)


def is_refusal(sentence: str) -> bool:
    """Tells whether a sentence apologises for not answering."""
    words = fold_case(sentence).split()
    said = " ".join(filter(None, (word.strip("\"'.,;:!*_>-") for word in words)))
    return f"{said} ".startswith(tuple(f"{phrase} " for phrase in phrase_list("refusals")))


def _is_other_language(text: str, source: SourceText) -> bool:
    """Tells whether an answer is not in the language asked for, or of the texts; English is told from all others."""
    if sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        return False
    if source.wants_english is None:
        return is_english(text) != source.is_english
    return not is_english(text) if source.wants_english else is_english_prose(text)


_LOOP_WORDS = 6
_LEAST_LOOPED = 60  # words; a table says the same a few times
_MOST_REPEATED = 0.4


def _repeated_share(text: str) -> float:
    """Returns which share of a text's runs of six words come again."""
    words = text.split()
    if len(words) < _LEAST_LOOPED:
        return 0.0
    runs = list(zip(*(words[first:] for first in range(_LOOP_WORDS)), strict=False))
    return 1 - len(set(runs)) / len(runs)
