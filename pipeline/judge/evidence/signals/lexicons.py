"""Finds profanity, slurs, stereotypes and loaded words in a summary.

Profanity comes from glin-profanity (MIT, maintained, offline), less the words of its English list, made for chat, that
reporting uses in their plain sense, a politician's name and a test entry. Like other packages it leaves out the mildest
words ("damn", "bloody"), which need their context: those are ours, for a "bloody nose" and "Hell's Kitchen" are no
swearing. Strong are the words of the strongest class (README, Words and sources); the rest is mild. No package tells
slurs from swearing, or knows stereotypes. Those lists are ours, and short: terms whose use as an insult is not in
doubt, and sentences that give a trait to a whole group. Loaded words are those that make the tone subjective.
"""

import re
from collections.abc import Iterator
from functools import cache

from glin_profanity.data.dictionary import DictionaryLoader

from pipeline.judge.evidence.signals.tone import is_name, loaded_words
from pipeline.judge.evidence.table import LexiconHit, LexiconKind, LexiconSeverity
from pipeline.reading.document import ReadText, quotations

_Found = tuple[tuple[int, int], LexiconKind, LexiconSeverity]


def find_lexicon_hits(summary: ReadText, source: ReadText) -> tuple[LexiconHit, ...]:
    """Returns what the lists name in the summary, by position; no word twice. Linear in its length."""
    text = summary.text.text
    source_text = source.text.text.casefold()
    quoted = quotations(text)
    hits, end_of_last = list[LexiconHit](), 0
    for (start, end), kind, severity in sorted(_find(text), key=lambda found: (found[0][0], -found[0][1])):
        if start < end_of_last:
            continue
        end_of_last = end
        words = text[start:end].casefold()
        is_quoted = any(first <= start and end <= last for first, last in quoted) and words in source_text
        hits.append(LexiconHit(kind, summary.text.passage(start, end), severity, is_quoted))
    return tuple(hits)


def _find(text: str) -> Iterator[_Found]:
    """Yields what each list names; overlaps included."""
    for match in SLUR.finditer(text):
        yield match.span(), LexiconKind.SLUR, LexiconSeverity.STRONG
    for match in MILD_SLUR.finditer(text):
        yield match.span(), LexiconKind.SLUR, LexiconSeverity.MILD
    for match in STEREOTYPE.finditer(text):
        yield match.span(), LexiconKind.STEREOTYPE, LexiconSeverity.STRONG
    for pattern in (_profanity(), MILD_PROFANITY):
        for match in pattern.finditer(text):
            if not _is_name(match):
                is_strong = STRONG_PROFANITY.match(match.group())
                yield match.span(), LexiconKind.PROFANITY, LexiconSeverity.STRONG if is_strong else LexiconSeverity.MILD
    for match in loaded_words(text):
        yield match.span(), LexiconKind.LOADED, LexiconSeverity.MILD


def _is_name(match: re.Match[str]) -> bool:
    is_listed = match.group().casefold() in ALSO_NAMES and match.group()[0].isupper()
    return is_listed or (match.re is MILD_PROFANITY and is_name(match))


@cache
def _profanity() -> re.Pattern[str]:
    """Returns one pattern for all swear words of the package and the usual ways to mask them."""
    words = set(DictionaryLoader().get_words("english")) - NO_PROFANITY
    spelled = sorted((word for word in words if word.strip() and word.isascii()), key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word).replace(r"\ ", r"[\s-]?") for word in spelled)
    return re.compile(rf"{MASKED_PROFANITY}|(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)


_PLAIN_WORD_LIST = """
    anal anus ass bareback bastinado bbw bdsm bondage bs bust busty butt coon coons cornhole domination dvda dyke
    ejaculation erotic escort eunuch fecal fingering genitals grope hardcore hooker hoe honkey incest intercourse juggs
    kinky lolita masturbate mf negro neonazi nipple nipples nude nudity orgasm orgy paedophile panties panty pedophile
    pegging penis playboy poof poon porn porno pornography pthc quim rape raping rapist rectum retarded s&m sadism
    santorum scat scissoring semen sex sexo sexy simp skeet snatch snowballing sodomy spunk strappado suck sucks
    swastika swinger threesome topless tosser tushy twinkie undressing vagina vibrator voyeur vulva xx xxx yaoi babeland
    guro octopussy testbad01 bimbos ecchi hentai autoerotic cum cumming shrimping tit dominatrix bestiality clitoris
    smut upskirt dolcett camgirl barenaked homoerotic daterape lovemaking nymphomania acrotomophilia coprophilia
    dendrophilia urophilia vorarephilia zoophilia shibari kinbaku throating boob boobs fellatio shota
"""
_PLAIN_PHRASE_LIST = """
    baby batter, baby juice, ball gag, barely legal, big black, carpet muncher, chocolate rosebuds, clover clamps,
    date rape, dirty pillows, dry hump, foot fetish, girl on, girl on top, girls gone wild, group sex, hot chick,
    how to kill, how to murder, huge fat, jelly donut, leather restraint, leather straight jacket, lemon party,
    make me come, menage a trois, missionary position, mr hands, nsfw images, one guy one jar, phone sex,
    pleasure chest, pony play, prince albert piercing, spread legs, strip club, suicide girls, sultry women,
    tainted love, taste my, tied up, tight white, tongue in a, venus mound, violet wand, white power, wrapping men,
    alaskan pipeline, alabama hot pocket, hard core, deep throat, gay sex, auto erotic, beaver cleaver
"""
_SLUR_LIST = """
    paki, beaner, beaners, darkie, faggot, jigaboo, kike, nigga, nigger, raghead, shemale, slanteye, spic, towelhead,
    tranny, wetback, nig nog, retard, jiggaboo, jiggerboo, bulldyke
"""
NO_PROFANITY = frozenset(_PLAIN_WORD_LIST.split()) | {
    " ".join(phrase.split()) for phrase in f"{_PLAIN_PHRASE_LIST},{_SLUR_LIST}".split(",")
}
"""Entries of the package's list that are left out: plain words, and slurs, which have a pattern of their own."""

ALSO_NAMES = frozenset({"dick", "cock", "cocks", "bastard"})
"""Swearing only in lower case: Dick Cheney."""

_FUCK = r"(?:mother|cluster)?f(?:uck|u?[*@#]{1,3}c?k|\*{2,})"
MASKED_PROFANITY = rf"(?<!\w)(?:{_FUCK}\w*|s[h*#]{{1,2}}[i*!1]t\w*|b(?:it|[*!]t?)ch(?:es)?|c[u*]nts?)(?!\w)"
"""Swear words, with a letter or two hidden, and what is made of them."""

STRONG_PROFANITY = re.compile(rf"{_FUCK}|c[u*]nt|cocksucker", re.IGNORECASE)

_BLOODY = r"""
    awful|terrible|horrible|dreadful|good|great|brilliant|marvellous|fantastic|lovely|well|stupid|ridiculous|useless|
    hopeless|pointless|rude|mad|crazy|daft|boring|expensive|impossible|difficult|hard|annoying|lucky|likely|sick|tired|
    cold|hot|late|long|huge|big|much|many|ages|hell|idiots?|fools?|liars?|morons?|nuisance|disgrace|shambles|joke|
    nonsense|rubbish|nightmare|cheek|thing|government|council|council(?:l)?ors?|politicians?|minister|mayor|police|media|
    press|foreigners|tourists|taxes|weather|phone|car|job|minded
"""  # before other words blood is meant: a bloody nose, a bloody coup
MILD_PROFANITY = re.compile(
    rf"""
    (?<!\w)(?:
    (?:god[\s-]?)?damn(?:it|ed(?!\s+(?:by|for|if|souls?)\b))?|dammit
    |(?<!\bliving\s)(?<!\bthrough\s)(?<!\b(?:in|of|to|or)\s)(?<!\b(?:and|nor)\s)
        hell(?!\s+(?:on\s+earth|and\s+(?:heaven|back|purgatory)|or)\b|-\w|['’]\w|,\s+(?-i:[A-Z]))
    |(?:go(?:es|ing)?|went)\s+to\s+hell|to\s+hell\s+with
    |(?:bull|holy\s)?crap(?:py|ped)?(?!\s+(?:games?|tables?|shoot)\b)
    |bloody(?=[\s-]+(?:{_BLOODY})(?!\w))
    |arses?|pain\s+in\s+the\s+ass|(?:half|smart|bad)-?ass(?:ed)?
    |(?:kiss|kick|cover|haul)(?:s|es|ed|ing)?\s+(?:(?:my|your|his|her|their|our|some)\s+)?ass
    |piss(?:es|ed|ing)?(?:[\s-](?:off|take|poor|artist))?
    |screw\s+(?:you|(?:them|him|her|this|that)(?=\s*(?:[.,!?;:"”]|and\b|$)))
    |wank(?:ers?|ing)|bugger(?:s|ed)?|sod\s+(?:off|it)|(?:a|you|little|stupid|arrogant)\s+pricks?(?!\s+(?:of|tests?)\b)
    )(?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Mild words in the uses that are swearing: hell as a place, the damned and what is bloody with blood are none."""

SLUR = re.compile(
    r"""
    (?<!\w)(?:nigg(?:er|a|ah)s?|kikes?|sp[i1]cs?|wet-?backs?|chinks?(?!\s+(?:in|of)\b)|gooks?|f[a4]gg[o0]ts?|
    trann(?:y|ies)|shemales?|towel-?heads?|rag-?heads?|sand\ ?niggers?|camel\ ?jockeys?|beaners?|pakis?|darkies?|
    jigg?aboos?|retards|(?:a|you|that|the|this)\ retard|mongoloids?|bull-?dykes?|zipper-?heads?|slant-?eyes?|
    untermensch(?:en)?|half-breeds?|gypp?os?|pikeys?|abbos?|golliwogs?|wogs?)(?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)

_VERB_OBJECT = r"\s+(?:the|an?|its|his|her|their|our|any|all|every|this|that|it|them|us|him)\b"
MILD_SLUR = re.compile(
    rf"""
    (?<!\w)(?:
    (?:an?|the|this|that|poor|old|you|helpless|hopeless)\s+cripples?(?!{_VERB_OBJECT})
    |(?:of|for|are|were|and|as|like|these|those|call(?:s|ed|ing)?\s+\w+|all)\s+(?:\w+\s+)?cripples(?!{_VERB_OBJECT})
    |illegals(?!\s+program|['’])|(?:an|every|each)\s+illegal(?=\s*[.,;:!?"”]|\s+(?:who|is|was|has|had|from|living)\b)
    |(?:an?|the|that|this|you|these|those)\s+(?:spastics?|spazz?|midgets?(?!\s+(?:car|racing|submarine|race))|mongs?)
    )(?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Nouns that make of people what is said of them. "Cripples the economy" and "an illegal weapon" are plain."""

_GROUPS = (
    r"(?:women|men|girls|boys|blacks?|black\ people|white\ people|whites|asians?|jews?|jewish\ people|muslims?|"
    r"christians?|arabs?|mexicans?|latinos?|hispanics?|immigrants?|migrants?|refugees?|foreigners?|gays?|gay\ people|"
    r"lesbians?|homosexuals|transgender\ people|trans\ people|disabled\ people|old\ people|elderly\ people|"
    r"poor\ people|millennials|boomers|blondes?|gypsies|roma|africans?|indians?|chinese\ people|americans?|feminists)"
)
_TRAITS = (
    r"(?:lazy|stupid|dumb|criminals?|terrorists?|greedy|dishonest|dirty|violent|dangerous|inferior|superior|weak|"
    r"emotional|hysterical|irrational|promiscuous|thieves|rapists|animals|savages|primitive|uncivili[sz]ed|backward|"
    r"untrustworthy|cheap|drunks?|sneaky|submissive|bad\ drivers|not\ fit|unfit|helpless|useless|cowards)"
)
# "The men are dangerous" speaks of some men, "men are dangerous" of all.
STEREOTYPE = re.compile(
    rf"""
    (?<!\w)(?<!the\s)(?<!these\s)(?<!those\s)(?:(?:all|every|most|typical)\s)?{_GROUPS}\s(?:are|is)\s+
        (?:(?:all|always|just|simply|naturally|inherently|generally|by\ nature|nothing\ but|born|so|too|more|less)\s)*
        {_TRAITS}(?!\w)
    |(?<!\w){_GROUPS}\s+(?:belong\ in\ the\ kitchen|can(?:not|'t)\ be\ trusted|don't\ belong|
        always\ (?:lie|cheat|steal)|should\ (?:go\ back|know\ their\ place)|(?:cannot|can't)\ (?:drive|lead|think)
        )(?!\w)
    |(?<!\w)(?:like\ a\ typical|as\ you\ would\ expect\ (?:of|from)(?:\ an?)?)\s+{_GROUPS}(?!\w)
    |(?<!\w)(?:a\ woman's\ place\ is|boys\ will\ be\ boys|throws?\ like\ a\ girl)(?!\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
