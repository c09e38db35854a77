"""The program `precis`: its commands, and every error as one line.

Command modules declare options and help; what needs gRPC or ONNX is imported when a command runs.
"""

import os
import platform
import sys
import traceback
from typing import Annotated, NoReturn

import typer
from typer import Option

from server.cli.commands import language_models, models
from server.cli.commands.agreement import calibrate, compare
from server.cli.commands.assess import assess, synthesize
from server.cli.commands.evaluate import evaluate, gold, target
from server.cli.commands.judge import judge
from server.cli.commands.probe import contract, health, load
from server.cli.commands.serve import serve, settings, ui
from server.cli.commands.summarize import app as summaries
from server.cli.commands.summarize import summarize
from server.cli.console import print_error, write
from server.cli.errors import FAULT, INTERRUPTED, CliError, InputError

VERSIONED = ("precis-server", "onnxruntime", "onnxruntime-gpu")
BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ended
MAX_ERROR_CHARS = 500

app = typer.Typer(
    name="precis",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Trustworthy summaries as a service: summarize, evaluate and judge over gRPC.

    [bold]First steps[/]
      precis models install                  put the two models into ./models
      precis serve                           start the server; Ctrl+C stops it
      precis ui                              the same with a page for your browser
      precis judge --source A.txt -s S.txt   check a summary against its source

    [bold]Exit codes[/]  0 done; 1 the answer is "no"; 2 the input has to change;
    3 the server cannot be reached, is full or too slow; 4 anything else;
    70 a fault of Precis itself; 130 Ctrl+C.
    """,
)


def print_version(is_asked: bool) -> None:  # noqa: FBT001 - typer passes the option's value
    """Prints the versions that a bug report needs, and ends the command."""
    if is_asked:
        from importlib import metadata

        installed = {one.name: one.version for name in VERSIONED for one in metadata.distributions(name=name)}
        runtimes = ", ".join(f"{name} {installed[name]}" for name in VERSIONED[1:] if name in installed)
        own = installed.get(VERSIONED[0], "")
        write(f"precis {own}, Python {platform.python_version()}, {runtimes or 'no onnxruntime'}\n")
        raise typer.Exit


@app.callback()
def precis(
    *,
    version: Annotated[
        bool, Option("--version", "-V", is_eager=True, callback=print_version, help="Show versions.")
    ] = False,
) -> None:
    """Holds the options of the program itself; its help is above."""


COMMANDS = (
    *(serve, ui, settings, summarize, evaluate, gold, target, judge, calibrate, compare, assess, synthesize),
    *(health, contract, load),
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(models.app, name="models")
app.add_typer(language_models.prompts, name="prompts")
app.add_typer(language_models.llm, name="llm")
app.add_typer(summaries, name="summaries")


def main() -> NoReturn:
    """Runs one command and exits with its code. Never shows a traceback for an error of ours."""
    is_piped = not sys.stdout.isatty() and "PYTHONIOENCODING" not in os.environ
    for stream in (sys.stdout, sys.stderr):  # what goes into a file or a program is UTF-8 in every locale
        encoding = "utf-8" if is_piped and stream is sys.stdout else None
        stream.reconfigure(encoding=encoding, errors="replace")  # type: ignore[union-attr] # the interpreter's have it
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command. Returns the exit code."""
    if arguments[:1] != ["serve"]:
        # gRPC reads this on import; a client's log lines would stand beside the one line that says what to do.
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        code = app(arguments, prog_name="precis", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        message = error.format_message().replace("Value error, ", "")  # pydantic's words inside typer's
        if message:  # empty: no command was given and the help has been shown
            context: typer.Context | None = getattr(error, "ctx", None)  # of an error in how the command was written
            message = message if message.endswith("?") or not context else f"{message.rstrip('.')}."
            print_error(f"{message} See `{context.command_path} --help`" if context else message)
        return error.exit_code
    except (BrokenPipeError, SystemExit) as error:
        # The reader of our output has left, for example `head`. Typer makes a SystemExit of it, with the code that here
        # means "the answer is no".
        if not isinstance(error.__context__ if isinstance(error, SystemExit) else error, BrokenPipeError):
            raise
        discard_output()
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - Python would exit with 1, which means that "the answer is no"
        return report(error, is_logged=sys.flags.dev_mode or arguments[:1] in (["serve"], ["ui"]))
    if code == INTERRUPTED:  # what typer makes of Ctrl+C
        print_error("interrupted")
    return code if isinstance(code, int) else 0


def report(error: Exception, *, is_logged: bool = False) -> int:
    """Says in one line what no command expects; the log of a server gets all of a fault. Returns the exit code."""
    from server.errors import StartupError

    what, code = str(error)[:MAX_ERROR_CHARS], CliError.exit_code
    if is_logged and not isinstance(error, StartupError):
        traceback.print_exc()
    match error:
        case StartupError():  # a wrong setting, a model that is missing, a port in use
            what, code = str(error), InputError.exit_code
        case ModuleNotFoundError():  # an image leaves out what compiles models
            what = f"this command needs the Python package {error.name}, which is not installed here"
        case OSError():  # for example a full disk below stdout
            what = f"cannot write {error.filename or 'the output'}: {error.strerror or what}"
            discard_output()
        case _:
            what = f"{type(error).__name__}: {what}. A fault of Precis itself: with PYTHONDEVMODE=1 it says where"
            code = FAULT
    print_error(what)
    return code


def discard_output() -> None:
    """Lets nothing more be written to stdout, not even at exit: that would change the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
