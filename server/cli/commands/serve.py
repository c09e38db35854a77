"""`precis serve`, with flags for the settings that are changed most, and `precis settings`, which lists all.

`precis ui`: a server for this machine alone, with a page.
"""

import gc
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from server.cli.console import plain, write
from server.cli.options import JsonOption, command

if TYPE_CHECKING:
    from server.app import App
    from server.settings import Settings

SERVED = "0 stopped as asked; 2 a setting is wrong, a model is missing or the port is in use."
ModelsDirOption = Annotated[
    Path | None, Option(metavar="DIR", help="Folder with the models `nli` and `embedding` (default models).")
]
SettingsOption = Annotated[Path | None, Option("--settings", metavar="TOML", help="Settings file.")]


@command(
    "precis serve",
    "precis serve --port 6000 --models-dir /srv/models",
    "PRECIS_TLS__CERTIFICATE_FILE=a.pem PRECIS_TLS__KEY_FILE=a.key precis serve",
    exits=SERVED,
)
def serve(
    *,
    host: Annotated[str | None, Option(help="Address to listen on; 0.0.0.0 for all (default 127.0.0.1).")] = None,
    port: Annotated[int | None, Option("--port", "-p", min=0, max=65535, help="Default 50051; 0: a free one.")] = None,
    models_dir: ModelsDirOption = None,
    workers: Annotated[int | None, Option(min=1, help="Worker threads (default one for each core or GPU).")] = None,
    settings_file: SettingsOption = None,
) -> None:
    r"""Start the gRPC server; Ctrl+C stops it.

    Ctrl+C or SIGTERM lets the calls in flight finish; a second one stops at once.

    A flag wins over the environment, that over the settings file, that over the
    default. Every setting has a variable: PRECIS_LISTEN__PORT is --port,
    and in the file it is `port` under \[listen].
    """
    flags = {
        "models_dir": models_dir,
        "listen": _given(host=host, port=port),
        "inference": _given(runtime=_given(workers=workers)),
    }
    serve_until_stopped(_given(**flags), settings_file)


@command("precis ui", exits=SERVED)
def ui(
    *,
    port: Annotated[int, Option("--port", "-p", min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 8080,
    models_dir: ModelsDirOption = None,
    settings_file: SettingsOption = None,
) -> None:
    """Start a server with a web page for this machine: judge and summarize texts in a browser.

    Paste a source and a summary to see each claim with its passage. Or have the
    source summarized, and choose a sentence to see where it stands. Needs the extra
    http. Other programs may use the server meanwhile: it says on which address.
    """
    page = {"enabled": True, "page": True, "host": "127.0.0.1", "port": port}
    own = {"listen": {"host": "127.0.0.1", "port": 0}, "metrics": {"enabled": False}, "http": page}
    serve_until_stopped({**own, **(_given(models_dir=models_dir) or {})}, settings_file)


def _given(**flags: object) -> dict[str, object] | None:
    """Returns the flags that were given; None when none was."""
    return {name: value for name, value in flags.items() if value is not None} or None


def serve_until_stopped(flags: Mapping[str, Any] | None, settings_file: Path | None) -> None:
    """Serves until a signal, with settings that flags override. Raises StartupError."""
    gc.disable()  # until `spared`: it would walk, again and again, modules that stay; a fifth of the imports' time
    import uvloop

    from server.observe import log, tracing
    from server.run import serve as run_server
    from server.settings import load_settings

    settings = load_settings(settings_file, overrides=flags)
    with log.configured(settings.log), tracing.configured(settings.tracing):
        uvloop.run(run_server(settings, partial(announce, settings)))


def announce(settings: "Settings", app: "App") -> None:
    """Says on stdout where the server listens, for people and for scripts that let it choose a port."""
    metrics = f", metrics on port {app.metrics_port}" if app.metrics_port else ""
    page = ""
    if settings.http.enabled and settings.http.page:
        scheme = "http" if settings.tls.certificate_file is None else "https"
        page = f" Its page is {scheme}://127.0.0.1:{app.http_port}/."
    write(plain(f"Precis is serving on {app.address}{metrics}.{page} Ctrl+C stops it.") + "\n")


@command(
    "precis settings",
    "precis settings llm",
    "precis settings timeout --json | jq '.[].variable'",
    exits="0 done; 2 a setting is wrong, or no setting is named so.",
)
def settings(
    name: Annotated[str, Argument(metavar="[WORD]", help="Only settings with this word in name or meaning.")] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """List the settings of the server: name, value, default, origin, meaning.

    A setting comes from the environment, or else from the file that
    PRECIS_SETTINGS_FILE names, or else it has its default. Secrets are not shown.
    """
    from server.cli.run.show_settings import print_settings

    print_settings(name, as_json=as_json)
