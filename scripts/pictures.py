"""Draws the pictures of docs/reports.md: each report of the command line, made anew and seen by Chromium; and overload.

Run: python -m scripts.pictures [judge|evaluate|summarize|load|overload ...]   Without a name it draws all.
Needs the installed models, Chromium, and Pillow of the extra images. Speed is measured on an idle machine alone.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which

from PIL import Image

from scripts import overload
from scripts.benchmarks.shared.precis_server import PrecisServer

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"
SIZE = (1100, 760)
COLORS = 64  # flat pages need no more
DATA = "scripts/data"
REPORTS: Mapping[str, Sequence[str]] = {
    "judge": ("judge", "--source", f"{DATA}/judge/article.txt", "--summary", f"{DATA}/judge/hallucinated.txt"),
    "evaluate": ("evaluate", f"{DATA}/quickstart.json"),
    "summarize": ("summarize", f"{DATA}/manual/pump-skid.md"),
    "load": ("load", "embed", "--callers", "1", "--callers", "4", "--callers", "16", "--seconds", "2"),
}


def draw(report: Path, picture: Path) -> None:
    """Saves the top of a page. Raises CalledProcessError."""
    chromium = which("chromium") or "chromium"
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    flags = ("--headless", "--no-sandbox", "--hide-scrollbars", f"--screenshot={picture}", size)
    subprocess.run([chromium, *flags, report.as_uri()], check=True, capture_output=True)
    with Image.open(picture) as whole:
        whole.convert("RGB").quantize(COLORS).save(picture, optimize=True)


def main(names: Sequence[str]) -> int:
    """Makes the named reports and their pictures; without names all of them."""
    names = names or (*REPORTS, "overload")
    with tempfile.TemporaryDirectory() as name:
        settings = {"PRECIS_SUMMARY_STORAGE__DIRECTORY": f"{name}/summaries"}
        with PrecisServer(ROOT / "models", settings) as server:
            for kind in [one for one in REPORTS if one in names]:
                report = Path(name) / f"{kind}.html"
                options = ("--address", server.address, "--report", str(report))
                command = [sys.executable, "-m", "precis", *REPORTS[kind], *options]
                subprocess.run(command, cwd=ROOT, env=os.environ, check=False, capture_output=True)
                draw(report, FOLDER / f"report-{kind}.png")
    return overload.main() if "overload" in names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
