"""The critic that measures: a summary is good enough when its values are there, or when it has no room for more."""

from pipeline.extractive.values import VALUE_KINDS
from pipeline.summarize.retention import Retention, TermRetention
from pipeline.summarize.writer import CriticVerdict

_FULL = 0.9
_NAMED_TERMS = 20


def judge(retention: Retention, *, min_share: float, fullness: float) -> tuple[CriticVerdict, str]:
    """Returns the verdict and its reasons, which name what is missing so that the next iteration can bring it back.

    A full summary passes whatever it lacks: the same budget spent again would only trade one value for another.

    Args:
        retention: of the document's terms in the summary.
        min_share: of the values.
        fullness: tokens of the summary by the most that it may have.
    """
    kinds = [retention.of(kind) for kind in VALUE_KINDS]
    total = sum(kind.input_count for kind in kinds)
    share = sum(kind.kept_count for kind in kinds) / total if total else 1.0
    is_complete, is_full = share >= min_share, fullness >= _FULL
    critic_verdict = CriticVerdict.PASS if is_complete or is_full else CriticVerdict.FAIL
    if is_complete:
        reason = f"{share:.1%} of the document's values are in the summary."
    elif is_full:
        reason = f"The summary has its full length and holds {share:.1%} of the document's values."
    else:
        reason = f"Only {share:.1%} of the document's values are in the summary, which has room for more."
    kept = [_kept_line(kind) for kind in retention.kinds if kind.input_count]
    missing = [_missing_line(kind) for kind in kinds if kind.missing]
    return critic_verdict, "\n".join([f"{critic_verdict.name}: {reason}", *kept, *missing])


def _kept_line(kind: TermRetention) -> str:
    return f"- {_plural(kind)} kept: {kind.kept_count} of {kind.input_count}"


def _missing_line(kind: TermRetention) -> str:
    return f"- {_plural(kind)} missing, for example: {' ; '.join(kind.missing[:_NAMED_TERMS])}"


def _plural(kind: TermRetention) -> str:
    name = kind.kind.value.replace("_", " ")
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
