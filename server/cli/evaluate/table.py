"""Evaluations on the terminal: the components, and the evidence of what was missed."""

from collections.abc import Sequence

from precis.v1 import evaluate_pb2 as pb
from precis.words import word_of
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from server.cli.console import Grid, counted, shown, titled_list
from server.cli.judge.names import models_said

COMPONENTS = ("facts", "entities", "flow", "semantic", "length")
QUOTE_LIMIT = 160  # characters of one quoted text
VALID_STATUSES = {pb.ENTITY_STATUS_VALID, pb.ENTITY_STATUS_VALID_WITHOUT_CONTEXT}
ENTITY_WORDS = {
    pb.ENTITY_STATUS_VALID: "named",
    pb.ENTITY_STATUS_VALID_WITHOUT_CONTEXT: "named; the reference has no context to compare",
    pb.ENTITY_STATUS_NOT_FOUND: "not named",
    pb.ENTITY_STATUS_CONTEXT_MISMATCH: "named in another context",
}


def sentence(response: pb.EvaluateResponse) -> str:
    """Sums an evaluation up in a sentence."""
    if rule := hard_fail_rule(response):
        return f"Loss 1, the worst: a hard fail, {rule}."
    facts, flow, entities = response.facts, response.flow, response.entities
    counts = (
        (facts.hit_fact_count, facts.fact_count, "facts are told"),
        (facts.supported_sentence_count, facts.sentence_count, "claims are supported"),
        (flow.covered_count, flow.point_count, "points of the outline are covered"),
        (entities.valid_count, entities.entity_count, "entities are named"),
    )
    found = ", ".join(f"{count} of {total} {what}" for count, total, what in counts if total)
    return f"Loss {response.loss:.3f}, where 0 is perfect and 1 is worst: {found}."


def overview(response: pb.EvaluateResponse, *, is_brief: bool) -> Table:  # noqa: ARG001 - has nothing more to show
    """Builds the table of what the loss is made of."""
    rows: list[tuple[str | Text, ...]] = []
    if response.HasField("hard_fail"):
        rows.append(("hard fail", "", "", "1.0000", _hard_fail_text(response)))
    for name in () if rows else COMPONENTS:
        part = getattr(response, name).score
        numbers = (f"{part.score:.3f}", f"{part.weight:.2f}", f"{part.contribution:.4f}")
        rows.append((name, *(numbers if part.applicable else ("-", "0", "0")), inputs_of(response, name)))
    return Grid(("component", ">score", ">weight", ">contribution", "from"), rows).to_table()


def hard_fail_rule(response: pb.EvaluateResponse) -> str:
    """Names the rule of a hard fail; empty without one."""
    return word_of(pb.HardFailRule, response.hard_fail.rule) if response.HasField("hard_fail") else ""


def inputs_of(response: pb.EvaluateResponse, name: str) -> str:
    """Says in a few words what a score was computed from."""
    facts, entities, flow, length = response.facts, response.entities, response.flow, response.length
    if not getattr(response, name).score.applicable:
        return "does not apply: the golden reference has none"
    recall = f"{facts.hit_fact_count}/{facts.fact_count}"
    return {
        "facts": f"recall {recall}, precision {facts.supported_sentence_count}/{facts.sentence_count}",
        "entities": f"{entities.valid_count}/{entities.entity_count} named",
        "flow": f"{flow.covered_count}/{flow.point_count} points covered, {flow.inversion_count} inversions",
        "semantic": f"cosine {response.semantic.cosine:.3f}",
        "length": f"{length.generated_tokens} tokens, target {length.target_tokens} ({length.deviation:.0%} off)",
    }[name]


def evidence(response: pb.EvaluateResponse, row_limit: int) -> RenderableType:
    """Builds a titled list for everything that cost something and has a place in the texts."""
    points = [point.evidence for point in response.flow.points]
    inversions = ((points[one.later_point], points[one.earlier_point]) for one in response.flow.inversions)
    sections = {
        "Facts not in the summary": missed_rows(response.facts.facts),
        "Sentences without support": missed_rows(response.facts.sentences),
        "Entities missing": [
            (_score_text(entity.fuzzy_ratio), _entity_text(entity))
            for entity in response.entities.entities
            if entity.status not in VALID_STATUSES
        ],
        "Outline points not covered": missed_rows(points),
        "Outline points in the wrong order": [
            (Text(), quoted(later.hypothesis.text, (" before ", earlier.hypothesis.text)))
            for later, earlier in inversions
        ],
    }
    if response.HasField("hard_fail"):
        sections = {"Hard fail": [(Text(), _hard_fail_text(response))]}
    lists = [titled_list(f"{title} ({len(rows)})", rows, row_limit) for title, rows in sections.items() if rows]
    return Group(*lists) if lists else Text("Nothing was missed.\n", style="green")


def _score_text(score: float) -> Text:
    return Text(f"{score:.2f}", style="yellow")


def quoted(text: str, *more: tuple[str, str]) -> Text:
    """Quotes a text, and behind it those of others that are not empty, each after the words that say what it is."""
    found = shown(text, limit=QUOTE_LIMIT)
    for lead, other in [one for one in more if one[1]]:
        found.append(lead, style="dim")
        found.append_text(shown(other, limit=QUOTE_LIMIT, style="dim"))
    return found


def missed_rows(evidence: Sequence[pb.EntailmentEvidence]) -> list[tuple[Text, Text]]:
    """Lists the hypotheses that were not hit with their scores, worst first, each with its best premise."""
    missed = sorted((pair for pair in evidence if not pair.hit), key=lambda pair: pair.probability)
    return [
        (_score_text(pair.probability), quoted(pair.hypothesis.text, ("\nclosest: ", pair.premise.text)))
        for pair in missed
    ]


def _entity_text(evidence: pb.EntityEvidence) -> Text:
    lead = "  most similar: "
    if evidence.status == pb.ENTITY_STATUS_CONTEXT_MISMATCH:
        lead = f"  found in another context (cosine {evidence.context_cosine:.2f}): "
    return quoted(evidence.entity.text, (lead, evidence.match.text))


def _hard_fail_text(response: pb.EvaluateResponse) -> Text:
    hard_fail = response.hard_fail
    where = f"“{hard_fail.evidence.text}”" if hard_fail.HasField("evidence") else ""
    return Text.assemble((f"{hard_fail_rule(response)}: ", "red"), quoted(hard_fail.reason, (" at ", where)))


def footer(responses: Sequence[pb.EvaluateResponse]) -> Text:
    """Says what the numbers come from and how long they took."""
    response = responses[0]
    usage, total_s = response.nli, response.timings.total.ToTimedelta().total_seconds()
    pairs, models = counted(usage.scored_pair_count, "NLI pair"), models_said(response.models)
    return shown(f"{pairs}, {total_s:.2f} s; {models}", style="dim")
