"""Evaluations as a server would send them, for what shows them. The numbers are made up."""

from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb

from server.cli.evaluate.evaluations import Candidate
from server.cli.tally import Answer

SUMMARY = "The gate closed on Tuesday. The market was flooded."
EvaluateAnswer = Answer[Candidate, pb.EvaluateResponse]


def span(text: str, words: str) -> common_pb2.TextSpan:
    start = text.index(words)
    return common_pb2.TextSpan(start=start, end=start + len(words), text=words)


def pair(text: str, words: str, premise: str, *, hit: bool) -> pb.EntailmentEvidence:
    found = span(premise, premise) if premise else None
    probability = 0.9 if hit else 0.1
    return pb.EntailmentEvidence(
        hypothesis=span(text, words), premise=found, entailment=probability, probability=probability, hit=hit
    )


def candidate(name: str = "summary.txt", *, category: str = "") -> Candidate:
    request = pb.EvaluateRequest()
    request.datum.entry.category, request.datum.entry.text = category, "A long document."
    request.datum.summary.main_theme, request.datum.summary.summary = "A tide gate.", "The gate held."
    request.generated.text = SUMMARY
    return Candidate(name, request)


def evaluation(loss: float = 0.4) -> pb.EvaluateResponse:
    response = pb.EvaluateResponse(loss=loss)
    for name in ("facts", "entities", "flow", "semantic", "length"):
        part = getattr(response, name).score
        part.score, part.weight, part.applicable = 0.5, 0.2, True
    first, second = "The gate closed on Tuesday.", "The market was flooded."
    fact = "The market stayed dry."
    facts = response.facts
    facts.hit_fact_count, facts.fact_count, facts.supported_sentence_count, facts.sentence_count = 0, 1, 1, 2
    facts.facts.append(pair(fact, fact, second, hit=False))
    facts.sentences.extend([pair(SUMMARY, first, "The gate held.", hit=True), pair(SUMMARY, second, "", hit=False)])
    response.flow.points.add().evidence.CopyFrom(pair("It opened.", "It opened.", first, hit=True))
    response.flow.points.add().evidence.CopyFrom(pair("It closed.", "It closed.", second, hit=True))
    response.flow.inversions.add(earlier_point=0, later_point=1)
    name = "Marrow Sound"
    response.entities.entities.add(entity=span(name, name), status=pb.ENTITY_STATUS_NOT_FOUND)
    return response


def hard_fail() -> pb.EvaluateResponse:
    return pb.EvaluateResponse(loss=1.0, hard_fail=pb.HardFail(rule=pb.HARD_FAIL_RULE_TRUNCATION, reason="It is cut."))


def answered(item: Candidate, response: pb.EvaluateResponse) -> EvaluateAnswer:
    return EvaluateAnswer(item.id, item, response, None, "")
