"""A judgement on the terminal: the scores, why they are what they are, and the claims without support."""

from collections.abc import Sequence

from precis.v1 import common_pb2, evidence_pb2
from precis.v1 import judge_pb2 as pb
from rich.console import Group, RenderableType
from rich.text import Text

from server.cli.console import Grid, counted, indented, number, shown, titled_list, to_list
from server.cli.judge import names
from server.cli.judge.calibration import Calibration, Verdict
from server.cli.judge.names import ClaimVerdict, is_contradicted, is_supported

QUOTE_LIMIT = 200  # characters of one quoted text
REASON_LIMIT = 600
TITLE = "scores   (10 best, 0 worst)"
LABEL_STYLES = {"supported": "green", "partial": "yellow", "unsupported": "red"}


def sentence(result: pb.JudgeResult) -> str:
    """Sums a judgement up in a sentence."""
    return str(ClaimVerdict(result))


def overview(result: pb.JudgeResult, *, is_brief: bool) -> RenderableType:
    """Builds the scores of a judgement, and why they are what they are unless that is too much."""
    left_out = ClaimVerdict(result).left_out
    headings = (f">{names.framework_word(framework.framework)}" for framework in result.frameworks)
    metrics = zip(*(framework.metrics for framework in result.frameworks), strict=True)
    rows = [(names.metric_word(row[0].name), *(score_cell(metric, left_out) for metric in row)) for row in metrics]
    table = Grid(("", *headings), rows).to_table(title=TITLE)
    return Group(table, *(reasons(one) for one in ([] if is_brief else result.frameworks)))


def verdict_table(calibration: Calibration, verdicts: Sequence[tuple[str, Verdict]]) -> RenderableType:
    """Builds the table of what a calibration says of each summary."""
    rows = [(name, number(one.score), number(one.probability), one.verdict) for name, one in verdicts]
    grid = Grid(("calibrated", f">{calibration.kind}", ">probability", "verdict"), rows)
    return Group(grid.to_table(), Text(calibration.basis, style="dim"))


def score_cell(metric: pb.JudgeMetric, left_out: str) -> Text:
    """Shows a score, and before it what is special."""
    said = ", ".join(names.remarks_of(metric, left_out))
    if not metric.HasField("score"):
        return Text(said, style="red")
    style = "dim" if names.counting_score(metric) is None else ""
    return Text.assemble((f"{said}  " if said else "", "dim"), (f"{metric.score:.2f}", style))


def reasons(framework: pb.FrameworkResult) -> RenderableType:
    """Lists why each metric of a framework has its score; a reason names the caps that lowered it."""
    rows = [
        (
            names.metric_word(one.name),
            shown(one.error or one.reason, limit=REASON_LIMIT, style="red" if one.error else ""),
        )
        for one in framework.metrics
    ]
    return Group(Text(names.framework_word(framework.framework), style="bold"), indented(to_list(rows), below=1))


def evidence(result: pb.JudgeResult, row_limit: int) -> RenderableType:
    """Lists the claims that are not supported as a whole, worst first, with what the source says.

    Then those to look at again: supported as a whole, though the source has another number, date or name in a place.
    """
    claims, left_out = result.evidence.claims, ClaimVerdict(result).left_out
    numbered = list(enumerate(claims, start=1))
    doubtful = sorted((one for one in numbered if not is_supported(one[1])), key=lambda one: one[1].probability)
    differing = [
        one
        for one in numbered
        if is_supported(one[1]) and any(mismatch.HasField("source") for mismatch in one[1].mismatches)
    ]
    omitted = f"; {left_out}" if left_out else ""
    sections = (
        (f"Claims that are not supported, or only in part ({{}} of {len(claims):,}{omitted}), worst first", doubtful),
        ("Supported as a whole, but the source has another value ({}); look at these again", differing),
    )
    lists = []
    for heading, found in sections:
        rows = [(label_text(claim, f"{position} "), claim_text(claim)) for position, claim in found]
        if rows:
            lists.append(titled_list(heading.format(f"{len(rows):,}"), rows, row_limit))
    return Group(*lists)


def label_text(claim: evidence_pb2.Claim, before: str = "") -> Text:
    """Names the label of a claim in its colour."""
    label = names.label_word(claim.label)
    return Text(f"{before}{label}", style=LABEL_STYLES.get(label, ""))


def claim_text(claim: evidence_pb2.Claim) -> Text:
    """Quotes a claim, and what speaks against it: words, other values, and the passage of the source that decides."""
    lines = [shown(claim.passage.text, limit=QUOTE_LIMIT)]
    if words := names.doubted_words(claim):
        said = ", ".join(f"“{span.text}”" for span in words)
        lines.append(Text.assemble(("not supported: ", "dim"), shown(said, limit=QUOTE_LIMIT)))
    for mismatch in claim.mismatches:
        kind = names.mismatch_word(mismatch.kind)
        instead = shown(f"“{mismatch.source.text}”") if mismatch.HasField("source") else Text("nothing like it")
        between = ("; the source has ", "dim")
        lines.append(Text.assemble((f"{kind}: ", "dim"), shown(f"“{mismatch.claim.text}”"), between, instead))
    if is_contradicted(claim) or claim.HasField("support"):
        against = f"contradiction {claim.contradiction:.2f}"
        lead = f"closest ({against if is_contradicted(claim) else f'{claim.probability:.2f}'}): "
        lines.append(Text.assemble((lead, "dim"), shown(claim.support.text, limit=QUOTE_LIMIT, style="dim")))
    return Text("\n").join(lines)


def footer(results: Sequence[pb.JudgeResult]) -> Text:
    """Says what the numbers come from, how long they took, and what the language model cost, if there was one."""
    result, usage = results[0], common_pb2.LlmUsage()
    for one in results:
        names.add(usage, one.language_model_usage)
    total_s = result.timings.total.ToTimedelta().total_seconds()
    cached = ", from the cache" if result.is_cached else ""
    degraded = "; degraded: the language model gave no usable answer somewhere" if result.degraded else ""
    notes = "".join(f"; {note}" for note in result.notes)
    pairs = counted(result.evidence.scored_pair_count, "NLI pair")
    cost = f"; {said}" if (said := names.in_words(usage)) else ""
    rules = [f"rules {result.rules[:8]}"] if result.rules else []
    models = names.models_said(result.models, *rules, result.language_model or "no language model")
    return shown(f"{pairs}, {total_s:.2f} s{cached}; {models}{cost}{degraded}{notes}", style="dim")
