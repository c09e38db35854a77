"""Invented sentences in a long summary: are they found and listed, do scores fall with them, is all of it read?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.config import EvidenceConfig, JudgeConfig
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import Framework, MetricName, MetricResult, MetricStatus
from pipeline.support.claim_support import ClaimLabel
from scripts.benchmarks.judge.data import HumanRow, sentences_of
from scripts.benchmarks.judge.results import Results
from scripts.benchmarks.judge.runner import JudgeRunner

INVENTED = (
    "The finance ministry of Portugal confirmed on Thursday that 4,300 teachers will be dismissed next spring.",
    "A ferry with 212 passengers ran aground near Bergen in thick fog, and nobody was hurt.",
    "Scientists in Nairobi have grown a banana that ripens within four hours of being picked.",
    "The orchestra's conductor resigned after a long dispute over the price of two violins.",
    "Its new library on the harbour holds more than 80,000 maps of the moon.",
)
TRUE_SENTENCES = 236
_WORDS = range(8, 21)  # of a sentence that is taken: less is a heading, more costs time and shows nothing
_ENDS = re.compile(r"[a-z]{4,}\.$")  # no abbreviation: the next sentence would belong to it
_BOUND = 100  # claims; less than there are
_HONEST = (MetricStatus.PARTIAL, MetricStatus.ABSTAINED)
_LOCKS = (Framework.TWIN_LOCK, Framework.JUDGE_LOCK)


@dataclass(frozen=True)
class LongText:
    """A long source and what is told of it.

    Attributes:
        source: articles, one behind the other.
        sentences: of the source, in order.
        foreign: sentences of other articles.
    """

    source: str
    sentences: tuple[str, ...]
    foreign: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[HumanRow]) -> "LongText":
        """Joins as many articles as it takes; the others are foreign. Raises RuntimeError when there are too few."""
        articles = list(dict.fromkeys(row.source for row in rows))
        told: dict[str, str] = {}  # by letters: the judge leaves out a sentence that says the same again
        for number, article in enumerate(articles, start=1):
            for sentence in _usable(article):
                told.setdefault("".join(filter(str.isalnum, sentence.casefold())), sentence)
            if len(told) >= TRUE_SENTENCES:
                foreign = dict.fromkeys(one for other in articles[number:] for one in _usable(other)[:1])
                sentences = tuple(told.values())[:TRUE_SENTENCES]
                return cls("\n\n".join(articles[:number]), sentences, tuple(foreign))
        raise RuntimeError(f"the articles have fewer than {TRUE_SENTENCES} sentences of {_WORDS}")

    def summary(self, others: Sequence[str]) -> str:
        """Returns the sentences with others spread evenly among them."""
        told = list(self.sentences)
        for number, other in reversed(list(enumerate(others, start=1))):
            told.insert(number * len(self.sentences) // (len(others) + 1), other)
        return " ".join(told)


async def measure_invented(
    runner: JudgeRunner, rows: Sequence[HumanRow], more: Sequence[int], results: Results
) -> None:
    """Five invented sentences among 241.

    Args:
        runner: judges.
        rows: articles to join.
        more: numbers of sentences about other articles that are put in too, to see whether scores go on to fall.
        results: added to.
    """
    text = LongText.of(rows)
    added = [(), INVENTED, *(text.foreign[:count] for count in more)]
    counts = ", ".join(str(len(others)) for others in added)
    judged = await runner.judge_all([(text.source, text.summary(others)) for others in added], "241 sentences")
    five = judged[1]
    found = sum(is_found(five, sentence) for sentence in INVENTED)
    listed = {lock.value: sum(is_listed(five, sentence, lock) for sentence in INVENTED) for lock in _LOCKS}
    bound = JudgeConfig(evidence=EvidenceConfig(max_claims=_BOUND))
    bounded = await runner.judge((text.source, text.summary(INVENTED)), bound)
    falls = {framework.value: _falls(judged, framework) for framework in Framework}
    told = len(sentences_of(text.summary(INVENTED)))
    results.add(f"invented sentences found, of {len(INVENTED)} among {told}", str(found))
    for lock, count in listed.items():
        results.add(f"  listed as unsupported, {lock}", str(count))
    results.add("  true claims called unsupported, of all", _false_alarms(five))
    for framework in Framework:
        scores = ", ".join(f"{score:g}" for score in _hallucination(judged, framework))
        results.add(f"  hallucination with {counts} invented, {framework}", scores)
    results.add("  claims read", f"{five.checked_claim_count} of {five.claim_count}")
    results.add(
        f"  with a bound of {_BOUND}", f"{bounded.checked_claim_count} of {bounded.claim_count}, {_said(bounded)}"
    )
    results.figures |= {
        "invented_found": found,
        "invented_listed": min(listed.values()),
        "invented_sentences": told,
        "invented_scores_fall": all(falls.values()),
        "invented_worst_claim": five.worst_claim_score,
        "invented_all_read": five.checked_claim_count == five.claim_count >= told,
        "bound_is_said": all(metric.status in _HONEST for metric in _of_claims(bounded)),
    }


def is_found(judgement: Judgement, sentence: str) -> bool:
    """Tells whether a claim of a sentence is called unsupported."""
    return any(
        claim.label is ClaimLabel.UNSUPPORTED and claim.passage.text in sentence for claim in judgement.table.claims
    )


def is_listed(judgement: Judgement, sentence: str, lock: Framework) -> bool:
    """Tells whether the lock's object for hallucination shows a claim of a sentence as unsupported."""
    shown = judgement[lock].objects[MetricName.HALLUCINATION]["claims"]
    rows = [row for row in shown if isinstance(row, dict)] if isinstance(shown, list) else []
    return any(str(row["claim"]) in sentence and row["label"] == "Unsupported" for row in rows)


def _usable(article: str) -> list[str]:
    sentences = (sentence.strip() for sentence in sentences_of(article))
    return [one for one in sentences if len(one.split()) in _WORDS and one[0].isupper() and _ENDS.search(one)]


def _hallucination(judged: Sequence[Judgement], framework: Framework) -> list[float]:
    return [judgement[framework][MetricName.HALLUCINATION].score or 0.0 for judgement in judged]


def _falls(judged: Sequence[Judgement], framework: Framework) -> bool:
    """Tells whether scores never rise with the share of invented sentences, and are lower in the end."""
    scores = _hallucination(judged, framework)
    return scores == sorted(scores, reverse=True) and scores[-1] < scores[0]


def _false_alarms(judgement: Judgement) -> str:
    claims = [claim for claim in judgement.table.claims if not any(claim.passage.text in one for one in INVENTED)]
    return f"{sum(claim.label is ClaimLabel.UNSUPPORTED for claim in claims)} of {len(claims)}"


def _said(judgement: Judgement) -> str:
    """Returns the statuses of the scores that depend on claims."""
    return ", ".join(sorted({metric.status.value for metric in _of_claims(judgement)}))


def _of_claims(judgement: Judgement) -> list[MetricResult]:
    metrics = (metric for result in judgement.frameworks for metric in result.metrics)
    return [metric for metric in metrics if metric.name is not MetricName.BIAS_TOXICITY]
