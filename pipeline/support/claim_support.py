"""Support: which passages of a document speak of a statement, and whether they support it.

The judge, the gate, citations and the loss ask the same here. The label follows from the calibrated probability that
the source supports the claim. What an NLI model says of the passages is nearly all: it was trained for this question
(inference/compile/heads/MODEL_CARD.md). It saw only claims that belong to their documents: words that are nowhere
count besides.

The weights are in `claim_support.json`. `scripts/train_claims.py` or `scripts/fit_claim_support.py` fitted them to
documents that the model was not trained on, and to no human judgement of a summary. No weight may have the wrong sign.
"""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from typing import Annotated

from pydantic import Field

from pipeline.frozen import FrozenModel
from pipeline.model_answers import Pair, PairScores
from pipeline.reading.characters import nfkc
from pipeline.reading.document import ReadText
from pipeline.reading.passages import Passage, PassageFinder, claim_weights
from pipeline.reading.rules import Rule
from pipeline.reading.values import Date, Value, Values, agree, competes, find_values, is_certain
from pipeline.reading.word_lists import word_list
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import fold_case

_CERTAINTY = 1e-3
"""Added to a probability and to its complement: the model is not to be believed beyond 0.999."""

# Most probability of a claim with a date or quantity that is not the source's. That of a contradicted claim, as a share
# of the least of a partly supported one: people support .28 of such.
_DIFFERENT, _REFUTED = 0.1, 0.93

_ENOUGH = 0.25
"""Share of a claim's words, by rarity, from which it may be about the source."""

MAX_SENTENCE_CHARS = 700  # longer sentences are cut, to fit the NLI model
PASSAGE_CHARS = 700  # of a passage that a claim is compared with; the model learned 700, about 160 tokens
SHORT_PASSAGE_CHARS = 250  # of a second, shorter one: the passage that entails more counts
ENTAILED = 0.98  # entailment by the shorter one from which the longer one is not read
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class SupportConfig(FrozenModel):
    """What a label means: to the judge, the gate and citations alike."""

    supported: Share = Field(default=0.5, description="Least probability of a supported claim.")
    partly_supported: Share = Field(default=0.3, description="Least probability of a partly supported claim.")
    contradicted: Share = Field(default=0.7, description="Contradiction that refutes a less probable claim.")

    def support_settings(self) -> str:
        """Returns these settings as JSON, without those that a subclass adds."""
        return self.model_dump_json(include=set(SupportConfig.model_fields))


DEFAULT_SUPPORT = SupportConfig()


class ClaimLabel(StrEnum):
    """What the source says about a claim, the best first."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A statement beside what a document has of it."""

    text: str  # the statement, its values as the longest premise writes them
    premises: tuple[str, ...]  # passages of the document that speak of it, as the model reads them
    known_share: float  # of the weight of its content words, those that stand anywhere in the document
    is_copied: bool = False  # whether it stands in the document word for word, and so contradicts nothing
    # whether it says a date or quantity that the document does not have, and the premises others like it
    differs: bool = False

    @classmethod
    def of(
        cls, text: str, passages: Sequence[Passage], known_share: float, values: Values, *, is_copied: bool = False
    ) -> "Hypothesis":
        """Returns a statement beside the passages that speak of it, the longest first, and a document's values."""
        premises = tuple(passage.span.text for passage in passages)
        written = written_as(text, premises[0]) if premises and not is_copied else text
        return cls(written, premises, known_share, is_copied, differs(text, premises, values))

    @property
    def pairs(self) -> list[Pair]:
        """Its premises, each with the statement."""
        return [(premise, self.text) for premise in self.premises]


@dataclass(frozen=True, slots=True)
class Support:
    """What a document says of a statement."""

    premise: int | None  # index of the passage that entails it most; None without any
    entailment: float  # by that passage, in [0, 1]
    contradiction: float  # the greatest of a passage, in [0, 1]; 0 for a statement that stands there word for word
    probability: float  # that the document supports it, in (0, 1), calibrated
    label: ClaimLabel  # by the probability

    @property
    def is_supported(self) -> bool:
        """Whether it is supported at least in part."""
        return self.label is not ClaimLabel.UNSUPPORTED


class ClaimSupportWeights(FrozenModel):
    """What `claim_support.json` holds."""

    intercept: float  # log-odds of a claim whose signals are all 0
    weights: Mapping[str, float]  # log-odds for each unit of a signal
    unsupported_word: float  # probability of a mark from which a word of a doubtful claim counts as not supported
    record: Mapping[str, str | int | float]  # how they were made


AS_WRITTEN = Rule(
    "values-as-written",
    "reading",
    "A value of a summary is read as the source writes it.",
    "Source: at 3 pm, 2000 people. Summary: at 15:00, 2,000 people.",
    "at 3 pm, 2000 people",
)


def written_as(text: str, stated: str) -> str:
    """Returns a text with each value in the writing of another text that has the same: models read digits as words."""
    if not AS_WRITTEN.is_on:
        return text
    pieces, end = list[str](), 0
    values, small = find_values(stated), stated.lower()
    for value in find_values(text):
        is_there = text[value.start : value.unit_end].lower() in small
        same = None if is_there else next((other for other in values if _is_in_other_words(value, other)), None)
        if same and value.start >= end and small[same.start : same.end] != text[value.start : value.end].lower():
            pieces += text[end : value.start], stated[same.start : same.unit_end]
            end = value.unit_end
    return "".join((*pieces, text[end:]))


def _is_in_other_words(value: Value, stated: Value) -> bool:
    if isinstance(value, Date) or isinstance(stated, Date):
        return isinstance(value, Date) and isinstance(stated, Date) and value.days == stated.days
    is_bound = value.is_lower_bound or stated.is_lower_bound
    return not is_bound and not value.dimensions.isdisjoint(stated.dimensions) and agree(value, stated)


def differs(text: str, stated: Sequence[str], everything: Values) -> bool:
    """Tells whether a claim has a date or a measure where its passages have others, and the source it nowhere."""
    near = [value for passage in stated for value in find_values(passage) if is_certain(value)]
    return any(
        is_certain(value) and any(competes(value, other) for other in near) and not everything.states(value)
        for value in find_values(text)
    )


def label_of(probability: float, config: SupportConfig) -> ClaimLabel:
    """Returns the label of a claim; thresholds are inclusive."""
    if probability < config.partly_supported:
        return ClaimLabel.UNSUPPORTED
    return ClaimLabel.SUPPORTED if probability >= config.supported else ClaimLabel.PARTIAL


async def ask_support(
    ask: Callable[[Sequence[Pair]], Awaitable[PairScores]], statements: Iterable[Hypothesis]
) -> PairScores:
    """Asks a model about statements: beside their short passages, then beside the longer ones of those left open.

    Args:
        ask: has pairs scored, none twice.
    """
    read = [statement.pairs for statement in statements]
    scores = await ask(list(dict.fromkeys(pair for pairs in read for pair in pairs[-1:])))
    still_open = [pair for pairs in read for pair in pairs[:-1] if scores.entailment(*pairs[-1]) < ENTAILED]
    scores.add(await ask([pair for pair in dict.fromkeys(still_open) if pair not in scores]))
    return scores


def read_support(statement: Hypothesis, scores: PairScores, config: SupportConfig) -> Support:
    """Returns what a document says of a statement, from the scores of those pairs that were asked.

    The passage that entails it most counts, the longer one on a tie. Without any nothing entails it.
    """
    asked = {at: pair for at, pair in enumerate(statement.pairs) if pair in scores}
    premise = max(asked, key=lambda at: scores.entailment(*asked[at]), default=None)
    entailment = 0.0 if premise is None else scores.entailment(*asked[premise])
    contradiction = max(
        (scores.contradiction(*pair) for pair in asked.values() if not statement.is_copied), default=0.0
    )
    probability = claim_support(signals(entailment, statement.known_share))
    negations = word_list("negations")  # only one of the statement and the shortest passage may have some
    texts = (statement.text, *statement.premises[-1:])
    is_turned = len({negations.isdisjoint(fold_case(text).split()) for text in texts}) > 1
    is_open = config.contradicted > probability or is_turned
    if CONTRADICTED.is_on and contradiction > entailment and contradiction >= config.contradicted and is_open:
        probability = min(probability, config.partly_supported * _REFUTED)
    if statement.differs and QUANTITIES.is_on:
        probability = min(probability, config.partly_supported * _REFUTED, _DIFFERENT)
    return Support(premise, entailment, contradiction, probability, label_of(probability, config))


CONTRADICTED = Rule(
    "contradicted",
    "judge",
    "A claim that a passage contradicts is improbable, unless another supports it for sure.",
    "Source: He denied it. He was there. Claim: He admitted it.",
    "unsupported",
)
QUANTITIES = Rule(
    "differing-quantities",
    "judge",
    "A date or quantity that the source does not have, where it has others like it, makes a claim unsupported.",
    "Source: 250 metres long. Claim: 250 feet long.",
    "unsupported",
)
KNOWN_WORDS = Rule(
    "known-words",
    "judge",
    "A claim of whose words the source has less than a quarter is less probable.",
    "Source: of a bridge. Claim: Penguins mate for life.",
    "a lower probability",
)


def signals(entailment: float, known_share: float) -> dict[str, float]:
    """Returns the signals of a claim by name; more of any speaks for the claim. Both shares are in [0, 1]."""
    return {
        "entailment": math.log((entailment + _CERTAINTY) / (1 - entailment + _CERTAINTY)),
        "known_words": -max(0.0, 1 - known_share / _ENOUGH) if KNOWN_WORDS.is_on else 0.0,
    }


def claim_support(evidence: Mapping[str, float]) -> float:
    """Returns the probability in (0, 1) that the source supports a claim with these signals."""
    model = _weights()
    log_odds = model.intercept + math.fsum(weight * evidence[name] for name, weight in model.weights.items())
    return 1 / (1 + math.exp(-log_odds))


def is_unsupported(mark: float) -> bool:
    """Tells whether a word with such a mark, in a claim that is not supported, is one that is not."""
    return mark >= _weights().unsupported_word


@cache
def _weights() -> ClaimSupportWeights:
    text = files("pipeline.support").joinpath("claim_support.json").read_text(encoding="utf-8")
    return ClaimSupportWeights.model_validate_json(text)


@dataclass(frozen=True, slots=True)
class Premises:
    """What a document has of a statement."""

    hypothesis: Hypothesis  # what a model reads
    passages: tuple[Passage, ...]  # the premises, the longest first
    weights: dict[str, float]  # of the statement's content words, by stem


class PremiseFinder(PassageFinder):
    """A document, read once, and what it has of statements. About 0.5 s for 1 MB."""

    def __init__(self, text: str | ReadText, *, has_turns: bool = True, most_chars: int = PASSAGE_CHARS) -> None:
        """Reads the text, unless that is done.

        Args:
            has_turns: whether it may be a dialogue, whose sentences are read with their speaker in front.
            most_chars: of the longer passage.
        """
        read = ReadText.of("document", text, MAX_SENTENCE_CHARS) if isinstance(text, str) else text
        super().__init__(read, most_chars, has_turns=has_turns)

    def find(self, statement: str) -> Premises:
        """Returns what the document has of a statement."""
        weights = self.weights(statement)
        passages = self.for_claim(weights, SHORT_PASSAGE_CHARS) if weights else ()
        words = " ".join(statement.replace("|", " ").split())
        hypothesis = Hypothesis.of(words, passages, self.index.known_share(weights), self.values)
        return Premises(hypothesis, passages, weights)

    @cached_property
    def values(self) -> Values:
        """Those of the document."""
        return Values(self.read.text.text)

    def weights(self, statement: str) -> dict[str, float]:
        """Returns the weights of a statement's content words, by stem."""
        table = WordTable.of(nfkc(statement)[0])
        return claim_weights(table, range(len(table)), self.index)
