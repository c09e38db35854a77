"""What can go wrong between us and a language model's endpoint, after all retries.

Messages say what to do and never hold a key or a text of the caller.
"""

from pipeline.errors import PipelineError
from pipeline.llm.chat_model import LlmUsage


class LlmError(PipelineError):
    """Base of all errors of this package."""

    attempts: int = 1  # HTTP requests that were made before giving up
    is_of_call: bool = False  # the endpoint answers others, and will not answer this one however often it is asked
    usage: LlmUsage = LlmUsage()  # what it cost nevertheless: answers that were not what was asked for, and retries

    def __str__(self) -> str:
        message = super().__str__()
        return message if self.attempts == 1 else f"{message} (gave up after {self.attempts} attempts)"


class EndpointUnavailableError(LlmError):
    """The endpoint cannot be reached, or refuses work for now.

    Attributes:
        retry_after_s: when the endpoint asked to be called again; None if it did not say.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class EndpointBusyError(EndpointUnavailableError):
    """The endpoint has more work than it takes (429, 503, 529)."""


class EndpointFailedError(EndpointUnavailableError):
    """The endpoint itself failed (5xx)."""


class ConnectionFailedError(EndpointUnavailableError):
    """There is no connection, or it ended before the answer did."""


class AnswerTimeoutError(EndpointUnavailableError):
    """The endpoint was silent for too long, or took too long over all."""


class QuotaExhaustedError(EndpointUnavailableError):
    """The account behind the key has used up its credit; waiting does not help."""


class AuthenticationFailedError(LlmError):
    """The endpoint refuses the key: set the right one."""


class UnknownModelError(LlmError):
    """The endpoint does not serve the model: the message lists what it does serve, where known."""


class RequestRefusedError(LlmError):
    """The endpoint refuses the request itself; the same request would be refused again.

    Attributes:
        refused_fields: optional fields of the request that the endpoint says it does not take.
        numbers: that it names.
    """

    def __init__(
        self, message: str, *, refused_fields: frozenset[str] = frozenset(), numbers: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.refused_fields, self.numbers = refused_fields, numbers


class FilteredError(RequestRefusedError):
    """A filter of the endpoint refuses what the texts say."""

    is_of_call = True


class BadAnswerError(LlmError):
    """The endpoint answered, but not with a completion."""


class UnreadableAnswerError(BadAnswerError):
    """The answer is HTML, or JSON that ends too early, or JSON of another shape."""


class EmptyAnswerError(BadAnswerError):
    """The completion has no text."""

    def __init__(self, message: str, *, finish_reason: str) -> None:
        super().__init__(message)
        self.finish_reason = finish_reason
        self.is_of_call = finish_reason in {"content_filter", "refusal"}


class EndlessAnswerError(BadAnswerError):
    """The answer was longer than `max_answer_bytes`, and was cut off there."""


class SchemaMismatchError(BadAnswerError):
    """The answer is not the JSON that was asked for."""


class ContextOverflowError(LlmError):
    """The prompt and the longest answer are more than the model can hold."""


class BudgetExceededError(LlmError):
    """A limit of calls, tokens or cost that the caller or the settings set is reached."""


class LlmSettingsError(LlmError):
    """The settings of the endpoint cannot be used."""
