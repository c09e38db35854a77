"""Memory and CPU of another process, read from /proc (Linux)."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Usage:
    """One reading: resident memory in MB (10^6 bytes), and CPU seconds used so far, user and system."""

    resident_mb: float
    cpu_s: float


def read_usage(pid: int) -> Usage:
    """Reads the figures of a process. Raises OSError when it is gone, or where there is no /proc."""
    folder = Path("/proc") / str(pid)
    resident_pages = int((folder / "statm").read_text().split()[1])
    # The second field, the program's name, may hold spaces; fields 14 and 15 are counted from its closing bracket.
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return Usage(resident_pages * os.sysconf("SC_PAGE_SIZE") / 1e6, ticks / os.sysconf("SC_CLK_TCK"))
