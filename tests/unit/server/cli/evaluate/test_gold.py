"""How a golden reference is asked for, and what a person is told of it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from precis.v1 import evaluate_pb2 as pb
from precis.v1 import evidence_pb2
from precis.v1 import summarize_pb2 as summaries

from server.cli.errors import CliError
from server.cli.evaluate.gold import WISHES, GoldProposal, print_proposal, write_source
from server.cli.summarize.run import SummaryCalls

ENTRY = pb.GoldStandardEntry(source_id="report.txt", text="The gate held.")


def calls(
    writer: summaries.WriterKind.ValueType,
    status: summaries.SummaryStatus.ValueType,
    asked: list[summaries.SummarizeRequest],
) -> SummaryCalls:
    """A server that notes what it is asked for."""

    async def plan(_: summaries.PlanSummaryRequest) -> summaries.SummaryPlan:
        return summaries.SummaryPlan(writer_kind=writer)

    async def summarize(request: summaries.SummarizeRequest) -> AsyncIterator[summaries.SummaryEvent]:
        asked.append(request)
        yield summaries.SummaryEvent(summary=summaries.Summary(status=status, text="The gate held."))

    def never(*_: object) -> Any:  # noqa: ANN401 - whatever a call returns
        raise NotImplementedError

    return SummaryCalls(flags="", summarize=summarize, resume=never, plan=plan, get=never)


@pytest.mark.parametrize(
    ("writer", "wishes"),
    [(summaries.WRITER_KIND_LANGUAGE_MODEL, WISHES), (summaries.WRITER_KIND_EXTRACTIVE, "")],
)
async def test_only_a_language_model_is_told_how_to_write(writer: summaries.WriterKind.ValueType, wishes: str) -> None:
    asked: list[summaries.SummarizeRequest] = []
    await write_source(ENTRY, calls(writer, summaries.SUMMARY_STATUS_DONE, asked))
    [request] = asked
    assert (request.options.instructions, request.document.text) == (wishes, ENTRY.text)
    assert request.options.detail == summaries.SUMMARY_DETAIL_FULL


async def test_a_partial_summary_makes_no_reference() -> None:
    with pytest.raises(CliError, match="partial"):
        await write_source(ENTRY, calls(summaries.WRITER_KIND_EXTRACTIVE, summaries.SUMMARY_STATUS_FAILED, []))


def test_what_is_left_out_is_said_and_texts_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    claim = evidence_pb2.Claim(probability=0.2)
    claim.passage.text, claim.support.text = "It cost\x1b[31m 61 million.", "It cost 51 million."
    datum = pb.GoldStandardDatum(entry=ENTRY, summary=pb.GoldStandardSummary(main_theme="A gate.", summary="It held."))
    print_proposal(GoldProposal(datum, [claim]), Path("gold.json"))
    shown = capsys.readouterr()
    assert "left out, not supported (0.20): It cost" in shown.err
    assert "closest: It cost 51 million." in shown.err
    assert "No key facts" in shown.err
    assert "\x1b" not in shown.out + shown.err
    print_proposal(GoldProposal(datum, []), None)
    assert capsys.readouterr().out == ""  # there stands the JSON
