"""What the options of `precis judge` amount to. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path

from server.cli.judge_floors import Floor, FrameworkChoice


@dataclass(frozen=True)
class JudgeRun:
    """How one run of `precis judge` judges, and what it does with the results.

    Attributes:
        frameworks: empty for all.
        use_language_model: False: the server must not ask its language model. None: as the server's settings say.
        timeout_s: longest wait for one judgement.
        as_json: JSON on stdout instead of tables.
        output: the results are also written there, as JSON.
        report: a page for people is written there.
        floors: a score under one of these is a NegativeAnswer.
        concurrency: judgements at once in a bulk run.
        resume: keep what `output` holds for the same items.
    """

    frameworks: tuple[FrameworkChoice, ...] = ()
    use_language_model: bool | None = None
    timeout_s: float = 300.0
    as_json: bool = False
    output: Path | None = None
    report: Path | None = None
    floors: tuple[Floor, ...] = ()
    concurrency: int = 8
    resume: bool = False
