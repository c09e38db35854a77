"""A server process with a gate before its models, obeying one-word commands on standard input.

    close    every forward pass waits from now on
    open     lets them through
    visited  answers once a forward pass stands before the gate

Each command is answered by its own word on standard output, behind a first line with the address.
Run: python -m tests.integration.support.gated_server [closed]; settings come from the environment.
"""

import sys
import threading

import uvloop

from server.app import App
from server.observe import log
from server.run import serve
from server.settings import load_settings
from tests.integration.support.gate import Gate


def main() -> None:
    """Serves until a signal."""
    gate = Gate()
    if "closed" in sys.argv:
        gate.close()
    threading.Thread(target=obey, args=(gate,), daemon=True).start()
    settings = load_settings()
    with log.configured(settings.log):
        uvloop.run(serve(settings, announce, open_backend=gate.open_backend))


def announce(app: App) -> None:
    """Says where the server listens."""
    print(app.address, flush=True)  # noqa: T201


def obey(gate: Gate) -> None:
    """Carries out commands until standard input ends."""
    commands = {"close": gate.close, "open": gate.open, "visited": gate.wait_for_visitor}
    for line in sys.stdin:
        commands[line.strip()]()
        print(line.strip(), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
