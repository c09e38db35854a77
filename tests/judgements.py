"""Judgements as a server would send them, for what shows them. The numbers are made up and consistent."""

from collections.abc import Sequence

from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb

SOURCE = (
    "The city of Harlow Falls replaced 9,300 lead service lines between 2017 and June 2023. The work cost $71 million, "
    "which is 12 percent more than planned. The auditor does not expect the city to meet the deadline of 2027. "
    "The council has approved a second crew."
)
SUMMARY = "Harlow Falls replaced 9,300 lead lines. The work cost $17 million. The city will meet its deadline."
SUPPORTED, PARTIAL, UNSUPPORTED = (
    evidence_pb2.CLAIM_LABEL_SUPPORTED,
    evidence_pb2.CLAIM_LABEL_PARTIAL,
    evidence_pb2.CLAIM_LABEL_UNSUPPORTED,
)

NAMES = (
    pb.JUDGE_METRIC_NAME_COVERAGE,
    pb.JUDGE_METRIC_NAME_ALIGNMENT,
    pb.JUDGE_METRIC_NAME_HALLUCINATION,
    pb.JUDGE_METRIC_NAME_RELEVANCE,
    pb.JUDGE_METRIC_NAME_BIAS_TOXICITY,
)


def span(text_id: str, text: str, words: str) -> common_pb2.TextSpan:
    """Finds words in a text. Fails when they are not there."""
    start = text.index(words)
    return common_pb2.TextSpan(text_id=text_id, start=start, end=start + len(words), text=words)


def in_source(words: str, source: str = SOURCE) -> common_pb2.TextSpan:
    return span("source", source, words)


def in_summary(words: str, summary: str = SUMMARY) -> common_pb2.TextSpan:
    return span("summary", summary, words)


def supported_claim() -> evidence_pb2.Claim:
    return evidence_pb2.Claim(
        passage=in_summary("Harlow Falls replaced 9,300 lead lines."),
        entailment=0.97,
        contradiction=0.01,
        premise=in_source("The city of Harlow Falls replaced 9,300 lead service lines between 2017 and June 2023."),
        support=in_source("The city of Harlow Falls replaced 9,300 lead service lines between 2017 and June 2023."),
        probability=0.96,
        label=SUPPORTED,
    )


def partial_claim() -> evidence_pb2.Claim:
    """Partly supported: a number differs."""
    mismatch = evidence_pb2.ClaimMismatch(
        kind=evidence_pb2.MISMATCH_KIND_NUMBER, claim=in_summary("$17 million"), source=in_source("$71 million")
    )
    return evidence_pb2.Claim(
        passage=in_summary("The work cost $17 million."),
        entailment=0.81,
        contradiction=0.12,
        premise=in_source("The work cost $71 million, which is 12 percent more than planned."),
        support=in_source("The work cost $71 million, which is 12 percent more than planned."),
        mismatches=[mismatch],
        probability=0.41,
        label=PARTIAL,
        unsupported=[mismatch.claim],
    )


def unsupported_claim() -> evidence_pb2.Claim:
    """Contradicted."""
    return evidence_pb2.Claim(
        passage=in_summary("The city will meet its deadline."),
        entailment=0.02,
        contradiction=0.93,
        premise=in_source(SOURCE[SOURCE.index("The auditor") :]),
        support=in_source("The auditor does not expect the city to meet the deadline of 2027."),
        probability=0.02,
        label=UNSUPPORTED,
        unsupported=[in_summary("The city will meet its deadline.")],
    )


def evidence() -> evidence_pb2.EvidenceTable:
    """A claim of each label, a key point, and questions with and without an answer."""
    questions = (
        evidence_pb2.Question(question="The work cost ____.", answer="$71 million", given="$17 million"),
        evidence_pb2.Question(question="The council has approved ____.", answer="a second crew"),
    )
    key_point = evidence_pb2.KeyPoint(
        passage=in_source("The council has approved a second crew."),
        covered_share=0.1,
        coverage=evidence_pb2.KEY_POINT_COVERAGE_NOT,
    )
    return evidence_pb2.EvidenceTable(
        claims=[supported_claim(), partial_claim(), unsupported_claim()],
        twin_key_points=[key_point],
        coverage_questions=questions,
        question_author="deterministic",
        tokenizer="WordPiece",
        scored_pair_count=21,
    )


def metric(name: pb.JudgeMetricName.ValueType, score: float | None, **fields: object) -> pb.JudgeMetric:
    """A metric; one without a score is an error unless another status is given."""
    status = pb.JUDGE_METRIC_STATUS_SCORED if score is not None else pb.JUDGE_METRIC_STATUS_ERROR
    made = pb.JudgeMetric(name=name, status=status, score=score, reason=f"Reason {name}.")
    if score is None:
        made.error = f"missing_metric {name}"
    made.MergeFrom(pb.JudgeMetric(**fields))  # type: ignore[arg-type] # the fields of one message, whatever they are
    return made


def framework(number: pb.JudgeFramework.ValueType, scores: Sequence[float | None]) -> pb.FrameworkResult:
    """The five metrics of a framework."""
    metrics = [metric(name, score) for name, score in zip(NAMES, scores, strict=True)]
    counting = [score for score in scores if score is not None]
    mean = sum(counting) / len(counting) if counting else None
    return pb.FrameworkResult(framework=number, metrics=metrics, mean_score=mean)


def judgement() -> pb.JudgeResult:
    """All three frameworks over one evidence table; a cap, an abstention and an error among their metrics."""
    result = pb.JudgeResult(
        evidence=evidence(),
        frameworks=[
            framework(pb.JUDGE_FRAMEWORK_TWIN_LOCK, [4.0, 7.5, 3.0, 4.0, 10.0]),
            framework(pb.JUDGE_FRAMEWORK_JUDGE_LOCK, [3.0, 7.5, 1.67, None, 10.0]),
            framework(pb.JUDGE_FRAMEWORK_ULTRA, [5.21, 6.4, 3.18, 7.02, 9.9]),
        ],
        models=[common_pb2.ModelIdentity(name="tiny-nli", revision="main", sha256="ab" * 32)],
        request_hash="cd" * 32,
        claim_count=3,
        checked_claim_count=3,
        unsupported_claim_count=1,
        worst_claim_score=0.2,
    )
    coverage = result.frameworks[0].metrics[0]
    coverage.caps.add(name="unsupported_claim", limit=4, reason="A claim has no support.", lowered=True)
    coverage.caps.add(name="extraneous", limit=4, reason="Words without support.", lowered=False)
    coverage.caps.add(name="profanity", limit=4.99951, reason="A mild word.", lowered=True, applies_to="tox_score")
    coverage.inputs.add(name="recall", number=0.5)
    coverage.inputs.add(name="unsupported_count", count=1)
    coverage.inputs.add(name="severity", text="moderate")
    coverage.inputs.add(name="is_capped", flag=True)
    coverage.evidence.append(in_source("The council has approved a second crew."))
    alignment = result.frameworks[2].metrics[1]
    alignment.status, alignment.confidence = pb.JUDGE_METRIC_STATUS_ABSTAINED, 0.31
    return result


def foreign_judgement() -> pb.JudgeResult:
    """Of a text that is not English: no model read it, and nothing has a score."""
    status, error = pb.JUDGE_METRIC_STATUS_UNSUPPORTED_LANGUAGE, "unsupported_language: summary not English"
    metrics = [pb.JudgeMetric(name=name, status=status, error=error) for name in NAMES]
    numbers = (pb.JUDGE_FRAMEWORK_TWIN_LOCK, pb.JUDGE_FRAMEWORK_JUDGE_LOCK, pb.JUDGE_FRAMEWORK_ULTRA)
    return pb.JudgeResult(frameworks=[pb.FrameworkResult(framework=number, metrics=metrics) for number in numbers])
