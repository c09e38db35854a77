"""The options of a summary as messages; what is not set is left to the server."""

from dataclasses import asdict
from typing import Any

from precis.v1 import summarize_pb2 as pb

from server.cli.errors import InputError
from server.cli.files import read_text
from server.cli.options import BudgetOptions, SummaryOptions

ALL = "all"


def to_budget(options: BudgetOptions) -> pb.SummaryBudget | None:
    """Gives the bounds as a message; None without any."""
    bounds = {name: value for name, value in asdict(options).items() if value is not None}
    return pb.SummaryBudget(**bounds) if bounds else None


def to_options(options: SummaryOptions) -> pb.SummarizeOptions:
    """Gives the options as a message. Raises InputError for what excludes each other."""
    if sum(choice is not None for choice in (options.words, options.tokens, options.share, options.detail)) > 1:
        raise InputError("give one of --words, --tokens, --share and --detail")
    wave = parse_wave(options.wave)
    chosen: dict[str, Any] = {
        "max_iterations": options.iterations,
        "target_words": options.words,
        "target_tokens": options.tokens,
        "target_share": options.share,
        "detail": options.detail and pb.SummaryDetail.Value(f"SUMMARY_DETAIL_{options.detail.upper()}"),
        "focus": options.focus,
        "language": options.language,
        "instructions": options.instructions,
        "json_schema": read_text(options.json_schema) if options.json_schema else None,
        "form": options.form and pb.SummaryForm.Value(f"SUMMARY_FORM_{options.form.upper()}"),
        "wave_all": True if wave == 0 else None,
        "wave_batches": wave or None,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None}
    audience = pb.SummaryType.Value(f"SUMMARY_TYPE_{options.audience.upper()}")
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
