"""Runs the scripted endpoint as a process of its own.

    python -m tests.scripted_endpoint --port 0 --latency-ms 200 --fault rate_limit=0.1 --fault reset=0.1 --seed 7

Prints one line with its base URL. `GET /log` on the same port tells what it saw, `DELETE /log` forgets it. Ends on
SIGINT or SIGTERM.
"""

import argparse
import asyncio
import signal

from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script


def main() -> None:
    """Reads the command line and serves."""
    options = _options()
    asyncio.run(_serve(ScriptedEndpoint(_script(options)), options.host, options.port))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--answer-chars", type=int, default=400)
    parser.add_argument("--reply", action="append", default=[], metavar="PATTERN=TEXT", help="repeatable")
    parser.add_argument("--honest", action="store_true", help="answer prompts of summaries as a good model would")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=SHARE", help=f"{', '.join(Fault)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--retry-after-s", type=float, default=1.0)
    return parser.parse_args()


def _script(options: argparse.Namespace) -> Script:
    shares = {Fault(kind): float(share) for kind, _, share in (text.partition("=") for text in options.fault)}
    return Script(
        latency_s=options.latency_ms / 1000,
        answer_chars=options.answer_chars,
        author=write if options.honest else None,
        replies=tuple(Reply(pattern, text) for pattern, _, text in (text.partition("=") for text in options.reply)),
        faults=FaultPlan(shares, options.seed, options.retry_after_s),
    )


async def _serve(endpoint: ScriptedEndpoint, host: str, port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await endpoint.start(host, port)
    print(endpoint.base_url, flush=True)  # noqa: T201 - whoever started it waits for this line
    await stop.wait()
    await endpoint.stop()


if __name__ == "__main__":
    main()
