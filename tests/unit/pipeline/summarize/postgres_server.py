"""A real Postgres for tests: what apt installs, started on a socket in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
_UNPRIVILEGED = "postgres"  # Postgres refuses to run as root


def find_postgres() -> Path | None:
    """Returns the folder of `initdb` and `pg_ctl`; None if Postgres is not installed."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += [folder for place in _PLACES for folder in sorted(Path("/").glob(place.lstrip("/")), reverse=True)]
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


@contextmanager
def running_postgres() -> Iterator[str]:
    """Starts an empty server and yields its URL; stops it and deletes its folder at the end."""
    binaries = find_postgres()
    assert binaries is not None
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a short path: a socket's name has room for 107 characters
    data = folder / "data"
    user = _UNPRIVILEGED if os.geteuid() == 0 else None
    try:
        if user:
            shutil.chown(folder, user)
        _run(user, binaries / "initdb", "-D", data, "-U", "precis", "-A", "trust", "-E", "UTF8", "--no-sync")
        settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c max_connections=50"
        _run(user, binaries / "pg_ctl", "-D", data, "-o", settings, "-l", folder / "log", "-w", "start")
        try:
            yield f"postgresql://precis@/postgres?host={folder}"
        finally:
            _run(user, binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(user: str | None, *command: object) -> None:
    subprocess.run([str(part) for part in command], user=user, check=True, stdout=subprocess.DEVNULL, timeout=60)
