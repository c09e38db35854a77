"""What can go wrong while a text is processed.

    PipelineError
    ├── InvalidInputError    the caller's input breaks a rule; says which field, what was expected and what was there
    └── ModelOutputError     a model returned something that is no answer to what was asked

Messages of `InvalidInputError` may reach the caller: they name fields and numbers, never the text itself.
"""


class PipelineError(Exception):
    """Base of all errors of this package."""


class InvalidInputError(PipelineError):
    """One field of the input breaks a rule.

    Attributes:
        field: path of the field, for example `datum.summary.key_facts[3]`.
        expected: what would have been right, for example "10 to 20 facts, or none".
        got: what was there instead, for example "9 facts"; never the caller's text.
    """

    def __init__(self, field: str, expected: str, got: str) -> None:
        super().__init__(f"{field}: expected {expected}, got {got}")
        self.field = field
        self.expected = expected
        self.got = got


class ModelOutputError(PipelineError):
    """A model's answer has the wrong shape or holds values that are no numbers. This is a bug or a broken model."""
