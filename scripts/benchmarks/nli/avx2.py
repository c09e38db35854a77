"""The compiled core and ONNX Runtime as they are on a CPU that ends at AVX2, measured on one that goes on.

A second process loads `avx2_only.c` before anything else; both then find AVX2 when they look for what the CPU has.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from inference.compile.install import NLI
from inference.core.library import InstructionSet, load_library
from scripts.benchmarks.nli.contenders import BATCH_ROWS, PAIR_TOKENS, Contenders, speedup

SOURCE = Path(__file__).with_name("avx2_only.c")


def avx2_speedup(rounds: int) -> float | None:
    """Returns CPU time of the graph in fp32 over that of the core in rows8, in batches of 8.

    None where that is not possible: another kind of CPU, one that lets no process trap CPUID, or no compiler.
    """
    compiler = shutil.which("cc")
    if compiler is None or platform.machine() != "x86_64" or platform.system() != "Linux":
        return None
    with tempfile.TemporaryDirectory(prefix="precis-") as folder:
        hidden = Path(folder) / "avx2_only.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", hidden, SOURCE], check=True)
        command = [sys.executable, "-m", __spec__.name, str(rounds)]
        environment = {**os.environ, "LD_PRELOAD": str(hidden)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return float(json.loads(done.stdout)) if done.returncode == 0 else None


def main() -> None:
    """Prints the ratio, in the process that sees AVX2 alone."""
    library = load_library()
    if library is None or library.level is not InstructionSet.AVX2:
        raise SystemExit("this process should see a CPU that ends at AVX2")
    with tempfile.TemporaryDirectory(prefix="precis-") as folder:
        nli = Contenders(NLI, Path(folder), library)
        print(
            json.dumps(
                speedup(nli.graph, nli.core("rows8"), nli.random_feed(BATCH_ROWS, PAIR_TOKENS), int(sys.argv[1]))
            )
        )


if __name__ == "__main__":
    main()
