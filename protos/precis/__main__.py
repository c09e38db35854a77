"""The program `precis`: finds the commands, which come with the server, and runs them.

It starts here because nothing else can stand in front of this module. The server's own packages have common names, and
another distribution with one of them would end `precis` with a traceback of its own.
"""

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

COMMANDS = "server.cli.main"
PACKAGES = {"server": "cli/main.py", "inference": "front_doors.py", "pipeline": "protocols.py"}
"""The server's top-level packages, each with a module that no other package of this name has."""

FAILED = 4  # the exit code of an error that no retry and no other input helps
INTERRUPTED = 130  # of Ctrl+C


def main() -> None:
    """Runs one command and exits with its code."""
    problem = find_problem()
    if problem:
        print(f"precis: {problem}", file=sys.stderr)  # noqa: T201 - the error line of a program
        sys.exit(FAILED)
    try:
        commands = import_module(COMMANDS)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    commands.main()


def find_problem() -> str:
    """Says in one line why there are no commands to run; empty when there are."""
    places = {name: _foreign_place(name, module) for name, module in PACKAGES.items()}
    foreign = {name: place for name, place in places.items() if place is not None}
    if not foreign:
        return ""
    try:
        distribution("precis-server")
    except PackageNotFoundError:
        return "the server and its commands are not installed: `pip install . ./protos` in a checkout of Precis"
    name, place = next(iter(foreign.items()))
    return (
        f"the package `{name}` of Precis is hidden by another one of this name in {place}: "
        "install Precis in an environment of its own, with `uv tool install . --with ./protos` in a checkout"
    )


def _foreign_place(name: str, module: str) -> str | None:
    """Returns where a package is found that is not ours; None for ours.

    Of ours the `__init__.py` is empty: where files of two distributions lie in one folder, that of the other is not.
    """
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return "a folder without __init__.py" if spec else "no folder at all"
    origin = Path(spec.origin)
    is_ours = (origin.parent / module).is_file() and origin.stat().st_size == 0
    return None if is_ours else str(origin)


if __name__ == "__main__":
    main()
