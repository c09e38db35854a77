"""`precis llm`: what the endpoints of language models can, as the settings name them."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from server.cli.commands.serve import SettingsOption
from server.cli.commands.summarize import named_endpoint
from server.cli.errors import InputError
from server.cli.options import JsonOption, TimeoutOption, command

app = typer.Typer(no_args_is_help=True, help="Try the language models that the server asks.")


@app.command()
@command(
    "precis llm check",
    "precis llm check --settings precis.toml --json | jq '.[].problems'",
    "precis llm check --endpoint http://127.0.0.1:8080/v1 --model qwen3",
    exits="0 all that is needed is there; 1 a model cannot be used; 2 a setting is wrong, or none names an endpoint.",
)
async def check(
    *,
    endpoint: Annotated[str | None, Option("--endpoint", metavar="URL", help="Ask this endpoint alone.")] = None,
    model: Annotated[str | None, Option("--model", metavar="NAME", help="The model to ask for there.")] = None,
    key_file: Annotated[Path | None, Option("--api-key-file", metavar="FILE", help="That endpoint's key.")] = None,
    words: Annotated[
        int, Option("--words", min=1, max=1_000_000, help="Of the document whose price is told.")
    ] = 10_000,
    settings_file: SettingsOption = None,
    as_json: JsonOption = False,
    timeout_s: TimeoutOption = 120.0,
) -> None:
    """Ask each language model some small questions: what it can, how fast it is, what it costs.

    Asked are the models of all roles, as `precis serve` would read the settings now;
    roles that share one are asked once. A model that cannot be used is told with the
    setting to change. Each question is answered in at most --timeout seconds.
    """
    named = named_endpoint(endpoint, model, key_file, {})
    if key_file and named is None:
        raise InputError("--api-key-file is the key of --endpoint: name that too, or set llm.api_key_file")
    from server.cli.run.llm_check import check_models

    await check_models(named, settings_file, words=words, as_json=as_json, timeout_s=timeout_s)
