"""Runs the server in this process."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import uvloop

from server.app import App
from server.cli.console import plain
from server.cli.errors import InputError
from server.errors import StartupError
from server.observe import log, tracing
from server.run import serve
from server.settings import Settings, load_settings


def serve_until_stopped(flags: Mapping[str, Any] | None, settings_file: Path | None) -> None:
    """Serves until a signal, with settings that flags override. Raises InputError when the server cannot start."""
    try:
        settings = load_settings(settings_file, overrides=flags)
        with log.configured(settings.log), tracing.configured(settings.tracing):
            uvloop.run(serve(settings, partial(announce, settings)))
    except StartupError as error:
        raise InputError(str(error)) from error


def announce(settings: Settings, app: App) -> None:
    """Says on stdout where the server listens, for people and for scripts that let it choose a port."""
    metrics = f", metrics on port {app.metrics_port}" if app.metrics_port else ""
    page = ""
    if settings.http.enabled and settings.http.page:
        from server.http.page_files import PAGE_PATH

        scheme = "http" if settings.tls.certificate_file is None else "https"
        page = f" Its page is {scheme}://127.0.0.1:{app.http_port}{PAGE_PATH}."
    sys.stdout.write(plain(f"Precis is serving on {app.address}{metrics}.{page} Ctrl+C stops it.") + "\n")
    sys.stdout.flush()
