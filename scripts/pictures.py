"""Draws the pictures of docs/reports.md: each report of the command line, made anew and seen by Chromium; and overload.

Run: python -m scripts.pictures   (needs the installed models, Chromium, and Pillow of the extra images)
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


def main() -> int:
    """Makes every report and its picture."""
    with tempfile.TemporaryDirectory() as name:
        settings = {"PRECIS_SUMMARY_STORAGE__DIRECTORY": f"{name}/summaries"}
        with PrecisServer(ROOT / "models", settings) as server:
            for kind, arguments in REPORTS.items():
                report = Path(name) / f"{kind}.html"
                command = [
                    sys.executable,
                    "-m",
                    "precis",
                    *arguments,
                    "--address",
                    server.address,
                    "--report",
                    str(report),
                ]
                subprocess.run(command, cwd=ROOT, env=os.environ, check=False, capture_output=True)
                draw(report, FOLDER / f"report-{kind}.png")
    return overload.main()


if __name__ == "__main__":
    sys.exit(main())
