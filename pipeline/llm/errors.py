"""What can go wrong between us and a language model's endpoint, after all retries.

    PipelineError
    └── LlmError
        ├── EndpointUnavailableError    no connection, timeouts, 429 or 5xx until the retries were used up
        ├── AuthenticationFailedError   the endpoint refuses the key
        ├── UnknownModelError           the endpoint does not serve the model
        ├── BadAnswerError              the answer is no completion: HTML, no choices, empty, not the JSON asked for
        ├── ContextOverflowError        the prompt and the answer do not fit into the model's context
        └── BudgetExceededError         the caller's limit of calls, tokens or cost is reached

Messages say what to do and never hold a key or a text of the caller.
"""

from pipeline.errors import PipelineError


class LlmError(PipelineError):
    """Base of all errors of this package."""


class EndpointUnavailableError(LlmError):
    """The endpoint cannot be reached, or refuses work for now.

    Attributes:
        retry_after_s: when the endpoint asked to be called again; None if it did not say.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class AuthenticationFailedError(LlmError):
    """The endpoint refuses the key: set the right one."""


class UnknownModelError(LlmError):
    """The endpoint does not serve the model: the message lists what it does serve, where known."""


class BadAnswerError(LlmError):
    """The endpoint answered, but not with a completion."""


class ContextOverflowError(LlmError):
    """The prompt and the longest answer are more than the model can hold."""


class BudgetExceededError(LlmError):
    """A limit of calls, tokens or cost that the caller or the settings set is reached."""
