"""Does the loss put a faithful summary before its damaged copies?

Thirty golden data of this project, each of three passages of one kind of text. A faithful summary stands there twice:
in dense sentences that join facts, and in short ones of one fact each. Each is damaged in six ways.
"""

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from precis.v1 import evaluate_pb2 as pb
from pydantic import BaseModel, ConfigDict

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

    def request(self, summary: str) -> pb.EvaluateRequest:
        """Returns the golden reference with a summary of its source."""
        gold = pb.GoldStandardSummary(
            summary=" ".join(self.key_facts),
            key_facts=self.key_facts,
            logical_outline=self.logical_outline,
            entity_list=self.entity_list,
        )
        entry = pb.GoldStandardEntry(source_id=self.id, text=self.source)
        return pb.EvaluateRequest(
            datum=pb.GoldStandardDatum(entry=entry, summary=gold), generated=pb.GeneratedSummary(text=summary)
        )

    def damaged(self, sentences: Sequence[str], foreign: "GoldenText") -> dict[Damage, str]:
        """Returns the damaged copies of a faithful summary."""
        middle = len(sentences) // 2
        return {
            Damage.LIE: " ".join((*sentences[:middle], self.lie, *sentences[middle:])),
            Damage.FOREIGN: "\n\n".join((" ".join(sentences), " ".join(foreign.atomic[:3]))),
            Damage.REVERSED: " ".join(reversed(sentences)),
            Damage.HALF: " ".join(sentences[:middle]),
            Damage.NEAR_EMPTY: self.logical_outline[0],
            Damage.ARTICLE: self.source,
        }


def golden_texts(file: Path = GOLDEN) -> list[GoldenText]:
    """Reads the data; those of even places are there to choose by, the others to report."""
    return [GoldenText.model_validate(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def order_requests(texts: Sequence[GoldenText], count: int) -> Iterator[pb.EvaluateRequest]:
    """Yields, for the first `count` texts, each faithful summary and then its damaged copies."""
    for place, text in enumerate(texts[:count]):
        foreign = texts[(place + _STEP) % len(texts)]
        for sentences in (text.joined, text.atomic):
            copies = text.damaged(sentences, foreign).values()
            yield from map(text.request, (" ".join(sentences), *copies))


def order_by_damage(losses: Sequence[float]) -> dict[Damage, float]:
    """Returns for each damage the share of faithful summaries with a smaller loss, in [0, 1].

    Args:
        losses: of `order_requests`.
    """
    size = 1 + len(Damage)
    groups = [losses[first : first + size] for first in range(0, len(losses), size)]
    return {
        damage: sum(group[place] > group[0] for group in groups) / len(groups)
        for place, damage in enumerate(Damage, start=1)
    }
