"""Framing: words about the summary or the document in place of their subject. English only.

Meta-commentary has a subject and a verb at the start of a sentence: "The document states that fees rose" is some. "The
document was signed in 1945" is not. "The report found" is not either: reports are often what a text is about; "This
report describes" is. What only frames a summary is made of the words of `data/framing.txt`, without number or denial.
That is all of "Here is a summary of the passage:", and the beginning of "Based on the passages, twins happen when ...".
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from string import digits

from pipeline.reading.characters import NormalizedText
from pipeline.reading.language import is_english
from pipeline.reading.passage import TextSpan
from pipeline.reading.sentences import Sentence
from pipeline.reading.values import find_values
from pipeline.reading.word_lists import FUNCTION_WORDS, any_phrase, word_list
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import fold_case

_SUMMARY, _DOCUMENT, _OWN_DOCUMENT = map(any_phrase, ("meta_summaries", "meta_documents", "meta_own_documents"))
_ADVERB, _VERB = f"(?: {any_phrase('meta_adverbs')})?", any_phrase("meta_verbs")
_OPENINGS = (
    # This brief summary covers ...
    rf"(?:this|the(?: {any_phrase('meta_places')})?) (?:[\w-]{{1,20}} ){{0,2}}?{_SUMMARY}{_ADVERB} {_VERB}\b",
    # The document states ...
    rf"(?:this|the|said) {_DOCUMENT}{_ADVERB} {_VERB}\b",
    rf"this {_OWN_DOCUMENT}{_ADVERB} {_VERB}\b",
    # In this article, ...
    rf"(?:in|according to|as {any_phrase('meta_references')} in) (?:this|the) (?:{_SUMMARY}|{_DOCUMENT})\s*,",
    rf"the {any_phrase('meta_aims')} of this (?:{_SUMMARY}|{_DOCUMENT}|{_OWN_DOCUMENT}) is\b",
    # Here is a concise summary ...
    rf"(?:here(?:['’]s| is| are)|{any_phrase('meta_announcements')} is) (?:[\w-]{{1,20}} ){{0,4}}?{_SUMMARY}\b",
    any_phrase("meta_openings"),
)
# Emphasis and a label ("**Summary:** ") may stand in front.
_LEAD = rf"[*_~(\s]*+(?:(?:note|{_SUMMARY}|tl;?dr)\s*[:-][*_\s]*)?+"
_META = re.compile(f"{_LEAD}(?:{'|'.join(_OPENINGS)})".replace(" ", r"\s+"), re.IGNORECASE)
_LONGEST_MATCH = 200
_QUOTATION = re.compile(  # one that closes within its line, or a block
    r"""[“"„][^"“”\n]{1,600}["“”]|«[^»\n]{1,600}»|「[^」\n]{1,600}」|『[^』\n]{1,600}』|^[ \t]*>[^\n]*+$""",
    re.MULTILINE,
)


def quotations(text: str) -> list[tuple[int, int]]:
    """Returns start and end of everything in quotation marks. Linear in the length of the text."""
    return [match.span() for match in _QUOTATION.finditer(text)]


def without_quotations(text: str) -> str:
    """Returns a text with spaces in place of what others say."""
    return _QUOTATION.sub(" ", text)


def is_meta_commentary(sentence: str) -> bool:
    """Tells whether a sentence says that a text says something: "The document outlines ...". Quotes are not exempt."""
    return bool(_META.match(sentence[:_LONGEST_MATCH]))


def find_meta_commentary(source: NormalizedText, sentences: Sequence[Sentence]) -> TextSpan | None:
    """Returns the opening words of the first such sentence. Quoted text, and block quotes, are exempt."""
    said = _QUOTATION.sub(lambda quoted: '"' * len(quoted[0]), source.text)
    for sentence in sentences:
        if match := _META.match(said, sentence.start, min(sentence.end, sentence.start + _LONGEST_MATCH)):
            return source.passage(*match.span())
    return None


_LONGEST = 240  # characters
_FEWEST_LETTERS_LEFT = 8
_PIECE_END = re.compile(r"(?:[,:!.][*_]*|\s[–—-])\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SIZE = re.compile(r"\d{1,5}(?=[- ](?:word|sentence|point|paragraph)s?\b)|(?<=count: )\d{1,5}")


def framing_length(sentence: str) -> int:
    """Returns how many characters at the beginning of a normalised sentence only frame a summary, up to all of them."""
    length = 0
    while (end := _PIECE_END.search(sentence, length, length + _LONGEST)) and _frames(sentence[length : end.end()]):
        length = end.end()
    rest = sentence[length:]
    if len(rest) <= _LONGEST and (is_citation(rest) or not _WORD.search(rest) or _frames(f"{rest.rstrip()}.")):
        return len(sentence)
    return length if sum(map(str.isalnum, rest)) >= _FEWEST_LETTERS_LEFT else 0


_MOST_OWN = 2  # words of a note: "Lessons learned"


def speaks_of_text(part: str, shared: AbstractSet[str]) -> bool:
    """Tells whether a part speaks of the summary, its writer or its document more than of the subject.

    So do offers, refusals, notes, lines about a file, and what announces the source's subject with a colon. Words of
    publishing count where nobody else does something: "Share this article".
    """
    head, mark, behind = part.rpartition(": ")
    is_note = bool(mark) and not sorted_words(head, frozenset(), "publishing")[2]  # "Editor's note: ..."
    part = behind if is_note else part
    table = WordTable.of(part)
    verb = next((at for at in range(len(table)) if table.has_verb([at])), len(table))
    is_quoted = part.startswith(("'", '"', "“", "‘"))
    is_pointed_at = is_note or not (is_quoted or word_list("deictics").isdisjoint(table.words[: verb + 1]))
    is_order = verb in (0, len(table)) and not is_quoted  # "Subscribe to our newsletter", which has no known verb
    about, known, own = sorted_words(part, shared, "publishing" if is_pointed_at or is_order else "text_words")
    capitals = {table.words[at] for at in range(len(table)) if table.raw(at)[:1].isupper()}
    is_named = capitals.issuperset(own) and ":" not in part and not part.endswith(".")
    if verb == len(table) and own and not known and (is_named or not is_english(part)):
        return True  # names on a line of their own, or another language
    if is_order and about[:1] == table.words[:1]:  # an offer has names in it
        own = [word for word in own if word not in capitals]
    if part.endswith(":") and about and not (own or WordTable.of(" ".join(known)).has_verb()):
        return True
    subject = {word for word in table.words[:verb] if word not in FUNCTION_WORDS or word in word_list("text_words")}
    is_text = is_pointed_at and subject.issubset(about) and not is_meta_commentary(part)
    if known and verb < len(table) and not is_text:
        return False  # what the source speaks of does something
    others = " ".join(word for word in _words(part) if word not in about)
    is_stated = not is_text and (len(own) > _MOST_OWN or WordTable.of(others).has_verb())
    return len(about) > 2 * len(known) + (3 if is_stated else 0.75) * len(own)


def sorted_words(part: str, shared: AbstractSet[str], also: str = "text_words") -> tuple[list[str], ...]:
    """Returns words about texts that the source has not, other words of the source, and any others but values."""
    values = {word for value in find_values(part) for word in _words(part[value.start : value.unit_end])}
    words = [word for word in _words(part) if word in word_list("text_words") or word not in FUNCTION_WORDS]
    texts = word_list("framing") | word_list("text_words") | word_list(also)
    about = [word for word in words if word in texts and word not in shared]
    known = [word for word in words if word not in texts and word in shared]
    return about, known, [word for word in words if not (word in texts or word in values or word in shared)]


def _words(piece: str) -> list[str]:
    """Returns casefolded words, without the number of a size: "50 words"."""
    said = _WORD.findall(_SIZE.sub("", fold_case(piece)))
    return [word.replace("’", "'").removesuffix("'s") for word in said]


def is_citation(inside: str) -> bool:
    """Tells whether words name a place and state nothing: "p. 2", "4:0†source", "Holt et al., 2021", "see @holt"."""
    said = [one for one in inside.replace(";", " ").split() if not one.lstrip("-").startswith(("@", "^"))]
    words = "".join(one if one.isalnum() or one == "&" else " " for one in " ".join(said)).split()
    named = [word.strip(digits) for word in words]
    has_authors = not {"et", "p", "pp", "&"}.isdisjoint(named)
    is_told = any(one in "@^" or one.isdigit() for one in inside) or "citation needed" in fold_case(inside)
    return is_told and all(
        fold_case(word) in word_list("citation_words") or word in ("", "&") or (has_authors and word.istitle())
        for word in named
    )


def _frames(piece: str) -> bool:
    """Tells whether words with the mark behind them state nothing."""
    words = _words(piece)
    if not words or (piece.rstrip("*_ \n").endswith(",") and words[0] not in word_list("framing_before_comma")):
        return False
    return word_list("framing").issuperset(word for word in words if not (word.isdigit() and len(word) == 1))
