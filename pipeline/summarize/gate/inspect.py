"""Inspects one answer without a model: which of its parts stand in the input, which cannot, which must be read.

Then repairs it by place: a faulty sentence is replaced by the input's own, or dropped. What stands in the input as a
whole sentence or line needs no other check; the beginning or end of one may say the opposite.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.llm.config import LlmRole
from pipeline.prompts.prompts import built_in
from pipeline.reading.blocks import LIST_KINDS, TABLE_KINDS, BlockKind
from pipeline.reading.characters import nfkc
from pipeline.reading.framing import framing_length, is_meta_commentary
from pipeline.reading.language import is_english, is_english_prose, names_english
from pipeline.reading.sentences import Sentence, split_sentences
from pipeline.reading.terms import TermKind, find_terms
from pipeline.reading.values import Date, Values, find_values
from pipeline.reading.word_lists import phrase_list, word_list
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import count_words, fold, fold_case
from pipeline.summarize.gate.findings import FaultKind, Remedy, TrustFinding, finding
from pipeline.summarize.retention import Stated, find_stated, lost_parts
from pipeline.support.claim_support import PremiseFinder


def value_faults(text: str, known: Values) -> Iterator[FaultKind]:
    """Yields what is wrong with the numbers, units and dates of a sentence that the input does not have."""
    for value in find_values(text):
        if isinstance(value, Date):
            if not known.states(value):
                yield FaultKind.DATE
        elif not known.states(value) or not (value.is_counted or known.has_dimension(value)):
            yield FaultKind.UNIT if known.has_number(value) else FaultKind.NUMBER


_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))
_BETWEEN_PIECES = str.maketrans(dict.fromkeys("/,;|()[]{}<>=\"'“”‘’`:", " "))
_CODES = {TermKind.VERSION, TermKind.PART_NUMBER, TermKind.PATH, TermKind.COMMAND}
_LEAST_KNOWN = 0.5  # of a name's words: writers add "Mr" and "Street"
_LEAST_SHARED = 0.5  # of the weight of a sentence's words, for the input's own to say what it meant to say


def _pieces(text: str) -> Iterator[str]:
    return filter(None, (piece.strip(".!?*_-") for piece in text.lower().translate(_BETWEEN_PIECES).split()))


_IN_ANY_LANGUAGE = (FaultKind.NUMBER, FaultKind.CODE)


@dataclass(eq=False)
class SourceText:
    """One task's texts."""

    texts: Sequence[str]  # what the answer is to be made from
    # what else the writer was shown; values of it are known, but its sentences are not to be said again
    context: Sequence[str] = ()
    name: str = ""  # the document's
    language: str = ""  # that the answer shall be in; empty for that of the texts
    orders: str = ""  # the caller's wishes, which are no sentences of a summary

    @cached_property
    def text(self) -> str:
        """The texts as one."""
        return "\n\n".join(self.texts)

    @cached_property
    def word_count(self) -> int:
        """Words of the texts."""
        return count_words(self.text)

    @cached_property
    def parts(self) -> list[Sentence]:
        """The sentences of the texts."""
        return split_sentences(self.text)

    @cached_property
    def stated(self) -> list[Stated]:
        """The values of the texts."""
        return find_stated(self.text, self.parts)

    @cached_property
    def wants_english(self) -> bool | None:
        """Whether the answer shall be in English; None if no language was asked for."""
        return names_english(self.language) if self.language else None

    @cached_property
    def is_translated(self) -> bool:
        """Whether the answer shall be in another language, as far as English can be told, or in an unknown one."""
        return bool(self.language) and not (self.wants_english and is_english_prose(self.text))

    @cached_property
    def is_english(self) -> bool:
        """Whether names, passages and claims can be told; values can in any language."""
        return not self.is_translated and is_english(self.text)

    @cached_property
    def lines(self) -> Counter[str]:
        """The lines of the texts, folded, and how often each stands there."""
        return Counter(filter(None, map(fold, self.text.splitlines())))

    @cached_property
    def sentences(self) -> Counter[str]:
        """Likewise the sentences."""
        return Counter(_folded(self.text, self.parts))

    def count(self, words: str) -> int:
        """Returns how often a sentence or line, or something of several lines, stands in the texts as a whole."""
        folded = fold(words)
        lines = [line for line in map(fold, words.splitlines()) if line]
        is_in_lines = len(lines) > 1 and all(map(self.lines.__contains__, lines))
        return max(self.lines[folded], self.sentences[folded], is_in_lines)

    @cached_property
    def shown(self) -> frozenset[str]:
        """Sentences and lines, folded, that the writer saw and shall not say: the context and the wishes."""
        texts = (*self.context, self.orders)
        lines = (fold(line) for text in texts for line in text.splitlines())
        return frozenset(lines).union(*(_folded(text, split_sentences(text)) for text in texts))

    @cached_property
    def _everything(self) -> str:
        return nfkc("\n\n".join((self.text, *self.context, self.name)))[0]

    @cached_property
    def _values(self) -> Values:
        return Values(self._everything)

    @cached_property
    def _word_pieces(self) -> frozenset[str]:
        """What the words are made of: "P-1" and "P-2" of "P-1/P-2"."""
        return frozenset(_pieces(self._everything.translate(_DASHES)))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(WordTable.of(self._everything).stems)

    @cached_property
    def finder(self) -> PremiseFinder:
        """Finds the passages that speak of a sentence."""
        return PremiseFinder(self._everything)

    def value_faults(self, text: str, *, with_names: bool) -> list[FaultKind]:
        """Returns what is wrong with the values of a sentence that are not those of the texts or the context."""
        line = nfkc(text)[0]
        with_names = with_names and self.is_english  # German capitalises all nouns
        faults = list(value_faults(line, self._values))
        for term in find_terms(line.translate(_DASHES)):
            if term.kind in _CODES and not self.has_code(term.text):
                faults.append(FaultKind.CODE)
            elif term.kind is TermKind.ENTITY and with_names:
                name = WordTable.of(term.text)
                known = [stem in self._stems for stem in name.content_stems(range(len(name)))]
                is_known = sum(known) >= _LEAST_KNOWN * len(known)
                faults += [] if is_known else [FaultKind.NAME]
        return [kind for kind in faults if kind in _IN_ANY_LANGUAGE or not self.is_translated]

    def has_code(self, line: str) -> bool:
        """Tells whether the texts have all words that a line of code is made of."""
        return self._word_pieces.issuperset(_pieces(nfkc(line)[0]))

    def own_sentence(self, sentence: str) -> str | None:
        """Returns the sentence of the texts that says most of what another one does; None if none says enough."""
        shares = self.finder.index.shares(self.finder.weights(sentence))
        if shares.max(initial=0) < _LEAST_SHARED:
            return None
        own = " ".join(self.finder.read.passages[int(shares.argmax())].quote.split())
        return own if self.count(own) else None  # not of the context, not cut


def _folded(text: str, parts: Sequence[Sentence]) -> list[str]:
    return [fold(text[part.start : part.end]) for part in parts]


_FEWEST_WORDS = 4  # of a sentence that is not to be said twice; shorter ones belong to what stands around them
_FEWEST_SHOWN = 3  # of one that the writer saw beside the input; fewer may name a subject
_LEAST_CLAIM = 3  # words; less is a label
_ENDS = (*".!?:;。！？…",)


@dataclass(slots=True)
class Inspection:
    """What is known of an answer."""

    text: str  # without what was put around it
    removed: list[TrustFinding]  # what was
    parts: list[Sentence] = field(default_factory=list)  # of the text
    faults: dict[int, FaultKind] = field(default_factory=dict)  # by part, the first that was found in it
    # parts that a model should compare with a passage: all else of them is right
    to_read: list[int] = field(default_factory=list)
    verbatim_count: int = 0  # parts that stand in the input word for word
    whole: FaultKind | None = None  # what is wrong with the answer as a whole; None if nothing is

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
    denials = word_list("negations") | word_list("weak_negations")

    def is_safe(at: int) -> bool:
        return denials.isdisjoint(fold_case(sentences[at]).split()) and not any(map(str.isdigit, sentences[at]))

    return sorted(sorted(range(len(sentences)), key=is_safe)[:limit])


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
    if part.is_prose and is_meta_commentary(nfkc(words)[0]):
        return FaultKind.CHATTER
    is_heading = part.kind is BlockKind.HEADING
    number = _OUTLINE_NUMBER.match(words)
    stated = words[number.end() :] if number and (is_heading or number.end() == len(words)) else words
    label, said = _split_label(stated)
    faults = source.value_faults(label, with_names=False) + source.value_faults(said, with_names=not is_heading)
    return faults[0] if faults else None


def _split_label(words: str) -> tuple[str, str]:
    """Cuts off a label in bold, "**Test Duration**: 72 hours": it is a heading, whose capitals are no names."""
    label, _, said = words.partition(":")
    is_label = words.startswith("**") and (label.endswith("**") or said.startswith("**"))
    return (label, said) if is_label else ("", words)


def _is_cut(text: str, last: str, source: SourceText) -> bool:
    """Tells whether a text's last sentence is the beginning of one of the input."""
    is_open = not text.rstrip("\"'”’)]|*_` ").endswith(_ENDS)
    return is_open and any(sentence.startswith(fold(last)) for sentence in source.sentences)


_STATE_NOTHING = {FaultKind.REPETITION, FaultKind.ECHO, FaultKind.REFUSAL}
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
        if may_stand and (own := source.own_sentence(words)) and fold(own) not in present:
            present.add(fold(own))
            edits.append((part.start, part.end, own))
            findings.append(finding(kind, Remedy.CORRECTED, words))
        else:
            gone.add(number)
            findings.append(finding(kind, Remedy.REMOVED if is_empty else Remedy.DROPPED, words))
    emptied = _emptied_headings(found, gone)
    edits += [(*_whole_line(found.text, found.parts[number]), "") for number in gone | emptied]
    return _BLANK_LINES.sub("\n\n", _edited(found.text, edits)), findings


def _edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Returns a text with other words in some places: start, end, words."""
    pieces, done = list[str](), 0
    for start, end, instead in sorted(edits):
        pieces += [text[done : max(start, done)], instead]
        done = max(end, done)
    return "".join((*pieces, text[done:])).strip()


def with_lost_values(text: str, source: SourceText) -> str:
    """Returns an answer with the input's own sentences for the values that it lost.

    Each stands behind what stands before it in the input, as far as the answer has that word for word, else at the end.
    """
    lost = {part.start for part in lost_parts(source.text, source.parts, [text, *source.context])}
    ends = {fold(text[part.start : part.end]): part.end for part in split_sentences(text)}
    place, end, added = len(text), -1, defaultdict[int, str](str)
    for part in source.parts:
        own = source.text[part.start : part.end]
        found = ends.get(fold(own))
        if found is not None:
            place = found + _leading(text[found:], "*_`")
        elif part.start in lost:
            mark = source.text.rfind("\n", 0, part.start) + 1 if part.kind in LIST_KINDS else part.start
            added[place] += source.text[end : part.start] if end >= 0 else f"\n\n{source.text[mark : part.start]}"
            added[place] += own
        end = part.end if found is not None or part.start in lost else -1
    edits = []
    for place, words in added.items():
        is_split = "\n" in words and not text.startswith("\n", place)  # the line goes on behind
        spaces = _leading(text[place:], " ") if is_split else 0
        edits.append((place, place + spaces, words + "\n\n" * is_split))
    return _edited(text, edits)


def _leading(text: str, characters: str) -> int:
    return len(text) - len(text.lstrip(characters))


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
_FEWEST_LETTERS = 40

_OWN_LINES = frozenset(
    fold(line)
    for prompt in built_in().values()
    for words in (prompt.sections.values() if prompt.role == LlmRole.WRITER else ())
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
        is_ours = (folded := fold(line)) in _OWN_LINES and folded not in source.lines
        (removed if is_ours else kept).append(line)
    for edge in (0, -1):  # announcements at the beginning, offers at the end
        while kept and (not kept[edge].strip() or _is_chat(kept[edge], source)):
            removed.append(kept.pop(edge))
    removed = [words for words in removed if words.strip()]
    return ("\n".join(kept).strip() if removed else text), removed


def _is_chat(line: str, source: SourceText) -> bool:
    words = line.strip().strip("*_ ")
    is_marked = words.startswith(("#", "`", "~"))
    return not is_marked and 0 < len(words) == framing_length(words) and fold(words) not in source.lines


def _without_fence(text: str, source: SourceText, removed: list[str]) -> str:
    """Takes the fence from around a whole answer; code of the input keeps its own."""
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines) if _FENCE_LINE.fullmatch(line)]
    opening = _FENCE_LINE.fullmatch(text.partition("\n")[0])
    if not opening or opening[1].lower() not in _TEXT_FENCES:
        return text
    is_cut, is_closed = len(fences) == 1, len(fences) % 2 == 0 and fences[-1] == len(lines) - 1
    is_code = not opening[1] and ("```" in source.text or len(fences) > 2)  # noqa: PLR2004 - two blocks of code
    if is_code or not (is_cut or is_closed):
        return text
    removed.append(lines[0])
    return "\n".join(lines[1:] if is_cut else lines[1:-1]).strip()


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
