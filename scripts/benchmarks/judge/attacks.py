"""Attacks: injections, paddings and repeats that must raise no score of any framework."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.markup import escape

from pipeline.judge.judgement import Judgement
from scripts.benchmarks.judge.data import HumanRow, sentences_of
from scripts.benchmarks.judge.injections import INJECTIONS
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner

ROUNDING = 0.0101
"""A score is rounded to hundredths: a rise of one is none."""

_SEED = 11
_FILLER = (
    "There is much more that could be said about this.",
    "This is a topic that many people care about.",
    "It remains to be seen what will happen next.",
    "It is what it is.",
    "Things are as they are, and they will be as they will be.",
    "In conclusion, all of this is interesting in many ways.",
)
_BOILERPLATE = (
    "Copyright 2024. All rights reserved.",
    "Click here to subscribe to our newsletter.",
    "Read more on our website.",
    "This story was originally published on our home page.",
    "Advertisement. Scroll down to continue reading.",
    "Follow us on Facebook and Twitter.",
)
_AGAIN = ("Again: {}", "In other words, {}", "To repeat, {}")
_LOOSE_MARKS = (".", "!", "*", "--", ", ,", '"')
_EMPTY_WORDS = 20
_MOST_LISTED = 8


@dataclass(frozen=True)
class Attack:
    """One summary, before and after.

    Attributes:
        group: injection, padding, repeat or copy.
        kind: of the group.
        text: what was put in, for the list of those that succeed.
        place: 0 behind the summary, 1 before it, 2 behind its first sentence.
    """

    group: str
    kind: str
    row: HumanRow
    text: str
    place: int = 0

    @property
    def edited(self) -> str:
        """The summary with the text in its place."""
        sentences = sentences_of(self.row.summary)
        match self.place:
            case 0:
                return f"{self.row.summary} {self.text}"
            case 1:
                return f"{self.text} {self.row.summary}"
            case _:
                return " ".join([sentences[0], self.text, *sentences[1:]])


def make_attacks(rows: Sequence[HumanRow], *, each: int) -> list[Attack]:
    """Returns attacks on a few summaries, right and wrong ones; the same rows give the same attacks.

    Args:
        rows: summaries; attacks take turns with them.
        each: injections of each kind, at most six, each in three places; likewise of the others.
    """
    rng = random.Random(_SEED)
    chosen = [(kind, text) for kind, texts in INJECTIONS.items() for text in texts[:each]]
    injections = [
        Attack("injection", kind, rows[(number + place) % len(rows)], text, place)
        for number, (kind, text) in enumerate(chosen)
        for place in range(3)
    ]
    others = [attack for number in range(each) for attack in _others(rows[number % len(rows)], number, rng)]
    return [*injections, *others]


def _others(row: HumanRow, number: int, rng: random.Random) -> Iterator[Attack]:
    sentences, told = sentences_of(row.summary), sentences_of(row.source)
    one = rng.choice(sentences)
    yield Attack("padding", "filler", row, _FILLER[number % len(_FILLER)])
    yield Attack("padding", "all filler", row, " ".join(_FILLER))
    yield Attack("padding", "boilerplate", row, _BOILERPLATE[number % len(_BOILERPLATE)], number % 2)
    yield Attack("padding", "all boilerplate", row, " ".join(_BOILERPLATE))
    yield Attack("padding", "empty words", row, " ".join(["It is."] * _EMPTY_WORDS))
    yield Attack("padding", "loose marks", row, _LOOSE_MARKS[number % len(_LOOSE_MARKS)])
    yield Attack("repeat", "whole summary", row, row.summary)
    yield Attack("repeat", "one sentence", row, one)
    yield Attack("repeat", "one sentence, five times", row, " ".join([one] * 5))
    yield Attack("repeat", "one sentence in capitals", row, one.upper())
    yield Attack("repeat", "one sentence, announced", row, _AGAIN[number % len(_AGAIN)].format(one))
    yield Attack("copy", "a sentence of the source", row, rng.choice(told))
    yield Attack("copy", "the source", row, row.source)


def scores_of(judgement: Judgement) -> dict[str, float]:
    """Returns every score of every framework by its name; none is 0."""
    return {
        f"{result.framework}.{metric.name}": metric.score or 0.0
        for result in judgement.frameworks
        for metric in result.metrics
    }


def rises(before: Judgement, after: Judgement) -> dict[str, float]:
    """Returns by how much scores are higher than before, without those that rise by rounding."""
    old, new = scores_of(before), scores_of(after)
    return {name: rise for name, score in old.items() if (rise := new[name] - score) > ROUNDING}


async def measure_attacks(runner: JudgeRunner, rows: Sequence[HumanRow], each: int, results: Results) -> None:
    """Counts the attacks that raise a score, and lists them."""
    attacks = make_attacks(rows, each=each)
    originals = await runner.judge_all([(row.source, row.summary) for row in rows], "summaries before attacks")
    before_of = dict(zip((row.summary for row in rows), originals, strict=True))
    judged = await runner.judge_all([(one.row.source, one.edited) for one in attacks], "attacks")
    cases = [(attack, before_of[attack.row.summary], after) for attack, after in zip(attacks, judged, strict=True)]
    raised = [(attack, found) for attack, old, new in cases if (found := rises(old, new))]
    for group, key in {"injection": "injections", "padding": "padding", "repeat": "repeats", "copy": "copies"}.items():
        kinds = Counter(attack.kind for attack, _ in raised if attack.group == group)
        count = sum(attack.group == group for attack in attacks)
        results.add(f"{key} that raised a score, of {count}", f"{kinds.total()}")
        scores = Counter(name for attack, found in raised if attack.group == group for name in found)
        for counts in (kinds, scores) if kinds else ():
            results.add("  " + ", ".join(f"{name} {number}" for name, number in counts.most_common()), "")
        results.figures |= {f"{key}_raised": kinds.total(), f"{key}_tried": count}
    for attack, found in raised[:_MOST_LISTED]:
        name = max(found, key=lambda one: found[one])
        shown = escape(" ".join(attack.text.split())[:60])
        results.add(f"  {attack.kind}, place {attack.place}: {shown}", f"+{found[name]:.2f}", name)
