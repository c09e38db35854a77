"""Errors of the command line.

Every error is one line on stderr that says what to do, and an exit code that a script can act on:

CliError             4  the command failed: no retry and no change of the input helps
├── NegativeAnswer   1  the answer itself is "no": loss over --fail-over, server not healthy
├── InputError       2  a file, an option, a setting or a field the server refused; change it
└── TryLaterError    3  the server cannot be reached, is full, is stopping or was too slow; retry

Ctrl+C exits with 130, as shells expect. An error that nobody expected exits with 70, never with 1, which is an answer.
"""

import typer

INTERRUPTED = 130
FAULT = 70  # EX_SOFTWARE of sysexits.h: a mistake in Precis itself


class CliError(typer.TyperException):
    """A failed command. `message` is one line; line breaks in it are folded by the printer."""

    exit_code = 4


class NegativeAnswer(CliError):  # noqa: N818 - the command worked; its answer is "no"
    """A check that did not pass."""

    exit_code = 1


class InputError(CliError):
    """Input that has to change."""

    exit_code = 2


class TryLaterError(CliError):
    """A server that cannot answer now."""

    exit_code = 3
