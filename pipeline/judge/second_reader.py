"""A second reader: a language model that reads the claims which the NLI model leaves open.

It is believed as far as `precis calibrate --second-reader` measured on labelled claims. Its verdict moves the odds of a
claim by its likelihood ratio (Bayes' rule). A model that brings no gain there is not asked.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from pipeline.frozen import FrozenModel
from pipeline.model_answers import Pair
from pipeline.support.claim_support import Hypothesis, Share, Support, SupportConfig, label_of

Rate = Annotated[float, Field(gt=0, lt=1)]


class SecondReader(FrozenModel):
    """A language model as it was measured, in the file that `precis calibrate --second-reader` writes."""

    most_asked: ClassVar[int] = 48  # claims of one summary, the least certain ones: a bound on its cost
    version: Literal[1] = 1  # of this format
    reader: str  # model and prompts that were measured; no other one is asked
    low: Share  # least probability of a claim that it is asked about
    high: Share  # claims from this probability on are not put to it
    sensitivity: Rate  # share of the supported claims that it calls supported
    specificity: Rate  # share of the others that it calls unsupported
    measured: Mapping[str, float] = {}  # on claims that the above was not fitted to; see docs/concepts/calibration.md

    def is_open(self, probability: float) -> bool:
        """Tells whether a claim with this probability is put to it."""
        return self.low <= probability < self.high

    def likelihood_ratio(self, *, is_supported: bool) -> float:
        """Returns how many times as often it gives a verdict of a supported claim as of another one."""
        return self.sensitivity / (1 - self.specificity) if is_supported else (1 - self.sensitivity) / self.specificity

    def revised(self, probability: float, *, is_supported: bool) -> float:
        """Returns the probability of a claim, in (0, 1), once its verdict is known."""
        odds = probability / (1 - probability) * self.likelihood_ratio(is_supported=is_supported)
        return odds / (1 + odds)


def _read(value: object) -> object:
    """Reads the file that a setting names."""
    if not isinstance(value, str | Path):
        return value
    try:
        return SecondReader.model_validate_json(Path(value).read_bytes())
    except (OSError, ValidationError) as error:
        found = error.strerror if isinstance(error, OSError) else "it holds something else"
        raise ValueError(f"expected a file that precis calibrate --second-reader wrote: {found}") from None


SecondReaderFile = Annotated[
    SecondReader | None,
    BeforeValidator(_read),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "path"}, {"type": "null"}]}),
]


class Reading(NamedTuple):
    """What it says. `quote` stands in the passage; empty if it gives none."""

    is_supported: bool
    quote: str


@dataclass(frozen=True, slots=True)
class SecondReading:
    """A claim's second reading."""

    is_supported: bool  # the verdict
    quote: str  # of the passage, in the reader's words as found there; empty for none
    first_probability: float  # of the claim before it, in (0, 1)

    @property
    def is_agreed(self) -> bool:
        """Whether both readers say the same at even odds."""
        return self.is_supported == (self.first_probability >= 1 / 2)


Ask = Callable[[Sequence[Pair]], Awaitable[Mapping[int, Reading]]]
"""Has claims read, each behind the passage that entails it most.

Returns readings by position, without those that could not be used."""


@dataclass(frozen=True, slots=True)
class SecondReadings:
    """What the source says of each claim, once open ones have been read again."""

    supports: Sequence[Support]  # of all claims, in their order
    readings: Mapping[int, SecondReading] = field(default_factory=dict)  # by a claim's position
    notes: tuple[str, ...] = ()  # what was missing, in a few words


async def read_again(
    hypotheses: Sequence[Hypothesis],
    supports: Sequence[Support],
    *,
    ask: Ask,
    reader: SecondReader | None,
    config: SupportConfig,
) -> SecondReadings:
    """Has open claims read a second time. Without a measured reader all are read, and nothing is revised."""
    known = {at: support for at, support in enumerate(supports) if support.premise is not None}
    chosen = [at for at, support in known.items() if reader is None or reader.is_open(support.probability)]
    chosen = sorted(sorted(chosen, key=lambda at: abs(known[at].probability - 1 / 2))[: SecondReader.most_asked])
    asked = [(hypotheses[at].premises[known[at].premise or 0], hypotheses[at].text) for at in chosen]
    given = await ask(asked) if asked else {}
    readings = {
        at: SecondReading(*given[place], known[at].probability) for place, at in enumerate(chosen) if place in given
    }
    notes = (f"second readings: {len(readings)} of {len(asked)} usable",) * (len(readings) < len(asked))
    if reader is None:
        return SecondReadings(supports, readings, notes)
    revised = list(supports)
    for at, reading in readings.items():
        probability = reader.revised(reading.first_probability, is_supported=reading.is_supported)
        revised[at] = replace(revised[at], probability=probability, label=label_of(probability, config))
    return SecondReadings(revised, readings, notes)


ReadAgain = Callable[[Sequence[Hypothesis], Sequence[Support]], Awaitable[SecondReadings]]
"""`read_again` for one request."""
