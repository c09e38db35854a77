"""Asks all golden requests again and shows what differs: `python -m tests.golden.compare [seed]`.

Requests are sent as they were recorded, with the defaults of that day (`normalise.py`), in the order of the file, or in
an order that the seed decides.
"""

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from pipeline.rule_identity import rules_of
from tests.golden.answer import arithmetic, read_answers
from tests.golden.difference import difference
from tests.golden.runner import Runner
from tests.golden.servers import golden_servers


async def compare(seed: str | None = None) -> int:
    """Prints the differences. Returns how many answers differ."""
    started_s = time.monotonic()
    recorded_on, recorded = read_answers()
    order = list(recorded)
    if seed is not None:
        random.Random(seed).shuffle(order)
    is_exact = recorded_on["arithmetic"] == arithmetic()
    count = 0
    with tempfile.TemporaryDirectory() as directory:
        async with golden_servers(Path(directory)) as servers:
            runner = Runner(servers, [one.case for one in recorded])
            for one in order:
                name = one.case.method.output_type.full_name
                found = difference(name, one.answer, await runner.answer(one.case.name), is_exact=is_exact)
                if found:
                    count += 1
                    sys.stdout.write(f"== {one.case.name}\n{found}\n")
    how = "to the last bit" if is_exact else "but for the last bits of floats: recorded on another kind of machine"
    took_s = time.monotonic() - started_s
    if (rules := recorded_on.get("rules", "unknown")) != rules_of():
        how += f"; recorded by rules {rules[:8]}, these are {rules_of()[:8]}"
    sys.stdout.write(f"{count} of {len(order)} answers differ, compared {how}, {took_s:.1f} s\n")
    return count


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(compare(*sys.argv[1:2])) else 0)
