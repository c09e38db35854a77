"""Finds noun phrases of German and Chinese texts, which the words around a run do not tell as they do in English.

German writes its nouns with capitals: a noun within a sentence, with an adjective whose article tells its form in a
dictionary ("der elektrische Heizstab": Elektrischer Heizstab). Chinese has no spaces: a term is what a text says twice
or more between words that name nothing, or what is between two of them alone.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.reading.function_words import STOP_WORDS

_READ_CHARS = 20_000
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_WORDS = re.compile(r"[^\W\d_]+")
_GERMAN_LIST = "der die das und ist nicht ein eine einer den dem mit von für auf werden wird oder sich"
_GERMAN = frozenset(_GERMAN_LIST.split())
_LEAST_GERMAN, _LEAST_CHINESE = 0.12, 0.3  # share of the words, of the characters

_GERMAN_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|[^\w\s]+|\d\S*")
_NOUN = re.compile(r"[A-ZÄÖÜ][\w-]+\w")
_ADJECTIVE = re.compile(r"[a-zäöüß]{3,}e")
_ENDINGS = {"der": "er", "das": "es", "die": "e"}  # of an adjective without its article
_GENITIVE = frozenset(["des", "eines", "dieses", "jedes", "seines", "ihres", "meines"])
_NO_ADJECTIVE_LIST = """
    alle eine seine ihre keine diese jede jene meine unsere welche solche viele beide wenige einige mehrere heute ohne
    sowie bitte gerade ende große kleine neue erste zweite dritte letzte nächste weitere andere gleiche folgende
    sollte konnte wurde hatte musste durfte würde könnte müsste möchte habe werde seite wie je sie
"""
_NO_ADJECTIVES = frozenset(_NO_ADJECTIVE_LIST.split())
_NO_TOPIC_LIST = """
    Jahr Jahre Jahren Jahres Monat Monate Monaten Woche Wochen Stunde Stunden Minute Minuten Uhr Prozent
    Euro Dollar Cent Grad Meter Kilometer Quadratmeter Million Millionen Milliarde Milliarden
    Montag Dienstag Mittwoch Donnerstag Freitag Samstag
    Sonntag Herr Herrn Frau Beispiel Fall Fälle Teil Art Zeit Ende Anfang Mittel Drittel Hälfte Viertel Rahmen Regel
    Weise Grund Bezug Einzelfall Voraussetzung Möglichkeit Anzahl Hinblick Vergleich Sie Ihr Ihre Ihnen Zwischen Nach
"""
_NO_TOPICS = frozenset(_NO_TOPIC_LIST.split())
_DATE = re.compile(
    r"(?:Janu|Febru)ar|März|April|Mai|Jun[io]|Jul[io]|August|(?:Septem|Okto|Novem|Dezem)ber|Tag(?:e[ns]?)?"
)
_SENTENCE_ENDS = frozenset(".!?")
_MOST_WORDS = 4
_SHORTEST_COMPOUND, _SHORTEST_TERM, _LONGEST_TERM = 10, 3, 10
_SHORTEST_RUN, _LONGEST_RUN = 4, 8

# Words that name nothing, and characters that join or count; what they leave over may be a term.
_CHINESE_BREAK = re.compile(
    r"(?:[^\u4e00-\u9fff]|以及|因为|所以|如果|可以|应当|应该|需要|没有|我们|他们|这个|这些|其中|通过|进行|对于|由于|已经|或者|并且|但是|低于|高于|达到"
    r"|[上下]半年|加装|[天年月日周]|平均|自动|接受|更多|介绍|采用|增加|提高|安装|"
    r"更换|完成|下降|节约|纳入|产生|相当于|保证|预计|建议|要求|使用|包括|提供|根据|发送|计算|[的了在是和与及或并把被对从到由为以于将而且可会也都就还该本此其各每个一二三四五六七八九十百千万亿约较不])+"
)
_CHINESE_EDGES = "中后前时里上下内外期"


def is_german(texts: Sequence[str]) -> bool:
    """Tells whether texts are German, by the articles in the first of them."""
    words = _WORDS.findall(" ".join(texts)[:_READ_CHARS])
    return sum(word in _GERMAN for word in words) >= max(1, _LEAST_GERMAN * len(words))


def is_chinese(texts: Sequence[str]) -> bool:
    """Tells whether texts are Chinese, by the characters in the first of them."""
    text = " ".join(texts)[:_READ_CHARS]
    return len(_CHINESE.findall(text)) >= max(1, _LEAST_CHINESE * len(text))


def german_phrases(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yields nouns, names of some words, and nouns with their adjective, as often as they come."""
    for text in texts:
        words = ["", "", *_GERMAN_WORD.findall(text), ""]
        start = end = 3  # what opens a sentence has a capital whatever it is
        while end < len(words):
            if _is_german_noun(words[end]) and words[end - 1] not in _SENTENCE_ENDS and end - start < _MOST_WORDS:
                end += 1
                continue
            if end > start:
                yield from _german_run(words[start:end], words[start - 1], words[start - 2].lower())
            start = end = end + 1


def _is_german_noun(word: str) -> bool:
    is_named = bool(_NOUN.fullmatch(word)) and not _DATE.fullmatch(word)
    return is_named and word not in _NO_TOPICS and word.lower() not in _GERMAN | STOP_WORDS


def _german_run(run: Sequence[str], before: str, article: str) -> Iterator[tuple[str, ...]]:
    """Yields a run of nouns, or the same with its adjective; no genitive."""
    if before in _GENITIVE or article in _GENITIVE:
        return
    is_adjective = bool(_ADJECTIVE.fullmatch(before)) and before not in _NO_ADJECTIVES and article in _ENDINGS
    yield (before[:-1] + _ENDINGS[article], *run) if is_adjective else tuple(run)


def chinese_terms(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yields strings that come twice or more and are no part of a longer one that comes as often, then short runs."""
    counts: Counter[str] = Counter()
    runs = [run.strip(_CHINESE_EDGES) for text in texts for run in _CHINESE_BREAK.split(text)]
    for run in runs:
        for size in range(_SHORTEST_TERM, min(_LONGEST_TERM, len(run)) + 1):
            counts.update(run[start : start + size] for start in range(len(run) - size + 1))
    repeated = {term: count for term, count in counts.items() if count > 1}
    parts: set[str] = set()
    for term, count in repeated.items():
        parts.update(part for part in (term[1:], term[:-1]) if repeated.get(part) == count)
    for term, count in repeated.items():
        if term not in parts:
            yield from [(term,)] * count
    yield from ((run,) for run in runs if _SHORTEST_RUN <= len(run) <= _LONGEST_RUN and run not in repeated)


def is_compound(word: str) -> bool:
    """Tells whether a German noun or Chinese term is long enough to name a subject by itself."""
    return len(word) >= (_SHORTEST_TERM if _CHINESE.match(word) else _SHORTEST_COMPOUND)
