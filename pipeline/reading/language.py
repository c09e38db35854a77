"""Is a text English? By the script of its letters, and by its closed-class words.

Articles, pronouns, prepositions and conjunctions are a third of any prose, whatever it is about, while names, numbers
and code have next to none. A text is foreign when most of its letters are of another script than Latin, or when nearly
all of its closed-class words are those of other languages. A single one is enough where English has no such word, and
no other word is certainly English. Of a text without any, as headlines, lists and code are, nothing is known.
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
_SHARED_LIST = """
    a an are as at be by for had has he her his if in is it me more my not of on or out over some this to two up was we
    will with
"""
# English has them, and so have others: Dutch "is" and "of", German "in" and "an".
_SHARED = frozenset(_SHARED_LIST.split())
_FOREIGN_LIST = """
    una qué pero esto estos estas más también cuando porque según desde donde puede pueden
    mientras aunque fueron había nadie otro otra otros otras estaba están esos esas nuestro
    nuestra tiene tienen toda todas muchos muchas cuatro siete diez será quien nunca siempre
    aún así después dijo años año ahora todavía hacia alguien nuevos
    sigue siguen habían acerca entonces quedan millones gobierno
    avec cette elles leurs été sont où peut être quand quatre cinq huit
    depuis selon était étaient avait votre toutes très rien personne aucun aucune autre
    autres même moins ça ainsi alors comme jusqu puis déjà également cela plusieurs toujours
    seulement leur lorsque quelque nouveaux souvent personnes
    eine einen einem eines sind nicht für auf zum zur beim auch sich wurde wurden
    werden worden wenn noch kann können durch daß haben habe hatte hatten diese dieser dieses
    diesem diesen keine kein keinen ihre ihren ihrer seinen gegen ohne zwischen während
    seit zwei vier fünf sechs sieben mehr viele wieder zurück waren schon soll sollen müssen
    niemand aber doch sowie beide jetzt heute gestern sehr immer neuen neues jedoch nachdem gibt
    werde sagte vielen einige sagt darum meine denen deren etwa nichts unsere dort würde könnte jahre
    della delle nelle nello negli è anche più alle agli sulle dalla
    questo questa questi queste quando può possono essere hanno aveva erano stato stati suoi
    dopo senza sette dieci altri altre altro ogni tutto tutta tutte molti molte molto
    perché già oggi ieri quale mentre viene vengono nessuno ciò così sull quella quello sempre stesso
    oltre sarà nuovo nuova nuovi però persone presso forse sembra avrebbe avevano nacque governo
    não são pela pelos pelas às você até depois também já ainda têm há isso essa
    eles elas duas três sete oito muito muitos outra nenhum ninguém hoje ontem
    disse estão então apenas após enquanto mesmo onde quem tinha pessoas cidade eram
    niet zijn voor naar bij heeft wordt deze geen kunnen moeten maar zij hij
    wij tegen zonder tussen tijdens hebben zich veel andere drie vijf zeven acht niets
    waar daarop naast vanaf volgens omdat terwijl zouden zoals eerste echter hadden toch
    alleen nieuwe jaar jaren mensen zegt bekend zelf gaat kwam
    är på inte från og være inget hvis eller för når när så hade efter utan mellan över
    sitt två ingen kunde där detta denna dette denne blir bliver mellem också også uden kommer
    skulle många säger här deras än personer år gör inom fortfarande samma
    się że przez są oraz które który która można nelze jsou není przed był była było
    były jego jej tego czy już także przy trzy cztery został została zostali mogą może nikt tylko gdy kiedy
    również będzie jednak być niż według mówi powiedział powiedziała wiele bardzo ktoś tutaj której których
    și în sunt dacă
    için olarak olan çok gibi değil veya
    és hogy csak vagy nincs
    että ovat mutta sekä myös
    dengan untuk tidak adalah atau
    của và là các không một được những với để này
"""
# Of Spanish, French, German, Italian, Portuguese, Dutch, Scandinavian, Polish and Czech, Romanian, Turkish, Hungarian,
# Finnish, Indonesian and Vietnamese: words that English never has in small letters, and some common ones of news.
_FOREIGN = frozenset(_FOREIGN_LIST.split())
_WEAK_LIST = """
    el los las del al un con y la le les lo su da na nos das em com o é se si ya ha han entre contra esta este era como
    dos tres nada uno ser sus mas muy mucho para hasta bajo ese esa que bis des du de et par ne pas en est au aux ce tu
    il ils elle lui te ou à fait vous avant chez notre nouvelle vers contre der den von dem es mit im ich als über di e
    ed dei dai dal alla tre sei ma ci poi tutti verso secondo cui che uma van op er dan tot till som vid har mot blev
    hon fra sig det av jest ale je ile ole bu cu ve ja ei nu nem az meg volt yang ini tak tai pada foi os numa ses att
    jag kan cinco nur cet ces dat dez dit dix diz ela ele eso fue fut gli het hur ihr ik ist itu jak lub nas nei nie
    nog nya och oli ont por qu qui sau sem seu sie sua sui sul suo tra uns vai vom vor wie wir ze zei zes zou zu aan
    aby aos aus bei bez bir byl dla dwa een egy ein ej ett hoy ook tej tym uit und une upp drei deux trois après dello
    dans aujourd quattro twee degli nella nous ikke dann seiner allo anni cada casi dall dari dass dalle otto esse haar
    hace hier jako loro lors mais meer moet muss nach nebo nell ocho oder onze pois sein seis sina skal sono suas tien
    tous tras unas unos vara weer werd wird ayer mismo nueva nuevo sobre sulla durante altra primera personas outro
    outros beiden cinque contro damit finns foram onder stata todos trong unser unter varias varios environ genom neue
    neuer eran dois moest ancora aussi andra pelo seus anos
"""
# Words that names, loan words, abbreviations ("os", "numa") and slips of English have too: they count beside others.
_WEAK = frozenset(_WEAK_LIST.split())
# Frequent in headlines and notes of English, which have few closed-class words, and none of another language.
_CONTENT_LIST = """
    any each every it one two three four five seven eight nine new old next first again back down off up against
    near before says gets got took makes made keeps lose lost wins hits sees runs breaks falls leaves left sends holds
    reads writes fixes build builds user users nodes servers board officer outage upgrade release driver memory jobs
    tool tools errors crash crashes issues bugs keys years months weeks days hours minutes people women house world
    rates prices works school opens starts stops ends changes removed raises signs beats ships shuts eats steals leaks
    fails needs fees search engine slow large small high low files
"""
_CONTENT = frozenset(_CONTENT_LIST.split())
_ENGLISH_FORM = re.compile(r"[a-z]+(?:ing|[a-z]{2}ed|[a-z]ly|ight|ough|ness|ship|[aeiou]sh|[aeo]cks?)")
_WORD = re.compile(r"[^\W\d_]+")
# Not a part of a compound, a path, an address or code.
_PLAIN_WORD = re.compile(r"(?<![\w/.@=-])[^\W\d_]+(?![\w/@=(-]|\.\w)")
# With the capital of a sentence; before another capital it may be a name.
_FIRST_WORD = re.compile(
    r"(?:^|(?<=[.!?»\"”•*–-]\s)|(?<=[\n\"“«„¿¡]))[A-Z\u00c0-\u017d][^\W\d_]*(?= [a-z0-9\u00df-\u00f6\u00f8-\u024f])"
)
_QUOTED = re.compile(r"\"[^\"]{0,300}\"|“[^”]{0,300}”|«[^»]{0,300}»|„[^“”]{0,300}[“”]")
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
# Of a formula, as "Δφ".
_SYMBOL = re.compile(r"(?<![^\W\d_])[\u0370-\u03ff]{1,2}(?![^\W\d_])")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARKED = re.compile(r"[a-z]*[\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]")
# "van der" in a name says nothing of the text that it stands in.
_PARTICLES = re.compile(
    r"(\b[A-Z\u00c0-\u00de]\w+[ '’-])(?:(?:van|von|der|den|de|la|las|los|les|di|da|del|della|delle|dei|degli|du|des|dos"
    r"|das|el|al|le|y|e|et|un|une|alla|alle|und|für|pour|para)[ '’-]){1,3}(?=[A-Z\u00c0-\u00de])"
)
_NAMES_OF_ENGLISH = re.compile(r"\b(?:english|en|eng|englisch|anglais|inglés|inglese|inglês)\b")
_READ_CHARS = 20_000
_FEWEST_LETTERS = 4
_FEWEST_FOREIGN, _FEWEST_DIFFERENT = 3, 3
_LEAST_FOREIGN = 0.12  # of all words
_MOST_ENGLISH = 0.2  # of the closed-class words
_MOST_QUOTED = 0.85  # of all words


def is_english(text: str) -> bool:
    """Tells whether a text is English, or too little of any language to know. Reads its first 20,000 characters."""
    return not (_is_other_script(text[:_READ_CHARS]) or _is_other_language(text[:_READ_CHARS]))


def is_english_prose(text: str) -> bool:
    """Tells whether a text is English beyond doubt; not so of one that has too few words. Reads 20,000 characters."""
    words = _WORD.findall(text[:_READ_CHARS])
    english = [folded for word in words if (folded := word.casefold()) in _ENGLISH]
    foreign = sum(word in _FOREIGN or word in _WEAK for word in words)
    is_known = len(english) >= _FEWEST_FOREIGN and len(set(english)) >= _FEWEST_DIFFERENT
    return is_known and len(english) >= _LEAST_FOREIGN * len(words) and foreign <= _MOST_ENGLISH * len(english)


def names_english(language: str) -> bool:
    """Tells whether the name or code of a language is that of English."""
    return bool(_NAMES_OF_ENGLISH.search(language.casefold()))


def _is_other_script(text: str) -> bool:
    """Compares letters; those of which each is a syllable or a word count twice."""
    text = _SYMBOL.sub(" ", text)
    others = sum((2 if _DENSE.match(letter) else 1) for letter in text if letter.isalpha() and not _LATIN.match(letter))
    return others >= _FEWEST_LETTERS and others > len(_LATIN.findall(text))


def _is_other_language(text: str) -> bool:
    """Compares closed-class words, and takes words with accents for foreign; capitalised ones may be names."""
    text = _PARTICLES.sub(r"\1", text)
    words = [word.casefold() for word in _WORD.findall(text)]
    foreign = _foreign_words(text)
    if not _is_known(text, foreign) or _is_in_quotations(text, len(words)):
        return False
    english = sum(word in _ENGLISH and word not in _SHARED for word in words)
    shared = sum(word in _SHARED for word in words)
    is_foreign = len(foreign) >= _LEAST_FOREIGN * len(words) and english <= _MOST_ENGLISH * (english + len(foreign))
    return is_foreign and english + shared <= len(foreign)


def _foreign_words(text: str) -> list[str]:
    return [word for word in _plain_words(text) if word in _FOREIGN or word in _WEAK or _MARKED.match(word)]


def _plain_words(text: str) -> list[str]:
    return _PLAIN_WORD.findall(text) + [word.lower() for word in _FIRST_WORD.findall(text)]


def _is_known(text: str, foreign: list[str]) -> bool:
    """Tells whether foreign words are enough to tell. One is, in small letters, where no English word is beside it."""
    different = set(foreign)
    if len(different) >= _FEWEST_DIFFERENT or (len(different) > 1 and different & _FOREIGN):
        return True
    is_alone = not any(_is_certainly_english(word) for word in _plain_words(text))
    return is_alone and any(word in _FOREIGN for word in _PLAIN_WORD.findall(text))


def _is_certainly_english(word: str) -> bool:
    is_listed = word in _CONTENT or (word in _ENGLISH and word not in _SHARED)
    return is_listed or (word not in _FOREIGN and bool(_ENGLISH_FORM.fullmatch(word)))


def _is_in_quotations(text: str, word_count: int) -> bool:
    """Tells whether only quotations have foreign words, and other words stand around them."""
    around = _QUOTED.sub(" ", text)
    return not _foreign_words(around) and len(_WORD.findall(around)) > (1 - _MOST_QUOTED) * word_count
