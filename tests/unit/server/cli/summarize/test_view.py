"""What `precis summarize` shows and asks for."""

import io

import pytest
from google.protobuf.duration_pb2 import Duration
from precis.v1 import common_pb2
from precis.v1 import summarize_pb2 as pb

from server.cli.commands.summarize import parse_wave
from server.cli.console import output_console
from server.cli.errors import InputError
from server.cli.options import Connection, SummaryOptions
from server.cli.summarize.run import how_to_resume, remote_summaries, to_markdown, to_options
from server.cli.summarize.view import describe, ending, print_plan


def test_progress_names_tokens_and_rate() -> None:
    progress = pb.SummaryProgress(
        calls_done=12,
        calls_reused=2,
        usage=common_pb2.LlmUsage(calls=10, prompt_tokens=9_000, completion_tokens=1_000),
        elapsed=Duration(seconds=5),
    )
    assert describe(progress) == "10,000 tokens  2.0 calls/s"


def test_progress_without_a_call_promises_nothing() -> None:
    assert describe(pb.SummaryProgress(calls_done=3, calls_reused=3, elapsed=Duration(seconds=1))) == "0 tokens"


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


def test_the_markdown_ends_with_the_topics() -> None:
    summary = pb.Summary(text="# Pumps\n\nText.\n\n", topics=["Valves", "Oil\nfilters"])
    assert to_markdown(summary) == "# Pumps\n\nText.\n\n## Key topics\n\n- Valves\n- Oil filters\n"
    assert to_markdown(pb.Summary(text="Partial.")) == "Partial.\n"


async def test_the_hint_names_a_server_elsewhere() -> None:
    async with remote_summaries(Connection(), None) as here, remote_summaries(Connection("host:1"), None) as there:
        assert how_to_resume("a1", here).endswith("precis summarize --resume a1")
        assert how_to_resume("a1", there).endswith("--resume a1 --address host:1")


def test_options_leave_the_rest_to_the_server() -> None:
    assert to_options(SummaryOptions()) == pb.SummarizeOptions(summary_type=pb.SUMMARY_TYPE_TECHNICAL)
    assert to_options(SummaryOptions("operator", 0, 3)) == pb.SummarizeOptions(
        summary_type=pb.SUMMARY_TYPE_OPERATOR, max_iterations=3, wave_all=True
    )
    assert to_options(SummaryOptions(wave=4)).wave_batches == 4


@pytest.mark.parametrize(("text", "wave"), [(None, None), ("all", 0), ("ALL", 0), ("1", 1), ("12", 12)])
def test_waves_are_numbers_or_all(text: str | None, wave: int | None) -> None:
    assert parse_wave(text) == wave


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", ""])
def test_other_waves_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--wave"):
        parse_wave(text)
