"""What makes an excerpt worth keeping, besides its place among the others: values, warnings, steps, commands.

The critic measures the same: a summary is good enough when its values are there, or when it has no room for more.
"""

from collections.abc import Sequence

from pipeline.reading.values import Term, TermKind
from pipeline.summarize.document import SummaryType
from pipeline.summarize.extractive.directives import is_warning
from pipeline.summarize.extractive.excerpt import PROSE, Excerpt, ExcerptKind
from pipeline.summarize.extractive.lines import is_prompt
from pipeline.summarize.retention import Mentions, Retention, TermRetention
from pipeline.summarize.writer import CriticVerdict

VALUE_KINDS = (TermKind.NUMBER, TermKind.UNIT, TermKind.VERSION, TermKind.PART_NUMBER, TermKind.COMMAND)
"""Terms that the map step never drops, as far as the longest answer reaches."""

_TERM_WEIGHTS = {
    TermKind.NUMBER: 1.0,
    TermKind.UNIT: 2.0,
    TermKind.VERSION: 1.5,
    TermKind.PART_NUMBER: 2.0,
    TermKind.COMMAND: 1.0,
}
# Of a technical summary and of one for operators, who act on it.
_FLAG_WEIGHTS = {SummaryType.TECHNICAL: 2.0, SummaryType.OPERATOR: 12.0}
_WANTED_WEIGHT = 5.0
# Listings and fragments are full of numbers; where something must be left out, a sentence with one says more.
_SCRAP_WEIGHT = 0.1
_TECHNICAL_KINDS = frozenset({TermKind.UNIT, TermKind.VERSION, TermKind.PART_NUMBER, TermKind.COMMAND, TermKind.PATH})
# Share of sentences: of 160 news articles 0.09, of two manuals 0.16 to 0.29.
_FEW_TECHNICAL, _MANY_TECHNICAL = 0.15, 0.2
_PLAIN_BONUS, _TECHNICAL_BONUS = 0.1, 0.5
_FULL_BONUS_VALUES = 3.0


class ExcerptValues:
    """What each excerpt is worth for its values, and what is worth nothing once it was said.

    Args:
        summary_type: operators need steps and warnings before figures.
        critique: names terms that the last iteration missed; they come first.
    """

    def __init__(self, excerpts: Sequence[Excerpt], summary_type: SummaryType, critique: str | None) -> None:
        self.are_acted_on = summary_type is SummaryType.OPERATOR
        missed = Mentions.of(critique) if critique else None
        self.flags = [_FLAG_WEIGHTS[summary_type] * _must_stay(excerpt) for excerpt in excerpts]
        self.terms: list[dict[Term, float]] = []
        for excerpt in excerpts:
            factor = 1.0 if excerpt.kind in PROSE and not excerpt.is_cut else _SCRAP_WEIGHT
            weights = {term: factor * _TERM_WEIGHTS[term.kind] for term in excerpt.terms if term.kind in VALUE_KINDS}
            if missed is not None:
                wanted = (term for term in excerpt.terms if term in missed.terms or missed.says(term.text))
                weights |= dict.fromkeys(wanted, _WANTED_WEIGHT)
            self.terms.append(weights)
        self._bonus = _PLAIN_BONUS + (_TECHNICAL_BONUS - _PLAIN_BONUS) * _technicality(excerpts)

    def bonus(self, position: int, said: set[Term]) -> float:
        """Returns what values that are not said yet add to what a sentence is worth."""
        return self._bonus * min(1.0, self.of([position], said) / _FULL_BONUS_VALUES)

    def are_in(self, position: int) -> bool:
        """Tells whether an excerpt has anything that must not be lost."""
        return bool(self.flags[position] or self.terms[position])

    def of(self, positions: Sequence[int], said: set[Term]) -> float:
        """Returns what some excerpts add together to what was said already."""
        new: dict[Term, float] = {}
        for position in positions:
            new |= {term: weight for term, weight in self.terms[position].items() if term not in said}
        return sum(new.values()) + sum(self.flags[position] for position in positions)


def _technicality(excerpts: Sequence[Excerpt]) -> float:
    """Returns 0 for a text as news are, 1 for one that is read for its commands, units and part numbers."""
    sentences = [excerpt for excerpt in excerpts if excerpt.kind in PROSE]
    technical = sum(any(term.kind in _TECHNICAL_KINDS for term in excerpt.terms) for excerpt in sentences)
    share = technical / max(1, len(sentences))
    return min(1.0, max(0.0, (share - _FEW_TECHNICAL) / (_MANY_TECHNICAL - _FEW_TECHNICAL)))


def _must_stay(excerpt: Excerpt) -> bool:
    if excerpt.kind is ExcerptKind.CODE:
        return any(is_prompt(line) for line in excerpt.text.split("\n"))
    if excerpt.kind is ExcerptKind.STEP:
        return True
    return excerpt.kind in PROSE and is_warning(excerpt.text)


_FULL = 0.9
_NAMED_TERMS = 20


def judge(retention: Retention, *, min_share: float, fullness: float) -> tuple[CriticVerdict, str]:
    """Returns the verdict and its reasons, which name what is missing so that the next iteration can bring it back.

    A full summary passes whatever it lacks: the same budget spent again would only trade one value for another.

    Args:
        min_share: of the values.
        fullness: tokens of the summary by the most that it may have.
    """
    kinds = [retention.of(kind) for kind in VALUE_KINDS]
    total = sum(kind.input_count for kind in kinds)
    share = sum(kind.kept_count for kind in kinds) / total if total else 1.0
    is_complete, is_full = share >= min_share, fullness >= _FULL
    critic_verdict = CriticVerdict.PASS if is_complete or is_full else CriticVerdict.FAIL
    if is_complete:
        reason = f"{share:.1%} of the document's values are in the summary."
    elif is_full:
        reason = f"The summary has its full length and holds {share:.1%} of the document's values."
    else:
        reason = f"Only {share:.1%} of the document's values are in the summary, which has room for more."
    kept = [_kept_line(kind) for kind in retention.kinds if kind.input_count]
    missing = [_missing_line(kind) for kind in kinds if kind.missing]
    return critic_verdict, "\n".join([f"{critic_verdict.name}: {reason}", *kept, *missing])


def _kept_line(kind: TermRetention) -> str:
    return f"- {_plural(kind)} kept: {kind.kept_count} of {kind.input_count}"


def _missing_line(kind: TermRetention) -> str:
    return f"- {_plural(kind)} missing, for example: {' ; '.join(kind.missing[:_NAMED_TERMS])}"


def _plural(kind: TermRetention) -> str:
    name = kind.kind.value.replace("_", " ")
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
