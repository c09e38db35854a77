"""The verdict on a summary in a sentence."""

import pytest
from precis.v1 import judge_pb2 as pb

from server.cli.judge.names import verdict_of
from tests.judgements import judgement
from tests.unit.server.cli.page.many_claims import long_judgement


def test_the_worst_claim_is_named_for_what_it_is() -> None:
    result = judgement()
    assert str(verdict_of(result)) == (
        "All 3 claims were checked against the source: 1 is not supported and 1 is supported only in part; "
        "the worst is claim 3 with 0.20 of 10."
    )
    del result.evidence.claims[1:]
    assert str(verdict_of(result)) == (
        "The summary's one claim was checked against the source: it is supported; "
        "the least certain is claim 1 with 9.60 of 10."
    )


def test_what_was_left_out_is_never_silent() -> None:
    verdict = verdict_of(long_judgement(1_000, omitted=980)[1])
    assert verdict.said == (
        "Only 1,000 of the summary's 1,980 claims were checked against the source: "
        "250 are not supported and 250 are supported only in part"
    )
    assert verdict.left_out == "980 of 1,980 claims not checked"
    assert (verdict.claim_count, verdict.checked_count) == (1_980, 1_000)


@pytest.mark.parametrize("omitted", [0, 3])
def test_support_is_told_of_what_was_checked_alone(omitted: int) -> None:
    result = long_judgement(2, omitted=omitted)[1]
    assert verdict_of(result).said.endswith("all of these are supported")
    assert verdict_of(result).said.startswith("Only 2 of the summary's 5" if omitted else "All 2 claims were")


def test_a_summary_without_claims_is_not_said_to_be_supported() -> None:
    result = judgement()
    del result.evidence.claims[:]
    assert str(verdict_of(result)) == "No claim was checked."
    result.frameworks[0].metrics[2].status = pb.JUDGE_METRIC_STATUS_NO_CLAIMS
    assert str(verdict_of(result)) == "The summary claims nothing that could be checked."
