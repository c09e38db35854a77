"""Records the answers to all golden requests: `python -m tests.golden.record`."""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.golden.answer import FILE, Recorded, write_answers
from tests.golden.case import Case
from tests.golden.requests_evaluate import evaluate_cases
from tests.golden.requests_inference import inference_cases
from tests.golden.requests_judge import judge_cases
from tests.golden.requests_summarize import summarize_cases
from tests.golden.requests_synthesis import synthesis_cases
from tests.golden.runner import Runner
from tests.golden.servers import golden_servers


def all_cases() -> list[Case]:
    """Builds every golden request."""
    return [*inference_cases(), *evaluate_cases(), *judge_cases(), *synthesis_cases(), *summarize_cases()]


async def record() -> None:
    """Asks everything once and writes the file."""
    started_s = time.monotonic()
    cases = all_cases()
    with tempfile.TemporaryDirectory() as directory:
        async with golden_servers(Path(directory)) as servers:
            runner = Runner(servers, cases)
            recorded = [Recorded(case, await runner.answer(case.name)) for case in cases]
    write_answers(recorded)
    size = FILE.stat().st_size
    sys.stdout.write(f"recorded {len(recorded)} answers, {size} bytes, {time.monotonic() - started_s:.1f} s\n")


if __name__ == "__main__":
    asyncio.run(record())
