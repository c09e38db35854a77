"""What `precis summarize` shows and asks for."""

import io
from functools import partial
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration
from precis.v1 import common_pb2
from precis.v1 import summarize_pb2 as pb

from server.cli.commands.summarize import BudgetOptions, SummaryOptions, TargetOptions
from server.cli.connection import open_client
from server.cli.console import output_console
from server.cli.errors import InputError, NegativeAnswer
from server.cli.options import Connection
from server.cli.progress import Progress
from server.cli.summarize.run import (
    how_to_resume,
    status_of,
    to_budget,
    to_markdown,
    to_options,
    write_layers,
    write_summary,
    written,
)
from server.cli.summarize.view import ProgressView, ending, print_plan, to_state


def test_progress_names_tokens_and_rate() -> None:
    progress = pb.SummaryProgress(
        calls_done=12,
        calls_reused=2,
        usage=common_pb2.LlmUsage(calls=10, prompt_tokens=9_000, completion_tokens=1_000),
        elapsed=Duration(seconds=5),
    )
    assert to_state(progress).details == "10,000 tokens  2.0 calls/s"


def test_the_ending_says_what_was_kept() -> None:
    summary = pb.Summary(
        summary_id="a1", calls_done=9, calls_reused=4, input_tokens=5_000, output_tokens=700, writer="extractive-1/x"
    )
    assert "technical terms" not in ending(summary)
    summary.retention.share = 0.975
    assert ending(summary) == (
        "summary a1; 9 calls (4 of them from before); 5,000 to 700 tokens; 97.5% of the technical terms kept; "
        "written by extractive-1/x"
    )


def test_the_ending_says_how_well_sentences_are_supported_and_what_is_flawed() -> None:
    counts = {pb.CITATION_SUPPORT_MARKED: 1, pb.CITATION_SUPPORT_VERBATIM: 30, pb.CITATION_SUPPORT_UNREAD: 4}
    summary = pb.Summary(citable_count=35, trust=pb.SummaryTrust(flaw_count=2))
    summary.citation_counts.extend(pb.CitationCount(support=kind, count=count) for kind, count in counts.items())
    told = ending(summary)
    assert (
        "of 35 sentences, items, rows and lines 30 word for word in the document, 1 written and not supported, 4"
        in told
    )
    assert "FLAWED IN 2 PLACES, see its end" in told


def test_a_list_says_of_a_summary_that_is_done_whether_it_is_flawed() -> None:
    done, running = pb.SUMMARY_STATUS_DONE, pb.SUMMARY_STATUS_RUNNING
    assert status_of(pb.SummaryEntry(status=done, flaw_count=1)) == "done, flawed in 1 place"
    assert status_of(pb.SummaryEntry(status=done, flaw_count=0)) == "done"
    assert status_of(pb.SummaryEntry(status=done)) == "done"
    assert status_of(pb.SummaryEntry(status=running)) == "interrupted"
    assert status_of(pb.SummaryEntry(status=running, is_running=True)) == "running"


async def test_a_flawed_summary_is_an_error_where_that_is_asked_for(tmp_path: Path) -> None:
    async def summary(flaws: int) -> pb.Summary:
        return pb.Summary(status=pb.SUMMARY_STATUS_DONE, trust=pb.SummaryTrust(flaw_count=flaws))

    output = tmp_path / "out.md"
    async with open_client(Connection(), 1.0) as client:
        await write_summary(partial(summary, 1), client, TargetOptions(output))
        await write_summary(partial(summary, 0), client, TargetOptions(output, fail_flawed=True))
        with pytest.raises(NegativeAnswer, match=r"flawed in 1 place$"):
            await write_summary(partial(summary, 1), client, TargetOptions(output, fail_flawed=True))


def test_warnings_of_a_summary_that_has_ended_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    warnings = [pb.SummaryWarning(message=f"warning {number}") for number in range(30)]
    view = ProgressView(Progress())
    view.show(pb.SummaryEvent(warning=warnings[0]))
    view.show(pb.SummaryEvent(summary=pb.Summary(warnings=warnings)))
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == ["warning: warning 0", "warning: warning 1"]
    assert len(told) == 1 + 20 + 1
    assert told[-1] == "and 9 more warnings: --json has them"


def test_the_plan_lists_every_level() -> None:
    stream = io.StringIO()
    plan = pb.SummaryPlan(map_calls=201, level_calls=[50, 13, 3, 1], calls=270, most_calls=539, rounds=40)
    print_plan(output_console(stream), plan)
    rows = [line.split() for line in stream.getvalue().splitlines()]
    assert [row[-1] for row in rows if row[:1] in (["map"], ["reduce,"], ["all"])] == [
        "201",
        "50",
        "13",
        "3",
        "1",
        "270",
    ]
    assert "lower bounds" in stream.getvalue()
    assert "cost" not in stream.getvalue()
    plan.max_cost, plan.most_cost = 1.25, 2.5
    print_plan(output_console(stream), plan)
    assert "costs at most 1.25, 2.5 if the critic is never content" in stream.getvalue()


def test_the_markdown_ends_with_the_topics() -> None:
    summary = pb.Summary(text="# Pumps\n\nText.\n\n", topics=["Valves", "Oil\nfilters"])
    assert to_markdown(summary) == "# Pumps\n\nText.\n\n## Key topics\n\n- Valves\n- Oil filters\n"
    assert to_markdown(pb.Summary(text="Partial.")) == "Partial.\n"


async def test_the_hint_names_a_server_elsewhere() -> None:
    async with open_client(Connection(), 1.0) as here, open_client(Connection("host:1"), 1.0) as there:
        assert how_to_resume("a1", here).endswith("precis summarize --resume a1")
        assert how_to_resume("a1", there).endswith("--resume a1 --address host:1")


def test_options_leave_the_rest_to_the_server() -> None:
    assert to_options(SummaryOptions()) == pb.SummarizeOptions(summary_type=pb.SUMMARY_TYPE_TECHNICAL)
    assert to_options(SummaryOptions(summary_type="operator", max_iterations=3)) == pb.SummarizeOptions(
        summary_type=pb.SUMMARY_TYPE_OPERATOR, max_iterations=3
    )
    with pytest.raises(InputError, match="one of --words"):
        to_options(SummaryOptions(words=100, detail="full"))


def test_json_by_a_schema_is_written_as_it_is(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object"}', encoding="utf-8")
    assert to_options(SummaryOptions(json_schema=schema)).json_schema == '{"type": "object"}'
    summary = pb.Summary(text="It runs.", topics=["Pumps"], json='{"bars": 2}')
    assert written(summary, TargetOptions(tmp_path / "out.json")) == '{"bars": 2}\n'
    assert '"calls_done": 0' in written(summary, TargetOptions(as_json=True))
    assert '"calls_done": 0' in written(pb.Summary(text="It runs."), TargetOptions(tmp_path / "out.json"))


def test_a_budget_is_sent_where_one_is_given() -> None:
    assert to_budget(BudgetOptions()) is None
    assert to_budget(BudgetOptions(max_calls=9, max_cost=0.5)) == pb.SummaryBudget(max_calls=9, max_cost=0.5)


def test_a_folder_of_layers_keeps_nothing_of_an_earlier_summary(tmp_path: Path) -> None:
    sections = [pb.SummarySection(title=title, text="It runs.") for title in ("Pumps", "Valves & seals")]
    first = pb.Summary(text="The pump runs.", overview="A pump.", sections=sections)
    write_layers(tmp_path, first)
    (tmp_path / "section-notes.md").write_text("mine", encoding="utf-8")
    assert {"section-02-valves-seals.md", "overview.md"} <= {file.name for file in tmp_path.iterdir()}
    text = "The pump ran."
    cited = pb.SummaryCitation(start=0, end=len(text), places=[pb.SourcePlace(page_number=3)])
    write_layers(tmp_path, pb.Summary(text=text, sections=sections[1:], citations=[cited]), cites_pages=True)
    assert {file.name for file in tmp_path.iterdir()} == {
        "section-01-valves-seals.md",
        "section-notes.md",
        "summary.md",
    }
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == "The pump ran. [p. 3]\n"


def test_a_summary_that_has_ended_does_not_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    accepted = pb.SummaryEvent(accepted=pb.SummaryAccepted(summary_id="a1", is_resumed=True))
    for second, goes_on in (
        (pb.SummaryEvent(summary=pb.Summary()), False),
        (pb.SummaryEvent(plan=pb.PlanMade()), True),
    ):
        with Progress() as progress:
            view = ProgressView(progress)
            view.show(accepted)
            view.show(second)
        assert ("Summary a1 goes on." in capsys.readouterr().err) == goes_on
