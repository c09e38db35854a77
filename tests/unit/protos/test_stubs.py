"""The committed stubs are those that the .proto files give."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STUBS = ("precis/v1", "precis/oip")


def contents(root: Path) -> dict[str, str]:
    """Maps the name of every stub under a root to its text."""
    paths = sorted(path for folder in STUBS for path in (root / folder).glob("*_pb2*.py*"))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def test_the_committed_stubs_are_fresh(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "gen_protos.py"
    subprocess.run([sys.executable, script, "--out", tmp_path], check=True, capture_output=True)
    generated, committed = contents(tmp_path), contents(ROOT / "protos")
    assert sorted(generated) == sorted(committed)
    stale = [name for name, text in generated.items() if committed[name] != text]
    assert stale == [], "run scripts/gen_protos.py and commit what it writes"
