"""Is a text English? By the script of its letters, and by its closed-class words.

Articles, pronouns, prepositions and conjunctions are a third of any prose, whatever it is about, while names, numbers
and code have next to none. A text is foreign when most of its letters are of another script than Latin, or when nearly
all of its closed-class words are those of other languages. Of too short a text, a list or code, nothing is known.
"""

import re

_ENGLISH_LIST = """
    the and to that with his her have has from it they which their this but not she who its about after said there what
    if when than more you your our will can could should these those because them how why while where into only other
    then were been would does did an on
"""
_ENGLISH = frozenset(_ENGLISH_LIST.split())
# Of Spanish, French, German, Italian, Portuguese, Dutch, Scandinavian, Polish, Czech, Romanian, Turkish, Hungarian,
# Finnish, Indonesian and Vietnamese: words that English prose does not have.
_FOREIGN_LIST = """
    el los las del al una unos con sobre que como pero muy este esta estos han fue ser su sus lo es y más también cuando
    porque según entre hasta desde donde puede hay ya
    le la les des du de aux une est et dans par avec sans qui ne pas ce cette ces il elle ils nous vous au leur été sont
    mais si ou où plus peut être cet quand
    der das dem ein eine einen einer eines und ist sind nicht mit für auf von vom zum zur bei nach auch sich wird wurde
    werden aus über sie wenn nur oder noch kann durch daß dass haben diese dieser dieses keine wie
    gli della delle dei degli nel nella è di che si sono anche più ed alla sul questo questa quando può essere una
    uma em não foi são pelo pela ao às seu sua mais um dos das nos na da pode você está quando
    het een dat niet zijn te aan voor naar bij heeft werd wordt ook uit deze geen kan moet
    och att som är på av inte till från ett ikke og af fra være blev er det kan ej inget hvis eller
    się nie że przez są oraz które który jak jest dla lub można nelze je pro jako ale jsou byl který nebo není
    și în cu pe este sau lui nu sunt dacă
    bir ve bu için ile olarak olan çok gibi değil veya
    az és hogy nem meg csak vagy volt egy nincs
    ja ei että ovat mutta oli sekä myös tai ole
    yang dan ini itu dengan untuk tidak dari pada adalah atau tak
    của và là các không một được trong những với để này
"""
_FOREIGN = frozenset(_FOREIGN_LIST.split())
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARKED = re.compile(r"[a-z]*[\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]")
# "van der" in a name says nothing of the text that it stands in.
_PARTICLES = re.compile(
    r"(\b[A-Z\u00c0-\u00de]\w+[ '’-])(?:(?:van|von|der|den|de|la|las|los|di|da|del|du|dos|el|al|le|y)[ '’-]){1,3}"
    r"(?=[A-Z\u00c0-\u00de])"
)
_NAMES_OF_ENGLISH = re.compile(r"\b(?:english|en|eng|englisch|anglais|inglés|inglese|inglês)\b")
_READ_CHARS = 20_000
_FEWEST_LETTERS = 8
_FEWEST_FOREIGN, _FEWEST_DIFFERENT = 3, 3
_LEAST_FOREIGN = 0.12  # of all words
_MOST_ENGLISH = 0.2  # of the closed-class words


def is_english(text: str) -> bool:
    """Tells whether a text is English, or too little of any language to know. Reads its first 20,000 characters."""
    return not (_is_other_script(text[:_READ_CHARS]) or _is_other_language(text[:_READ_CHARS]))


def is_english_prose(text: str) -> bool:
    """Tells whether a text is English beyond doubt; not so of one that has too few words. Reads 20,000 characters."""
    words = _WORD.findall(text[:_READ_CHARS])
    english = [folded for word in words if (folded := word.casefold()) in _ENGLISH]
    foreign = sum(word in _FOREIGN for word in words)
    is_known = len(english) >= _FEWEST_FOREIGN and len(set(english)) >= _FEWEST_DIFFERENT
    return is_known and len(english) >= _LEAST_FOREIGN * len(words) and foreign <= _MOST_ENGLISH * len(english)


def names_english(language: str) -> bool:
    """Tells whether the name or code of a language is that of English."""
    return bool(_NAMES_OF_ENGLISH.search(language.casefold()))


def _is_other_script(text: str) -> bool:
    """Compares letters; those of which each is a syllable or a word count twice."""
    others = sum((2 if _DENSE.match(letter) else 1) for letter in text if letter.isalpha() and not _LATIN.match(letter))
    return others >= _FEWEST_LETTERS and others > len(_LATIN.findall(text))


def _is_other_language(text: str) -> bool:
    """Compares closed-class words, and takes words with accents for foreign; capitalised ones may be names."""
    words = _WORD.findall(_PARTICLES.sub(r"\1", text))
    foreign = [word for word in words if word in _FOREIGN or _MARKED.match(word)]
    english = sum(word.casefold() in _ENGLISH for word in words)
    is_known = len(foreign) >= _FEWEST_FOREIGN and len(set(foreign)) >= _FEWEST_DIFFERENT
    is_foreign = len(foreign) >= _LEAST_FOREIGN * len(words) and english <= _MOST_ENGLISH * (english + len(foreign))
    return is_known and is_foreign
