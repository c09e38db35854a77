"""What can go wrong with a summary, besides its writer (`pipeline/llm/errors.py`).

    PipelineError
    └── SummarizeError
        ├── UnknownSummaryError        no summary has this id
        ├── SummaryRunningError        another reader, or another server, runs it now
        ├── IdempotencyConflictError   the key was used for another request
        ├── JobQueueFullError          as many summaries are submitted as the settings allow, or this owner may
        ├── BudgetSpentError           a further call might go over the summary's budget
        ├── StalledReductionError      a writer's answer made no progress where it had to
        ├── SummaryAsideError          the server stops; what was done is kept
        ├── LeaseLostError             another server took the summary over while this one was stuck
        ├── DamagedSummaryError        what is stored of this one cannot be read
        └── StorageError               results cannot be read or written
            └── StorageFullError       no space left; nothing that was written is lost

Messages may reach the caller; they never hold a text of a document.
"""

from pipeline.errors import PipelineError


class SummarizeError(PipelineError):
    """Base of all errors of this package."""


class UnknownSummaryError(SummarizeError):
    """No summary has this id. It may have expired."""

    def __init__(self, summary_id: str) -> None:
        super().__init__(f"no summary has the id {summary_id!r}; it may have expired")


class SummaryRunningError(SummarizeError):
    """Somebody else runs this summary now.

    Attributes:
        retry_after_s: after this time it is free if its server died; a living server may need longer.
    """

    def __init__(self, summary_id: str, retry_after_s: float) -> None:
        super().__init__(f"summary {summary_id} is running elsewhere: get or cancel it, or resume it later")
        self.retry_after_s = retry_after_s


class IdempotencyConflictError(SummarizeError):
    """The idempotency key belongs to a summary of another document or with other options."""

    def __init__(self, summary_id: str) -> None:
        super().__init__(f"the idempotency key belongs to summary {summary_id}, which has other input: use a new key")
        self.summary_id = summary_id


class JobQueueFullError(SummarizeError):
    """No further summary can be submitted until one has ended.

    Attributes:
        retry_after_s: when to try again.
    """

    retry_after_s = 5.0

    def __init__(self, most: int) -> None:
        super().__init__(
            f"of {most} places for submitted summaries none is left for this caller: try again when one has ended"
        )


class BudgetSpentError(SummarizeError):
    """The summary has taken what its budget allows. What is done is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the budget of the summary is spent: {reason}; resume it with a higher one")


class StalledReductionError(SummarizeError):
    """A step that had to make text shorter did not, so that repeating it would never end."""

    def __init__(self, stage: str, tokens_before: int, tokens_after: int) -> None:
        super().__init__(
            f"{stage} made no progress: {tokens_before} tokens became {tokens_after}; "
            "use a model with a larger context, or a smaller reduce_group_size"
        )


class SummaryAsideError(SummarizeError):
    """The server that ran the summary stops. The calls that were on their way were let finish."""

    def __init__(self, summary_id: str) -> None:
        super().__init__(f"the server stops: resume summary {summary_id} at another, or later")


class LeaseLostError(SummarizeError):
    """Another server runs the summary now: this one did not renew its lease in time."""

    def __init__(self, summary_id: str) -> None:
        super().__init__(f"another server took summary {summary_id} over")


class StorageError(SummarizeError):
    """The database of summaries cannot be used. What it holds already is kept."""


class DamagedSummaryError(SummarizeError):
    """What is stored of a summary cannot be read. It hurts no other, and goes when it expires."""

    def __init__(self, summary_id: str) -> None:
        super().__init__(f"summary {summary_id} is damaged in the database: summarize the document again")
        self.summary_id = summary_id


class StorageFullError(StorageError):
    """The disk of the database is full: free some space, then resume the summary."""
