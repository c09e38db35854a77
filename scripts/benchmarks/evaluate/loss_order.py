"""Does the loss put a faithful summary before its damaged copies?

Thirty golden data of this project, each of three passages of one kind of text. A faithful summary stands there twice:
in dense sentences that join facts, and in short ones of one fact each. Each is damaged in six ways.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from pipeline.evaluate.datum import GeneratedSummary, GoldStandardDatum, GoldStandardEntry, GoldStandardSummary
from pipeline.evaluate.evaluator import Evaluator
from pipeline.protocols import Models
from scripts.benchmarks.shared.corpus import ROOT

GOLDEN = ROOT / "scripts" / "data" / "loss.jsonl"
_STEP = 7  # to the datum that a foreign paragraph is from; of another kind of text


class Damage(StrEnum):
    """What makes a faithful summary worse."""

    LIE = "lie"
    FOREIGN = "foreign"
    REVERSED = "reversed"
    HALF = "half"
    NEAR_EMPTY = "near_empty"
    ARTICLE = "article"


class GoldenText(BaseModel):
    """A golden datum with faithful summaries of both kinds, as lists of sentences, and a lie about it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    source: str
    key_facts: tuple[str, ...]
    logical_outline: tuple[str, ...]
    entity_list: tuple[str, ...]
    joined: tuple[str, ...]
    atomic: tuple[str, ...]
    lie: str

    @property
    def datum(self) -> GoldStandardDatum:
        """The golden reference with its source."""
        gold = GoldStandardSummary(
            summary=" ".join(self.key_facts),
            key_facts=self.key_facts,
            logical_outline=self.logical_outline,
            entity_list=self.entity_list,
        )
        return GoldStandardDatum(entry=GoldStandardEntry(source_id=self.id, text=self.source), summary=gold)

    def damaged(self, sentences: Sequence[str], foreign: "GoldenText") -> Iterator[tuple[Damage, str]]:
        """Yields the damaged copies of a faithful summary."""
        middle = len(sentences) // 2
        yield Damage.LIE, " ".join((*sentences[:middle], self.lie, *sentences[middle:]))
        yield Damage.FOREIGN, "\n\n".join((" ".join(sentences), " ".join(foreign.atomic[:3])))
        yield Damage.REVERSED, " ".join(reversed(sentences))
        yield Damage.HALF, " ".join(sentences[:middle])
        yield Damage.NEAR_EMPTY, self.logical_outline[0]
        yield Damage.ARTICLE, self.source


@dataclass(frozen=True)
class LossOrder:
    """The losses of one faithful summary and of its damaged copies."""

    faithful: float
    damaged: Mapping[Damage, float]

    @property
    def in_order(self) -> list[Damage]:
        """The damaged copies with a greater loss."""
        return [damage for damage, loss in self.damaged.items() if loss > self.faithful]


def golden_texts(file: Path = GOLDEN) -> list[GoldenText]:
    """Reads the data; those of even places are there to choose by, the others to report."""
    return [GoldenText.model_validate(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


async def measure_orders(texts: Sequence[GoldenText], models: Models, evaluator: Evaluator) -> list[LossOrder]:
    """Evaluates both faithful summaries of each datum, and all of their copies."""

    async def loss_of(text: GoldenText, summary: str) -> float:
        return (await evaluator.evaluate(text.datum, GeneratedSummary(text=summary), models)).loss

    orders = []
    for place, text in enumerate(texts):
        foreign = texts[(place + _STEP) % len(texts)]
        for sentences in (text.joined, text.atomic):
            damaged = {damage: await loss_of(text, copy) for damage, copy in text.damaged(sentences, foreign)}
            orders.append(LossOrder(await loss_of(text, " ".join(sentences)), damaged))
    return orders


def loss_order(orders: Sequence[LossOrder]) -> float:
    """Returns the share of pairs with a smaller loss for the faithful summary, in [0, 1]."""
    return sum(len(order.in_order) for order in orders) / sum(len(order.damaged) for order in orders)


def order_by_damage(orders: Sequence[LossOrder]) -> dict[Damage, float]:
    """Returns the same share for each damage."""
    counts = Counter(chain.from_iterable(order.in_order for order in orders))
    return {damage: counts[damage] / len(orders) for damage in Damage}
