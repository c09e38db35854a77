from collections.abc import Sequence

from precis.v1 import evaluate_pb2 as pb

from scripts.benchmarks.evaluate.evaluate import changed_share, decisions


def response(facts: Sequence[bool], sentences: Sequence[bool], points: Sequence[bool]) -> pb.EvaluateResponse:
    return pb.EvaluateResponse(
        facts=pb.FactsComponent(
            facts=[pb.EntailmentEvidence(hit=hit) for hit in facts],
            sentences=[pb.EntailmentEvidence(hit=hit) for hit in sentences],
        ),
        flow=pb.FlowComponent(
            points=[pb.OutlinePointEvidence(evidence=pb.EntailmentEvidence(hit=hit)) for hit in points]
        ),
    )


def test_decisions_are_those_on_facts_sentences_and_outline_points() -> None:
    assert decisions(response([True], [False, True], [False])) == [True, False, True, False]


def test_the_share_counts_decisions_over_all_data() -> None:
    exact = [response([True, True], [], [False]), response([True], [], [])]
    pruned = [response([True, False], [], [False]), response([True], [], [])]
    assert changed_share(exact, pruned) == 1 / 4
