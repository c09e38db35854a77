"""Groups texts for a reduce call by tokens, and the sizes of reduce levels."""

from collections.abc import Sequence


def group_by_tokens(token_counts: Sequence[int], *, group_size: int, budget_tokens: int) -> list[range]:
    """Packs neighbours greedily; every group has two members or more, except a lone last one.

    Every group that is not alone makes the next level shorter, so that levels always come to an end. Two texts that
    are over the budget together still form a group: the caller compresses them first.

    Args:
        token_counts: of the texts of a level, in order.
        group_size: most members, at least 2.
        budget_tokens: most tokens of a group of three or more.
    """
    groups: list[range] = []
    start = 0
    while start < len(token_counts):
        end = min(start + 2, len(token_counts))
        tokens = sum(token_counts[start:end])
        while end < len(token_counts) and end - start < group_size and tokens + token_counts[end] <= budget_tokens:
            tokens += token_counts[end]
            end += 1
        groups.append(range(start, end))
        start = end
    return groups


def level_calls(text_count: int, group_size: int) -> list[int]:
    """Returns the calls of every reduce level when all groups are full: 201 texts by 4 are 50, 13, 3 and 1.

    A lone last text goes up without a call.
    """
    calls: list[int] = []
    while text_count > 1:
        full_groups, rest = divmod(text_count, group_size)
        calls.append(full_groups + (rest > 1))
        text_count = full_groups + (rest > 0)
    return calls
