"""`precis settings`: every setting of the server, with its value and where that comes from."""

from typing import Annotated

import typer

from server.cli.errors import InputError
from server.cli.options import JsonOption


def settings(
    name: Annotated[
        str, typer.Argument(metavar="[WORD]", help="Only settings with this section, or word, in name or meaning.")
    ] = "",
    *,
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write the reference: defaults, no values.")] = False,
) -> None:
    """List the settings of the server: name, value, default, origin, meaning.

    A setting comes from the environment, or else from the file that
    PRECIS_SETTINGS_FILE names, or else it has its default. Secrets are not shown.

    [bold]Examples[/]

      precis settings

      precis settings llm

      precis settings timeout --json | jq '.[].variable'

    [bold]Exit codes[/]  0 done; 2 a setting is wrong, or no setting is named so.
    """
    if as_json and markdown:
        raise InputError("--json and --markdown exclude each other")
    from server.cli.run.settings import print_settings

    print_settings(name, as_json=as_json, as_markdown=markdown)
