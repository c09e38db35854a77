"""How a golden reference is asked for, and what a person is told of it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self, cast

import pytest
from precis.v1 import evaluate_pb2 as pb
from precis.v1 import evidence_pb2
from precis.v1 import summarize_pb2 as summaries

from server.cli.connection import CommandClient
from server.cli.errors import CliError
from server.cli.evaluate.gold import WISHES, print_proposal, write_source

ENTRY = pb.GoldStandardEntry(source_id="report.txt", text="The gate held.")


class FakeRun:
    """A summary that ends at once."""

    def __init__(self, summary: summaries.Summary) -> None:
        self._summary = summary

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def __aiter__(self) -> AsyncIterator[Any]:
        steps: list[Any] = []
        for step in steps:
            yield step

    async def result(self) -> summaries.Summary:
        return self._summary


class FakeClient:
    """A server that notes what it is asked for."""

    def __init__(self, writer: summaries.WriterKind.ValueType, status: summaries.SummaryStatus.ValueType) -> None:
        self._plan = summaries.SummaryPlan(writer_kind=writer)
        self._status = status
        self.asked: list[tuple[summaries.Document, summaries.SummarizeOptions]] = []

    async def plan_summary(self, *_: object, **__: object) -> summaries.SummaryPlan:
        return self._plan

    def summarize(self, document: summaries.Document, *, options: summaries.SummarizeOptions) -> FakeRun:
        self.asked.append((document, options))
        return FakeRun(summaries.Summary(status=self._status, text="The gate held."))


@pytest.mark.parametrize(
    ("writer", "wishes"), [(summaries.WRITER_KIND_LANGUAGE_MODEL, WISHES), (summaries.WRITER_KIND_EXTRACTIVE, "")]
)
async def test_only_a_language_model_is_told_how_to_write(writer: summaries.WriterKind.ValueType, wishes: str) -> None:
    client = FakeClient(writer, summaries.SUMMARY_STATUS_DONE)
    await write_source(ENTRY, cast("CommandClient", client))
    [(document, options)] = client.asked
    assert (options.instructions, document.text) == (wishes, ENTRY.text)
    assert options.detail == summaries.SUMMARY_DETAIL_FULL


async def test_a_partial_summary_makes_no_reference() -> None:
    client = FakeClient(summaries.WRITER_KIND_EXTRACTIVE, summaries.SUMMARY_STATUS_FAILED)
    with pytest.raises(CliError, match="partial"):
        await write_source(ENTRY, cast("CommandClient", client))


def test_what_is_left_out_is_said_and_texts_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    claim = evidence_pb2.Claim(probability=0.2)
    claim.passage.text, claim.support.text = "It cost\x1b[31m 61 million.", "It cost 51 million."
    reference = pb.GoldStandardSummary(main_theme="A gate.", summary="It held.")
    print_proposal(reference, [claim], Path("gold.json"))
    shown = capsys.readouterr()
    assert "left out, not supported (0.20): It cost" in shown.err
    assert "closest: It cost 51 million." in shown.err
    assert "No key facts" in shown.err
    assert "\x1b" not in shown.out + shown.err
    print_proposal(reference, [], None)
    assert capsys.readouterr().out == ""  # there stands the JSON
