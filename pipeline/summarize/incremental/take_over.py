"""Plans a summary with the batches that earlier summaries read, wherever their texts stand in the document now."""

from collections.abc import Callable, Iterator, Sequence

from pipeline.off_loop import OffLoop
from pipeline.summarize.incremental.known_calls import KnownCalls, TextRow, cut_row, known_lengths, to_cuts
from pipeline.summarize.packing import ChunkPart, group_by_tokens
from pipeline.summarize.plan import Planner, SummaryPlan
from pipeline.summarize.storage.store import SummaryStore


async def plan_incrementally(
    planner: Planner, scope: str, lengths: Sequence[int] | None = None, *, store: SummaryStore, off_loop: OffLoop
) -> SummaryPlan:
    """Plans a summary: one that has begun with the batches that it had, another with those of earlier summaries.

    Args:
        lengths: parts of each batch of one that has begun; empty for full batches.
    """
    parts, row = await off_loop(lambda: _read(planner, scope))
    known = await store.call_texts.find(row) if lengths is None else {}

    def plan() -> SummaryPlan:
        cuts = _known_cuts(planner, parts, row, known) if lengths is None else _former_cuts(planner, parts, lengths)
        return planner.plan(parts, cuts, tuple(row.call(cut.start, len(cut)) for cut in cuts))

    return await off_loop(plan)


def _read(planner: Planner, scope: str) -> tuple[list[ChunkPart], TextRow]:
    parts = planner.parts()
    return parts, TextRow.of(f"map\n{scope}", (part.chunk.text for part in parts)).with_ends()


def _former_cuts(planner: Planner, parts: Sequence[ChunkPart], lengths: Sequence[int]) -> list[range]:
    """Returns the batches that a summary had; full ones where the limits of the writer have changed."""
    cuts, packer = to_cuts(lengths), planner.packer
    if sum(lengths) == len(parts) and all(packer.fits(parts, cut) for cut in cuts):
        return cuts
    return list(packer.cuts(parts, 0, len(parts)))


def _known_cuts(planner: Planner, parts: Sequence[ChunkPart], row: TextRow, known: KnownCalls) -> list[range]:
    packer, lengths = planner.packer, known_lengths(row, known)

    def known_length(start: int) -> int:
        return next((count for count in lengths(start) if packer.may_stay(parts, range(start, start + count))), 0)

    return cut_row(len(parts), known_length, lambda start, end: packer.cuts(parts, start, end))


def regroup(plan: SummaryPlan, token_counts: Sequence[int], lengths: Callable[[int], Iterator[int]]) -> list[range]:
    """Groups the texts of a level around the groups of an earlier summary."""
    size, budget = plan.group_size, plan.reduce_budget_tokens

    def known_length(start: int) -> int:
        return next((count for count in lengths(start) if fits(start, count)), 0)

    def fits(start: int, count: int) -> bool:
        return count == 2 or (count <= size and sum(token_counts[start : start + count]) <= budget)  # noqa: PLR2004

    def pack(start: int, end: int) -> list[range]:
        groups = group_by_tokens(token_counts[start:end], group_size=size, budget_tokens=budget)
        return [range(start + group.start, start + group.stop) for group in groups]

    return cut_row(len(token_counts), known_length, pack)
