"""Reads a document in a process of its own, with limits, for files of kilobytes may unpack to gigabytes."""

import json
import subprocess
import sys
from contextlib import redirect_stdout

from server.cli.errors import InputError

_LIMIT_S, _MEMORY_MIB = 28, 900  # 300 pages of a PDF take 3 s


def read_confined(data: bytes, suffix: str) -> str | list[str]:
    """Returns the text of a PDF or of what `convert` reads, or that of each page or slide. Raises InputError."""
    command = [sys.executable, "-m", __name__, suffix, str(_LIMIT_S), str(_MEMORY_MIB)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=_LIMIT_S, check=True)  # noqa: S603 - ours
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        limits = f"{_LIMIT_S} s or {_MEMORY_MIB} MiB"
        raise InputError(f"reading it takes more than {limits}, or fails: split it, or save it anew") from error
    pages, problem = json.loads(done.stdout)
    if problem:
        raise InputError(problem)
    return pages  # type: ignore[no-any-return]  # as `main` wrote them


def main() -> None:
    """Reads the document on stdin, and writes its pages and what is wrong as JSON."""
    import resource  # no Windows has it

    from server.cli.documents.converter import convert
    from server.cli.documents.pdf import read_pages

    suffix, limit_s, memory_mib = sys.argv[1:]
    for limit, most in (resource.RLIMIT_CPU, int(limit_s)), (resource.RLIMIT_DATA, int(memory_mib) << 20):
        resource.setrlimit(limit, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(20_000)  # mails quoted in mails are boxes in boxes
    data, problem = sys.stdin.buffer.read(), ""
    pages: str | list[str] = ""
    try:
        with redirect_stdout(sys.stderr):  # where libraries may write what they like
            pages = read_pages(data) if suffix == ".pdf" else convert(data, suffix)
    except InputError as error:
        problem = error.message
    if sum(map(len, pages)) > 64 << 20:  # no server takes so much
        problem = "it holds more than 64 million characters: split it"
    print(json.dumps((pages, problem)))  # noqa: T201 - to the process that asked


if __name__ == "__main__":
    main()
