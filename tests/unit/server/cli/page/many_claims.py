"""Judgements of long summaries, made up: every claim has a passage of its own, and the labels go round."""

from collections.abc import Sequence

from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.commands.judge import Floor
from server.cli.judge.judgements import Item, JudgeAnswer, JudgeTally
from tests.judgements import PARTIAL, SOURCE, SUPPORTED, UNSUPPORTED, framework, in_source, in_summary

FIRST, SECOND, THIRD, FOURTH = (f"{sentence.removesuffix('.')}." for sentence in SOURCE.split(". "))
"""Sentences of the short source."""

LABELS = (SUPPORTED, SUPPORTED, PARTIAL, UNSUPPORTED)
PROBABILITIES = {SUPPORTED: 0.8, PARTIAL: 0.5, UNSUPPORTED: 0.05}


def long_judgement(count: int, *, omitted: int = 0, name: str = "long.txt") -> tuple[Item, pb.JudgeResult]:
    """A summary of so many sentences, one claim each, of a source of twice as many sentences."""
    source = " ".join(source_sentence(at) for at in range(2 * count))
    summary = " ".join(f"Station {at} opened in {1800 + at}." for at in range(count))
    claims = [long_claim(at, source, summary) for at in range(count)]
    evidence = evidence_pb2.EvidenceTable(claims=claims, omitted_claim_count=omitted)
    ultra = framework(pb.JUDGE_FRAMEWORK_ULTRA, [5.0, 6.0, 7.0, 8.0, 9.0])
    for metric in ultra.metrics[:4] if omitted else ():
        metric.status = pb.JUDGE_METRIC_STATUS_PARTIAL
    return Item(name, source, summary), pb.JudgeResult(evidence=evidence, frameworks=[ultra])


def page_of_one(item: Item, result: pb.JudgeResult, floors: Sequence[Floor] = ()) -> str:
    """The page of a single judgement."""
    tally = JudgeTally(floors, keeps_page=True)
    tally.add(JudgeAnswer(item.id, item, result, None, ""))
    return tally.render(has_index=False)


def source_sentence(at: int) -> str:
    return f"Station {at} of the line was opened in {1800 + at} by mayor {at}."


def long_claim(at: int, source: str, summary: str) -> evidence_pb2.Claim:
    """Claim number `at`; its passage begins a sentence before the one that decides."""
    label = LABELS[at % len(LABELS)]
    support = source_sentence(at)
    before = f"{source_sentence(at - 1)} " if at else ""
    return evidence_pb2.Claim(
        passage=in_summary(f"Station {at} opened in {1800 + at}.", summary),
        premise=in_source(before + support, source),
        support=in_source(support, source),
        probability=PROBABILITIES[label] + at % 10 / 100,
        label=label,
        unsupported=[in_summary(f"in {1800 + at}", summary)] if label == PARTIAL else [],
    )
