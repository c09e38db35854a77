"""Small edits that make a true claim say what its document does not say, and one that keeps it true.

After FactCC (Kryscinski et al. 2020, arXiv 1910.12840), with more of what summarizers get wrong. These are antonyms,
left-out qualifiers, facts that are put in, halves of two sentences joined. A model that sees a claim and its edit side
by side learns to read every word.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from pipeline.reading.word_lists import FUNCTION_WORDS


class Edit(StrEnum):
    """What was done to a claim."""

    NUMBER = "number"
    NAME = "name"
    NEGATION = "negation"
    ANTONYM = "antonym"
    OVERCLAIM = "overclaim"
    ROLES = "roles"
    ADDED = "added"
    SPLICE = "splice"
    SHORTENED = "shortened"


FALSE_EDITS = tuple(edit for edit in Edit if edit is not Edit.SHORTENED)
_MOST_FALSE = 2
_SHORTENED_SHARE = 0.5
_NEGATION_FIRST = 0.7  # of claims that have one: few do

_NAME = re.compile(r"\b[A-Z][\w\u2019'-]+(?:\s[A-Z][\w\u2019'-]+)*")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?=[\s%.,;:)]|$)")
_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTHS = "january february march april june july august september october november december"
_ORDERED = (_NUMBER_WORDS.split(), _WEEKDAYS.split(), _MONTHS.split())
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|will|would|can|could|should|did|does)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never) |n['\u2019]t\b", re.IGNORECASE)
_OPPOSITES = """
    rise fall|rises falls|rose fell|rising falling|risen fallen|increase decrease|increases decreases
    increased decreased|increasing decreasing|win lose|wins loses|won lost|more less|more fewer|most least|higher lower
    highest lowest|high low|larger smaller|largest smallest|large small|bigger smaller|biggest smallest|before after
    first last|earlier later|early late|old young|older younger|oldest youngest|new old|male female|man woman|men women
    boy girl|his her|he she|husband wife|father mother|son daughter|brother sister|north south|northern southern
    east west|eastern western|left right|above below|over under|inside outside|open closed|opened closed
    success failure|successful unsuccessful|successfully unsuccessfully|possible impossible|accept reject
    accepted rejected|agree refuse|agreed refused|allow forbid|allowed forbidden|support oppose|supports opposes
    supported opposed|best worst|better worse|good bad|positive negative|strong weak|stronger weaker|fast slow
    faster slower|long short|longer shorter|hot cold|warm cool|cheap expensive|free paid|rich poor|public private
    guilty innocent|legal illegal|alive dead|born died|begin end|began ended|start stop|started stopped|buy sell
    bought sold|gain loss|gained lost|up down|always never|all none|everyone nobody|with without|only also
    indoor outdoor|breakfast dinner|morning evening|day night|summer winter|black white|majority minority
    dry wet|empty full|approved rejected|passed failed|banned allowed|confirmed denied|kept lost|arrived left
    survived died|opened shut|stayed left|hired fired|praised criticised|welcomed condemned|joined left|raised cut
    remain leave|innocent guilty|for against|improve worsen|improved worsened|safe dangerous|safer riskier
    benefit harm|cause prevent|causes prevents|caused prevented|maximum minimum|many few|near far|internal external
    include exclude|includes excludes
"""
_ANTONYMS = {
    word: other
    for line in _OPPOSITES.split("\n")
    for pair in line.strip().split("|")
    if pair
    for word, other in (pair.split(), pair.split()[::-1])
}
_STRONGER = {
    "may": "will", "might": "will", "could": "will", "can": "must", "some": "all", "many": "all", "most": "all",
    "often": "always", "usually": "always", "sometimes": "always", "rarely": "never", "several": "all",
    "likely": "certain", "possible": "certain", "suggests": "proves", "suggest": "prove", "suggested": "proved",
    "alleged": "convicted", "allegedly": "indeed", "plans": "decided", "expected": "confirmed",
    "reportedly": "certainly",
    "almost": "exactly", "nearly": "exactly", "partly": "entirely", "believed": "known", "proposed": "approved",
    "mainly": "only", "should": "must", "few": "no",
}  # fmt: skip
_PLACES = "London Chicago Berlin Madrid Toronto Sydney Tokyo Nairobi Lisbon Boston Denver Oslo Mumbai Cairo Dublin"
_PEOPLE = "police|officials|a spokesman|researchers|local media|his lawyer|the company|a recent study|witnesses|critics"
_TAILS = (
    " in {place}", " on {weekday}", " in {year}", " for the {nth} time", ", according to {people}",
    " for {number} years",
    ", which cost ${number} million", " despite protests", " because of a lack of money",
    ", the first in {number} years",
    " and {number} others", " with the help of {people}", ", after a long dispute", " at the age of {number}",
    " and won an award for it", ", as its founder had promised", " and left for {place}", " free of charge",
)  # fmt: skip
_JOINTS = frozenset(
    ["to", "in", "of", "for", "with", "on", "at", "by", "and", "was", "is", "has", "the", "after", "from", "that"]
)
_LONGEST_TAIL = 18  # words
_CLAUSES = (" because ", " after ", " while ", " when ", " which ", " as ", " although ", " before ", " since ")
_SHORTEST_MAIN_CLAUSE = 35  # characters
_WORD = re.compile(r"[A-Za-z]+")


class Editor:
    """Edits claims about one document."""

    def __init__(self, document: str, sentences: Sequence[str], claims: Sequence[str], rng: random.Random) -> None:
        """Looks at the document for other names and numbers.

        Args:
            sentences: of the document; halves of them are joined to claims.
            claims: other claims about it; their names are taken too.
        """
        self._text, self._rng, self._sentences = document, rng, sentences
        self._lower = document.lower()
        found = (_NAME.findall(text) for text in (document, *claims))
        starts = {sentence.split()[0] for sentence in (*sentences, *claims) if sentence.split()}
        self._names = list(dict.fromkeys(n for names in found for n in names if self._is_name(n, starts)))

    def variants(self, claim: str) -> Iterator[tuple[Edit, str]]:
        """Yields up to two false variants and, half of the time, a true one."""
        left = _MOST_FALSE
        edits = self._rng.sample(FALSE_EDITS, len(FALSE_EDITS))
        if _NEGATION.search(claim) and self._rng.random() < _NEGATION_FIRST:
            edits.sort(key=lambda edit: edit is not Edit.NEGATION)
        for edit in edits:
            edited = self._apply(edit, claim)
            if edited and edited != claim and edited.lower() not in self._lower:
                yield edit, edited
                left -= 1
                if not left:
                    break
        shortened = self.shorten(claim) if self._rng.random() < _SHORTENED_SHARE else None
        if shortened:
            yield Edit.SHORTENED, shortened

    def _apply(self, edit: Edit, claim: str) -> str | None:
        edits: dict[Edit, Callable[[str], str | None]] = {
            Edit.NUMBER: self.number,
            Edit.NAME: self.name,
            Edit.NEGATION: negate,
            Edit.ANTONYM: lambda text: self._word(text, _ANTONYMS),
            Edit.OVERCLAIM: lambda text: self._word(text, _STRONGER),
            Edit.ROLES: self.roles,
            Edit.ADDED: self.added,
            Edit.SPLICE: self.splice,
        }
        return edits[edit](claim)

    def number(self, claim: str) -> str | None:
        """Replaces a number, weekday or month by another."""
        digits = list(_NUMBER.finditer(claim))
        words = [
            (match, group)
            for group in _ORDERED
            for match in re.finditer(rf"\b(?:{'|'.join(group)})\b", claim, re.IGNORECASE)
        ]
        if digits and (not words or self._rng.random() < 0.6):  # noqa: PLR2004  # most are written in digits
            old = self._rng.choice(digits)
            elsewhere = [number for number in dict.fromkeys(_NUMBER.findall(self._text)) if number != old.group()]
            return _replace(claim, old, self._rng.choice([self._other_number(old.group()), *elsewhere[:2]]))
        if not words:
            return None
        old, group = self._rng.choice(words)
        return _replace(claim, old, self._rng.choice([word for word in group if word != old.group().lower()]))

    def _other_number(self, digits: str) -> str:
        """Changes one digit, so that years stay years."""
        places = [at for at, character in enumerate(digits) if character.isdigit()]
        at = self._rng.choice(places[1:] if len(places) > 1 else places)
        new = self._rng.choice([digit for digit in "123456789" if digit != digits[at]])
        return digits[:at] + new + digits[at + 1 :]

    def name(self, claim: str) -> str | None:
        """Replaces a name by another of the same document."""
        present = {word.lower() for word in _WORD.findall(claim)}
        own = [match for match in _NAME.finditer(claim) if match.group() in self._names]
        others = [name for name in self._names if not present & {word.lower() for word in _WORD.findall(name)}]
        if not own or not others:
            return None
        old = self._rng.choice(own)
        alike = [name for name in others if len(name.split()) == len(old.group().split())]
        return _replace(claim, old, self._rng.choice(alike or others))

    def roles(self, claim: str) -> str | None:
        """Lets two names change places."""
        own = [match for match in _NAME.finditer(claim) if match.group() in self._names]
        if len(own) < 2:  # noqa: PLR2004  # a pair
            return None
        first, second = sorted(self._rng.sample(own, 2), key=lambda match: match.start())
        between = claim[first.end() : second.start()].strip().lower()
        if first.group() == second.group() or between in {"and", "or", ",", ", and", "&"}:
            return None
        return _replace(_replace(claim, second, first.group()), first, second.group())

    def added(self, claim: str) -> str | None:
        """Appends something that the document does not say."""
        rng = self._rng
        tail = rng.choice(_TAILS).format(
            place=rng.choice(_PLACES.split()),
            weekday=rng.choice(_WEEKDAYS.split()).title(),
            year=rng.randrange(1960, 2025),
            nth=rng.choice(["second", "third", "fifth"]),
            people=rng.choice(_PEOPLE.split("|")),
            number=rng.randrange(2, 60),
        )
        body, end = (claim[:-1], claim[-1]) if claim[-1:] in ".!?" else (claim, "")
        return None if tail.strip(" ,").lower() in self._lower else f"{body}{tail}{end}"

    def splice(self, claim: str) -> str | None:
        """Joins the beginning of a claim to the end of a sentence of the document at a small word that both have."""
        words = claim.split()
        spliced = [
            " ".join([*words[:cut], *tail[joint:]])
            for cut in range(3, len(words) - 1)
            if words[cut].lower() in _JOINTS
            for tail in (other.split() for other in self._sentences if other != claim)
            for joint in range(max(1, len(tail) - _LONGEST_TAIL), len(tail) - 2)
            if tail[joint].lower() == words[cut].lower()
        ]
        usable = [
            text for text in spliced if text.lower() not in self._lower and abs(len(text) - len(claim)) < len(claim)
        ]
        return self._rng.choice(usable) if usable else None

    def shorten(self, claim: str) -> str | None:
        """Returns what is left without a clause between commas or at the end: still true."""
        parts = claim.split(", ")
        if len(parts) == 3 and not _NUMBER.search(parts[1]) and " and " not in f" {parts[2]}"[:6]:  # noqa: PLR2004
            return f"{parts[0]} {parts[2]}"
        ends = [end for word in _CLAUSES if (end := claim.find(word)) > _SHORTEST_MAIN_CLAUSE]
        return f"{claim[: min(ends)].rstrip(',')}." if ends else None

    def _word(self, claim: str, others: dict[str, str]) -> str | None:
        places = [match for match in _WORD.finditer(claim) if match.group().lower() in others]
        if not places:
            return None
        old = self._rng.choice(places)
        return _replace(claim, old, others[old.group().lower()])

    def _is_name(self, name: str, starts: set[str]) -> bool:
        first = name.split(maxsplit=1)[0]
        return " " in name or not (
            name.lower() in FUNCTION_WORDS or (first in starts and first.lower() in self._lower.split())
        )


def negate(claim: str) -> str | None:
    """Takes a negation out, or puts one in after the first auxiliary verb."""
    if _NEGATION.search(claim):
        return _NEGATION.sub("", claim, count=1)
    verb = _AUXILIARY.search(claim)
    return f"{claim[: verb.end()]} not{claim[verb.end() :]}" if verb else None


def _replace(claim: str, old: re.Match[str], new: str) -> str:
    """Puts another word in a place, with the case of the word that stood there."""
    cased = new[:1].upper() + new[1:] if old.group()[:1].isupper() else new
    return claim[: old.start()] + cased + claim[old.end() :]
