"""A running summary on the terminal: how far it is, and at the end what it kept."""

from collections.abc import Collection

from precis.v1 import summarize_pb2 as pb
from precis.words import word_of
from rich.console import Console

from server.cli.console import Grid, counted, print_note, shown
from server.cli.progress import Progress, State
from server.cli.summarize.report import KINDS, kind_of

_MOST_WARNINGS = 20


class ProgressView:
    """Shows events as they come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._resumed_id = ""
        self._warnings: set[str] = set()
        progress.update(State("starting"))

    def show(self, event: pb.SummaryEvent) -> None:
        """Moves the live line; says what a reader must know."""
        kind = event.WhichOneof("event")
        if self._resumed_id and kind != "summary":  # else it has ended before
            print_note(f"Summary {self._resumed_id} goes on.")
        self._resumed_id = event.accepted.summary_id if event.accepted.is_resumed else ""
        if note := note_of(event):
            print_note(note)
        if kind == "warning":
            self._warnings.add(event.warning.message)
        elif kind == "summary":
            print_warnings(event.summary, self._warnings)
        if kind and hasattr(getattr(event, kind), "progress"):
            self._progress.update(to_state(getattr(event, kind).progress))


def note_of(event: pb.SummaryEvent) -> str:
    """Says what an event tells beside the progress; empty for most."""
    match event.WhichOneof("event"):
        case "accepted" if not event.accepted.is_resumed:
            return f"Summary {event.accepted.summary_id} begins."
        case "plan" if event.plan.plan.writer_kind == pb.WRITER_KIND_EXTRACTIVE:
            return "The server has no language model (PRECIS_LLM__BASE_URL): it chooses sentences instead."
        case "warning":
            return f"warning: {event.warning.message}"
        case "layers" if event.layers.overview:
            return f"Overview: {event.layers.overview}"
        case "reflect" if event.reflect.begins_again:
            return f"The critic is not content with iteration {event.reflect.iteration}: another one begins."
    return ""


def to_state(progress: pb.SummaryProgress) -> State:
    """Says how far a summary is: phase, calls, tokens, and calls per second of this run."""
    usage, seconds = progress.usage, progress.elapsed.ToTimedelta().total_seconds()
    details = f"{usage.prompt_tokens + usage.completion_tokens:,} tokens"
    if progress.calls_done > progress.calls_reused and usage.calls and seconds > 0:
        details += f"  {usage.calls / seconds:.1f} calls/s"
    eta_s = progress.eta.ToTimedelta().total_seconds() if progress.HasField("eta") else None
    return State(
        word_of(pb.SummaryPhase, progress.phase), progress.calls_done, progress.calls_total, "calls", details, eta_s
    )


def print_warnings(summary: pb.Summary, told: Collection[str] = ()) -> None:
    """Prints the warnings of a summary, but for those that were told already; of many the first ones."""
    messages = [message for warning in summary.warnings if (message := warning.message) not in told]
    for message in messages[:_MOST_WARNINGS]:
        print_note(f"warning: {message}")
    if len(messages) > _MOST_WARNINGS:
        print_note(f"and {len(messages) - _MOST_WARNINGS} more warnings: --json has them")


def flawed(count: int) -> str:
    """Says in how many places the checks still find faults."""
    return f"flawed in {counted(count, 'place')}"


def ending(summary: pb.Summary) -> str:
    """Says in one line what a summary cost and kept."""
    reused = f" ({summary.calls_reused} of them from before)" if summary.calls_reused else ""
    parts = [
        f"summary {summary.summary_id}",
        f"{counted(summary.calls_done, 'call')}{reused}",
        f"{summary.input_tokens:,} to {summary.output_tokens:,} tokens",
    ]
    if summary.HasField("length"):
        unit = "words" if summary.length.unit == pb.LENGTH_UNIT_WORDS else "tokens"
        parts.append(f"{summary.length.actual:,} {unit} of {summary.length.target:,} asked for")
    if summary.HasField("retention"):
        parts.append(f"{summary.retention.share:.1%} of the technical terms kept")
    if summary.citation_counts:
        found = ((pb.SummaryCitation(support=one.support, probability=1), one.count) for one in summary.citation_counts)
        counts = {kind_of(citation): count for citation, count in found}
        told = ", ".join(f"{counts[kind]:,} {words}" for kind, words in KINDS.items() if kind in counts)
        parts.append(f"of {summary.citable_count:,} sentences, items, rows and lines {told}")
    if summary.trust.flaw_count:
        parts.append(f"{flawed(summary.trust.flaw_count).upper()}, see its end")
    if summary.HasField("total_cost"):
        parts.append(f"cost {summary.total_cost:.4g} in all runs")
    return f"{'; '.join(parts)}; written by {summary.writer}"


def print_plan(console: Console, plan: pb.SummaryPlan) -> None:
    """Prints the planned calls."""
    steps = {
        "map": plan.map_calls,
        **{f"reduce, level {level}": calls for level, calls in enumerate(plan.level_calls, 1)},
        "length and form": plan.shape_calls,
        "reflect": 1,
        "topics": 1,
        "JSON": plan.json_calls,
        "all": plan.calls,
        "all, if the critic is never content": plan.most_calls,
        "one after another at least": plan.rounds,
    }
    rows = [(step, str(calls)) for step, calls in steps.items() if calls]
    console.print(Grid(("step", ">calls"), rows).to_table())
    exact = "exact" if plan.is_exact else "lower bounds, for the model's context is small"
    console.print(f"{plan.input_tokens:,} tokens; {plan.concurrency} calls at once; the counts are {exact}")
    if plan.HasField("max_cost"):
        most = f"{plan.most_cost:.4g} if the critic is never content"
        console.print(f"costs at most {plan.max_cost:.4g}, {most}; continuations and repeats left out")
    if plan.target_tokens:
        console.print(f"about {plan.target_tokens:,} tokens long")
    console.print(shown(f"written by {plan.writer}"))
