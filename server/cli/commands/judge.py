"""`precis judge`: its options, which name scores and their floors, and its help. The work is in `server/cli/judge`."""

import math
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer
from typer import Argument, Option

from server.cli.errors import InputError
from server.cli.options import Connection, NoLanguageModelOption, RunOptions, check_run, command, exit_codes

BEST_SCORE = 10.0
LIMITS = {"worst-claim": "worst_claim", "unsupported": "max_unsupported"}
"""Limits of all claims of a summary, and what they are called by `Judgement.faults`, which decides."""


class FrameworkChoice(StrEnum):
    """The frameworks, in the order of the contract."""

    TWIN_LOCK = "twin-lock"
    JUDGE_LOCK = "judge-lock"
    ULTRA = "ultra"


MetricChoice = Literal["coverage", "alignment", "hallucination", "relevance", "bias-toxicity"]
Policy = Literal["strict", "lenient"]
"""What becomes of statements that may be true but are not in the source; see `docs/concepts/calibration.md`."""


@dataclass(frozen=True)
class ScoreKind:
    """Which score of a judgement is meant. Raises InputError for a policy that does not go with the metric."""

    framework: Annotated[FrameworkChoice, Option("--framework", "-f", help="Whose score.")] = FrameworkChoice.ULTRA
    metric: Annotated[MetricChoice, Option("--metric", "-m", help="Which score.")] = "hallucination"
    policy: Annotated[Policy, Option(help="Whether additions count that may be true.")] = "strict"

    def __post_init__(self) -> None:
        if self.policy == "lenient" and self.metric != "hallucination":
            raise InputError(
                f"--policy lenient is about unsupported claims: it goes with hallucination, not {self.metric}"
            )

    def __str__(self) -> str:
        """Writes for example "ultra hallucination, lenient"."""
        return f"{self.framework} {self.metric}{'' if self.policy == 'strict' else f', {self.policy}'}"


@dataclass(frozen=True, slots=True)
class Floor:
    """The least score of one metric, or a limit of all claims."""

    metric: str  # which one, or one of LIMITS
    score: float  # in [0, 10]; a score equal to it is not under it. Of "unsupported" the most claims.
    framework: FrameworkChoice | None = None  # None for every framework that judged, and of a limit


FLOORS: dict[str, tuple[str, FrameworkChoice | None]] = {
    **{name: (name, None) for name in (*get_args(MetricChoice), "worst-claim")},
    **{f"{one}-{name}": (name, one) for one in FrameworkChoice for name in get_args(MetricChoice)},
}
"""Metrics and frameworks by the names that a floor may have, with "-" for "_" and ":"."""


def parse_floor(text: str) -> Floor:
    """Reads METRIC=SCORE, FRAMEWORK:METRIC=SCORE, FRAMEWORK_METRIC=SCORE or worst-claim=SCORE. Raises InputError."""
    name, equals, score = text.partition("=")
    if not equals:
        raise InputError(f"--fail-under: expected METRIC=SCORE or FRAMEWORK:METRIC=SCORE, got {text}")
    metric, framework = FLOORS.get(name.strip().lower().replace("_", "-").replace(":", "-"), ("", None))
    if not metric:
        plain = ", ".join(name for name, (_, framework) in FLOORS.items() if framework is None)
        behind = ", ".join(f"{one}:" for one in FrameworkChoice)
        raise InputError(f"--fail-under: no such score: {name or 'none'}; there are {plain}; one score behind {behind}")
    try:
        floor = Floor(metric, float(score), framework)
    except ValueError:
        floor = Floor(metric, math.nan, framework)
    if not 0 <= floor.score <= BEST_SCORE:
        raise InputError(f"--fail-under: expected a score from 0 to 10, got {score or 'nothing'}")
    return floor


@dataclass(frozen=True)
class JudgeOptions:
    """How `precis judge` judges, and what it does with the scores."""

    framework: Annotated[
        list[FrameworkChoice] | None, Option("--framework", "-f", help="Repeatable (default ultra).")
    ] = None
    fail_under: Annotated[
        list[str] | None,
        Option(metavar="[FRAMEWORK:]METRIC=SCORE", help="Exit with 1 when a score is under this. Repeatable."),
    ] = None
    max_unsupported: Annotated[int | None, Option(min=0, metavar="CLAIMS", help="Exit with 1 over so many.")] = None
    calibration: Annotated[
        Path | None, Option(metavar="FILE.json", help="Add probability and verdict, as precis calibrate learned.")
    ] = None
    no_llm: NoLanguageModelOption = False

    @property
    def floors(self) -> tuple[Floor, ...]:
        """All limits. Raises InputError for what is none, or of a framework that is not asked to judge."""
        floors = tuple(map(parse_floor, self.fail_under or ()))
        for floor in floors:
            if self.framework and floor.framework not in (None, *self.framework):
                raise InputError(f"--fail-under names {floor.framework}, which --framework leaves out")
        return floors if self.max_unsupported is None else (*floors, Floor("unsupported", self.max_unsupported))

    @property
    def frameworks(self) -> tuple[FrameworkChoice, ...]:
        """Those that --framework names; without it Ultra, and those that --fail-under names."""
        needed = {FrameworkChoice.ULTRA, *(floor.framework for floor in self.floors)}
        return tuple(dict.fromkeys(self.framework or [choice for choice in FrameworkChoice if choice in needed]))


def print_schema(is_asked: bool) -> None:  # noqa: FBT001 - typer passes the option's value
    """Prints the JSON Schema of the frameworks' objects, and ends the command."""
    if is_asked:
        schema = files("pipeline.judge").joinpath("objects.schema.json").read_text(encoding="utf-8")
        print(schema, end="")  # noqa: T201 - asked for
        raise typer.Exit


@command(
    "precis judge --source article.txt --summary summary.txt --report out.html",
    "precis judge --source a.txt -s one.txt -s two.txt",
    "precis judge --source a.txt -s s.txt --json | jq '.results[0].result.frameworks'",
    "precis judge --local --source a.txt -s s.txt --max-unsupported 0",
    "precis judge nightly.jsonl --output results.jsonl --fail-under worst-claim=3",
    "precis judge items.jsonl -f ultra --fail-under ultra:coverage=5 --report r.html",
    exits=exit_codes(
        "a score is under --fail-under, or there is none, or claims are not supported, or a summary does not pass "
        "--calibration",
        "items that failed",
    ),
)
async def judge(
    items: Annotated[
        Path | None,
        Argument(metavar="FILE.jsonl|FILE.parquet|-", help="Many items, in place of --source and --summary."),
    ] = None,
    *,
    source: Annotated[Path | None, Option(metavar="TXT|PDF", help="The source; - reads stdin.")] = None,
    summary: Annotated[
        list[Path] | None, Option("--summary", "-s", metavar="TXT|PDF", help="Its summary. Repeatable; - reads stdin.")
    ] = None,
    options: JudgeOptions,
    _schema: Annotated[
        bool, Option("--schema", is_eager=True, callback=print_schema, help="Print the JSON Schema of objects_json.")
    ] = False,
    run: RunOptions,
    connection: Connection,
) -> None:
    """Judge summaries against their source: five scores, and what the source says.

    Scores go from 0 to 10; 10 is best. Every score names its reasons and the passages
    that decided; one from a part of the claims says [bold]partial[/]. A mean hides one bad
    claim among many: in a gate use [bold]--fail-under worst-claim=3[/] or
    [bold]--max-unsupported 0[/].

    [bold]FILE.jsonl[/] holds {"id": ..., "source": ..., "summary": ...} a line; - reads
    such lines; FILE.parquet has them as columns. A bad item is one error and does not
    stop the others. Scores are broken down by the "category" of the lines.
    """
    _ = options.floors  # what is wrong with them is said before anything is read
    texts = [path for path in (source, *(summary or ())) if path]
    check_run(run, [path for path in (items, options.calibration, *texts) if path], is_bulk=items is not None)
    if items is None and (source is None or not summary):
        raise InputError("nothing to judge: give --source FILE and --summary FILE, or FILE.jsonl")
    if items is not None and texts:
        raise InputError("give --source and --summary, or FILE.jsonl, not both")
    from server.cli.bulk import read_json_lines, run_items
    from server.cli.judge import judgements as work
    from server.cli.judge.calibration import read_calibration

    applied = read_calibration(options.calibration)
    otherwise = f"to judge one summary of it: precis judge --source {items} --summary SUMMARY"
    found = read_json_lines(items, work.to_item, otherwise) if items else work.read_summaries(*texts)
    how = work.to_work(options, applied, is_bulk=items is not None)
    await run_items(how, found, connection, run, work.JudgeTally(options.floors, applied))
