"""Evaluations on the terminal: the components, and the evidence of what was missed; of many, what they amount to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from precis.v1 import evaluate_pb2 as pb
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from server.cli.console import new_list, new_table, shown
from server.cli.errors import NegativeAnswer
from server.cli.evaluate.files import Candidate
from server.cli.spread import SHOWN_ITEMS, Tally, WorstItems, spread_table, worst_table

COMPONENTS = ("facts", "entities", "flow", "semantic", "length")
QUOTE_LIMIT = 160  # characters of one quoted text
COMPARED_ROWS = 3  # of each kind of evidence when several summaries are compared
HARD_FAILS = {
    pb.HARD_FAIL_RULE_META_COMMENTARY: "meta-commentary",
    pb.HARD_FAIL_RULE_INVALID_JSON: "invalid JSON",
    pb.HARD_FAIL_RULE_TRUNCATION: "truncation",
}

Named = tuple[str, pb.EvaluateResponse]
Row = tuple[str, Text]
"""A score and what it is about."""


def print_report(console: Console, results: Sequence[Named], *, is_brief: bool = False) -> None:
    """Prints one evaluation, or several side by side, and what each summary missed."""
    console.print(component_table(results[0][1]) if len(results) == 1 else comparison_table(results))
    for name, response in [] if is_brief else results:
        missed = list(missed_sections(response, COMPARED_ROWS if len(results) > 1 else None))
        if len(results) > 1:
            console.print(Text.assemble(shown(name, style="bold"), f"  loss {response.loss:.3f}"))
        console.print(
            Padding(
                Group(*missed) if missed else Text("Nothing was missed.", style="green"), (0, 0, 1, 2), expand=False
            )
        )
    console.print(footer(results[0][1]))


def component_table(response: pb.EvaluateResponse) -> Table:
    """Builds the table of one evaluation: score, weight, contribution and the formula's inputs."""
    title = f"loss {response.loss:.4f}   (0 perfect, 1 worst)"
    table = new_table("component", ">score", ">weight", ">contribution", "from", title=title)
    if response.HasField("hard_fail"):
        table.add_row("hard fail", "", "", "1.0000", hard_fail_text(response.hard_fail))
        return table
    for name in COMPONENTS:
        part = getattr(response, name).score
        if part.applicable:
            numbers = (f"{part.score:.3f}", f"{part.weight:.2f}", f"{part.contribution:.4f}")
        else:
            numbers = ("-", "0", "0")
        table.add_row(name, *numbers, inputs_of(response, name))
    return table


def comparison_table(results: Sequence[Named]) -> Table:
    """Builds the table of several evaluations: one column each, best value of a row in bold."""
    table = new_table("", title="loss and component scores")
    for name, _ in results:
        table.add_column(shown(name, limit=30), justify="right")
    losses = [response.loss for _, response in results]
    table.add_row("loss", *(cell(loss, best=min(losses)) for loss in losses), end_section=True)
    for name in COMPONENTS:
        scores = [score_of(response, name) for _, response in results]
        best = max((score for score in scores if score is not None), default=None)
        table.add_row(name, *(cell(score, best=best) for score in scores))
    if any(response.HasField("hard_fail") for _, response in results):
        rules = (
            HARD_FAILS.get(r.hard_fail.rule, "unknown rule") if r.HasField("hard_fail") else "" for _, r in results
        )
        table.add_row("hard fail", *rules)
    return table


def score_of(response: pb.EvaluateResponse, name: str) -> float | None:
    """Returns a component's score; None after a hard fail and where it does not apply."""
    if response.HasField("hard_fail"):
        return None
    part: pb.ComponentScore = getattr(response, name).score
    return part.score if part.applicable else None


def cell(value: float | None, *, best: float | None) -> Text:
    """Shows one number of the comparison."""
    return Text("-") if value is None else Text(f"{value:.3f}", style="bold green" if value == best else "")


def inputs_of(response: pb.EvaluateResponse, name: str) -> str:
    """Says in a few words what a score was computed from."""
    facts, entities, flow, length = response.facts, response.entities, response.flow, response.length
    if not getattr(response, name).score.applicable:
        return "does not apply: the golden reference has none"
    match name:
        case "facts":
            return (
                f"recall {facts.hit_fact_count}/{facts.fact_count}, "
                f"precision {facts.supported_sentence_count}/{facts.sentence_count}"
            )
        case "entities":
            return f"{entities.valid_count}/{entities.entity_count} named"
        case "flow":
            return f"{flow.covered_count}/{flow.point_count} points covered, {flow.inversion_count} inversions"
        case "semantic":
            return f"cosine {response.semantic.cosine:.3f}"
        case _:
            off = f"{length.deviation:.0%} off"
            return f"{length.generated_tokens} tokens, target {length.target_tokens} ({off})"


def missed_sections(response: pb.EvaluateResponse, row_limit: int | None) -> Iterator[RenderableType]:
    """Yields a section for everything that cost something and has a place in the texts."""
    if response.HasField("hard_fail"):
        yield section("Hard fail", [("", hard_fail_text(response.hard_fail))], row_limit)
        return
    points = [point.evidence for point in response.flow.points]
    sections = (
        ("Facts not in the summary", missed_rows(response.facts.facts)),
        ("Sentences without support", missed_rows(response.facts.sentences)),
        ("Entities missing", entity_rows(response.entities)),
        ("Outline points not covered", missed_rows(points)),
        ("Outline points in the wrong order", [("", text) for text in inversion_texts(response.flow)]),
    )
    for title, rows in sections:
        if rows:
            yield section(title, rows, row_limit)


VALID_STATUSES = {pb.ENTITY_STATUS_VALID, pb.ENTITY_STATUS_VALID_WITHOUT_CONTEXT}


def missed_rows(evidence: Sequence[pb.EntailmentEvidence]) -> list[Row]:
    """Lists the hypotheses that were not hit, worst first, each with its best premise."""
    rows = []
    for pair in sorted((pair for pair in evidence if not pair.hit), key=lambda pair: pair.entailment):
        text = shown(pair.hypothesis.text, limit=QUOTE_LIMIT)
        if pair.HasField("premise"):
            text.append("\nclosest: ", style="dim")
            text.append_text(shown(pair.premise.text, limit=QUOTE_LIMIT, style="dim"))
        rows.append((f"{pair.entailment:.2f}", text))
    return rows


def entity_rows(entities: pb.EntitiesComponent) -> list[Row]:
    """Lists the entities that do not count."""
    missing = [entity for entity in entities.entities if entity.status not in VALID_STATUSES]
    return [(f"{entity.fuzzy_ratio:.2f}", entity_text(entity)) for entity in missing]


def entity_text(evidence: pb.EntityEvidence) -> Text:
    """Says what was found in place of an entity."""
    text = shown(evidence.entity.text, limit=QUOTE_LIMIT)
    if evidence.status == pb.ENTITY_STATUS_CONTEXT_MISMATCH:
        text.append(f"  found in another context (cosine {evidence.context_cosine:.2f}): ", style="dim")
        text.append_text(shown(evidence.match.text, limit=QUOTE_LIMIT, style="dim"))
    elif evidence.HasField("match"):
        text.append("  most similar: ", style="dim")
        text.append_text(shown(evidence.match.text, limit=QUOTE_LIMIT, style="dim"))
    return text


def inversion_texts(flow: pb.FlowComponent) -> Iterator[Text]:
    """Yields one line for each pair of outline points that the summary visits in the wrong order."""
    for inversion in flow.inversions:
        earlier, later = flow.points[inversion.earlier_point], flow.points[inversion.later_point]
        yield Text.assemble(
            shown(later.evidence.hypothesis.text, limit=QUOTE_LIMIT // 2),
            (f"  (sentence {later.sentence_index + 1}) comes before  ", "dim"),
            shown(earlier.evidence.hypothesis.text, limit=QUOTE_LIMIT // 2),
            (f"  (sentence {earlier.sentence_index + 1})", "dim"),
        )


def hard_fail_text(hard_fail: pb.HardFail) -> Text:
    """Says which rule fired, why, and where."""
    text = Text(f"{HARD_FAILS.get(hard_fail.rule, 'unknown rule')}: ", style="red")
    text.append_text(shown(hard_fail.reason, limit=QUOTE_LIMIT))
    if hard_fail.HasField("evidence"):
        text.append(" at ", style="dim")
        text.append_text(shown(f"“{hard_fail.evidence.text}”", limit=QUOTE_LIMIT, style="dim"))
    return text


def section(title: str, rows: Sequence[Row], row_limit: int | None) -> RenderableType:
    """Builds a titled list; the left column holds the score of each row."""
    left_out = len(rows) - row_limit if row_limit and len(rows) > row_limit else 0
    table = new_list()
    table.columns[0].justify, table.columns[0].style = "right", "yellow"
    for score, text in rows[:row_limit]:
        table.add_row(score, text)
    if left_out:
        table.add_row("", Text(f"... and {left_out} more: evaluate this summary alone, or use --json", style="dim"))
    return Group(Text(f"{title} ({len(rows)})", style="bold"), table, Text(""))


def footer(response: pb.EvaluateResponse) -> Text:
    """Says what the numbers come from and how long they took."""
    usage, total_s = response.nli, response.timings.total.ToTimedelta().total_seconds()
    mode = "pruned" if usage.mode == pb.NLI_MODE_PRUNED else "exact"
    models = ", ".join(f"{model.name} {model.sha256[:8]}" for model in response.models)
    return shown(f"{mode} NLI, {usage.scored_pair_count} pairs, {total_s:.2f} s; {models}", style="dim")


@dataclass
class BulkSummary(Tally[Candidate, pb.EvaluateResponse]):
    """Collects what the summary needs; one number for each item, never the responses themselves."""

    headline_name = "loss"
    losses: list[float] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COMPONENTS})
    worst: WorstItems[str] = field(default_factory=lambda: WorstItems(SHOWN_ITEMS))
    hard_fail_count: int = 0

    def check(self, fail_over: float | None) -> None:
        """Raises CliError when items failed, NegativeAnswer when a loss is over the limit."""
        self.failed.check(self.item_count)
        over = 0 if fail_over is None else sum(loss > fail_over for loss in self.losses)
        if over:
            raise NegativeAnswer(f"{over} of {self.item_count} losses are over {fail_over}")

    def headline_of(self, evaluation: pb.EvaluateResponse) -> float:
        """See Tally."""
        return evaluation.loss

    def scores_by_name(self) -> list[tuple[str, list[float]]]:
        """See Tally."""
        return [("loss", self.losses), *self.scores.items()]

    def add_result(self, item_id: str, evaluation: pb.EvaluateResponse) -> None:
        """See Tally."""
        self.worst.add(evaluation.loss, item_id)
        self.losses.append(evaluation.loss)
        self.hard_fail_count += evaluation.HasField("hard_fail")
        for name, values in self.scores.items():
            score = score_of(evaluation, name)
            if score is not None:
                values.append(score)


def print_summary(console: Console, summary: BulkSummary) -> None:
    """Prints the tables of a bulk run."""
    summary.print_counts(console, f", {summary.hard_fail_count} hard fails")
    if summary.losses:
        console.print(spread_table(summary.scores_by_name()))
        summary.print_categories(console)
        console.print(worst_table("loss", ((item_id, f"{loss:.3f}") for loss, item_id in summary.worst.ranked())))
    summary.failed.print(console)
