"""The report shows what was missed, and only that."""

import io

from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb
from rich.console import Console

from server.cli.evaluate.evaluations import EvaluateTally
from server.cli.evaluate.table import COMPONENTS
from server.cli.tally import COMPARED_ROWS
from tests.unit.server.cli.evaluate.evaluations import answered, candidate


def span(text: str) -> common_pb2.TextSpan:
    return common_pb2.TextSpan(text=text)


def evidence(hypothesis: str, probability: float, premise: str = "") -> pb.EntailmentEvidence:
    found = pb.EntailmentEvidence(hypothesis=span(hypothesis), probability=probability, hit=probability >= 0.5)
    if premise:
        found.premise.CopyFrom(span(premise))
    return found


def response(loss: float = 0.25) -> pb.EvaluateResponse:
    """A response in which everything applies and nothing was missed."""
    whole = pb.EvaluateResponse(loss=loss)
    for name in COMPONENTS:
        part = getattr(whole, name).score
        part.applicable, part.score, part.weight, part.contribution = True, 1 - loss, 0.2, 0.2 * loss
    return whole


def printed(*results: tuple[str, pb.EvaluateResponse], is_brief: bool = False) -> str:
    file, tally = io.StringIO(), EvaluateTally(keeps_page=True)
    for name, result in results:
        tally.add(answered(candidate(name), result))
    tally.show(Console(file=file, width=140, highlight=False), results, is_brief=is_brief)
    return file.getvalue()


def test_nothing_missed_is_said() -> None:
    assert "Nothing was missed." in printed(("one", response()))


def test_missed_facts_come_worst_first_with_their_best_premise() -> None:
    whole = response()
    whole.facts.facts.extend([evidence("Hit.", 0.9, "X."), evidence("Near.", 0.4, "Y."), evidence("Far.", 0.1, "Z.")])
    text = printed(("one", whole))
    assert "Facts not in the summary (2)" in text
    assert "Hit." not in text
    assert text.index("0.10  Far.") < text.index("closest: Z.") < text.index("0.40  Near.") < text.index("closest: Y.")


def test_entities_are_explained() -> None:
    whole = response()
    whole.entities.entities.extend(
        [
            pb.EntityEvidence(entity=span("Kept"), status=pb.ENTITY_STATUS_VALID),
            pb.EntityEvidence(entity=span("Bare"), status=pb.ENTITY_STATUS_VALID_WITHOUT_CONTEXT),
            pb.EntityEvidence(
                entity=span("Gone"), status=pb.ENTITY_STATUS_NOT_FOUND, match=span("Done"), fuzzy_ratio=0.75
            ),
            pb.EntityEvidence(
                entity=span("Washington"),
                status=pb.ENTITY_STATUS_CONTEXT_MISMATCH,
                match=span("Washington State"),
                fuzzy_ratio=0.95,
                context_cosine=0.12,
            ),
        ]
    )
    text = printed(("one", whole))
    assert "Entities missing (2)" in text
    assert "0.75  Gone  most similar: Done" in text
    assert "0.95  Washington  found in another context (cosine 0.12): Washington State" in text
    assert "Kept" not in text
    assert "Bare" not in text


def test_inversions_name_both_points() -> None:
    whole = response()
    points = (evidence("First.", 0.9), evidence("Second.", 0.9))
    whole.flow.points.extend(pb.OutlinePointEvidence(evidence=one) for one in points)
    whole.flow.inversions.append(pb.OutlineInversion(earlier_point=0, later_point=1))
    assert "Second. before First." in printed(("one", whole))


def test_a_hard_fail_replaces_the_components() -> None:
    failed = pb.EvaluateResponse(loss=1)
    failed.hard_fail.rule = pb.HARD_FAIL_RULE_META_COMMENTARY
    failed.hard_fail.reason = "talks about itself"
    failed.hard_fail.evidence.text = "This summary covers"
    text = printed(("one", failed))
    assert "meta-commentary: talks about itself at “This summary covers”" in text
    assert "semantic" not in text


def test_what_does_not_apply_is_no_zero() -> None:
    whole = response()
    whole.facts.score.Clear()
    [row] = [line.split() for line in printed(("one", whole)).splitlines() if line.split()[:1] == ["facts"]]
    assert row[1] == "-"
    assert "does not apply" in " ".join(row)


def test_a_comparison_shows_few_rows_and_says_so() -> None:
    whole = response()
    whole.facts.facts.extend(evidence(f"Fact {number}.", 0.1) for number in range(10))
    text = printed(("one", whole), ("two", response(0.5)))
    assert text.count("  Fact ") == COMPARED_ROWS
    assert f"and {10 - COMPARED_ROWS} more; --json has all" in text
    [loss] = [line.split() for line in text.splitlines() if line.split()[:1] == ["loss"] and len(line.split()) == 3]
    assert loss == ["loss", "0.250", "0.500"]
