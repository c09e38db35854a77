#!/usr/bin/env python3
"""Generates the committed stubs beside each .proto file.

The proto path is `protos/`, so that generated imports read `from precis.v1 import ...`: protoc derives Python imports
from that path and from nothing else (protobuf issue 1491).
The type stubs of services are those of grpc.aio, which the server speaks. With both kinds every asyncio stub would need
another type than its class. Sync callers have types through `precis.Client`.
The output depends only on the .proto files and on the versions pinned in the `dev` extra.

Usage: gen_protos.py [--out DIR]
"""

import argparse
import subprocess
import sys
import sysconfig
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROTO_ROOT = ROOT / "protos"


def protoc_command(out: Path, protos: list[Path]) -> list[str]:
    """Builds the protoc command line: messages, services, and type stubs for both."""
    scripts = Path(sysconfig.get_path("scripts"))  # the plugins of this interpreter, whatever PATH says
    return [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        "-I.",
        f"-I{files('grpc_tools') / '_proto'}",  # google/protobuf/*.proto
        f"--plugin=protoc-gen-mypy={scripts / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={scripts / 'protoc-gen-mypy_grpc'}",
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet,only_async:{out}",
        *map(str, protos),
    ]


def generate(out: Path) -> None:
    """Writes the stubs of every .proto file under `out`. Raises CalledProcessError with protoc's own message."""
    protos = sorted(path.relative_to(PROTO_ROOT) for path in PROTO_ROOT.glob("precis/*/*.proto"))
    subprocess.run(protoc_command(out, protos), cwd=PROTO_ROOT, check=True)


def main() -> int:
    """Parses the command line and generates."""
    parser = argparse.ArgumentParser(description="Generate the committed protobuf and gRPC stubs.")
    parser.add_argument("--out", type=Path, default=PROTO_ROOT, help="root to write under (default: protos/)")
    try:
        generate(parser.parse_args().out.resolve())
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
