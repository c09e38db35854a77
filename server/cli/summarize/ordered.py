"""What a command orders of the server, from its options."""

from dataclasses import asdict, dataclass
from typing import Any

from precis.v1 import summarize_pb2 as pb

from server.cli.errors import InputError
from server.cli.files import read_text
from server.cli.options import BudgetOptions, SummaryOptions

ALL = "all"


@dataclass(frozen=True)
class Ordered:
    """What is asked for.

    Attributes:
        key: idempotency key; empty for none.
    """

    options: SummaryOptions
    budget: BudgetOptions
    key: str = ""

    @property
    def budget_message(self) -> pb.SummaryBudget | None:
        """None without bounds."""
        bounds = {name: value for name, value in asdict(self.budget).items() if value is not None}
        return pb.SummaryBudget(**bounds) if bounds else None

    def request(self, document: pb.Document) -> pb.SummarizeRequest:
        """Builds the request for a document. Raises InputError for options that exclude each other."""
        return pb.SummarizeRequest(
            document=document,
            options=to_options(self.options),
            idempotency_key=self.key,
            budget=self.budget_message,
        )


def to_options(options: SummaryOptions) -> pb.SummarizeOptions:
    """Gives the options as a message; what is not set is left to the server. Raises InputError."""
    if sum(choice is not None for choice in (options.words, options.tokens, options.share, options.detail)) > 1:
        raise InputError("give one of --words, --tokens, --share and --detail")
    wave = parse_wave(options.wave)
    chosen: dict[str, Any] = {
        "max_iterations": options.iterations,
        "target_words": options.words,
        "target_tokens": options.tokens,
        "target_share": options.share,
        "detail": options.detail and pb.SummaryDetail.Value(f"SUMMARY_DETAIL_{options.detail.name}"),
        "focus": options.focus,
        "language": options.language,
        "instructions": options.instructions,
        "json_schema": read_text(options.json_schema) if options.json_schema else None,
        "form": options.form and pb.SummaryForm.Value(f"SUMMARY_FORM_{options.form.name}"),
        "wave_all": True if wave == 0 else None,
        "wave_batches": wave or None,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    audience = pb.SummaryType.Value(f"SUMMARY_TYPE_{options.audience.name}")
    return pb.SummarizeOptions(summary_type=audience, **chosen)


def parse_wave(wave: str | None) -> int | None:
    """Reads a number of batches; 0 stands for all of them. Raises InputError."""
    if wave is None:
        return None
    if wave.lower() == ALL:
        return 0
    if not wave.isdecimal() or not int(wave):
        raise InputError(f"--wave: expected a number from 1, or all, got {wave}")
    return int(wave)
