"""A real server with tiny models on a free port, for checks that need something to call.

Prints its address once it accepts calls, with --http that of HTTP behind it, and serves until a signal.
Run: python -m scripts.tiny_server
"""

import sys
import tempfile
from pathlib import Path

import uvloop

from server.app import App
from server.run import serve
from server.settings import Settings
from tests.unit.inference.tiny_models import write_tiny_embedder, write_tiny_nli


def main() -> None:
    """Serves until a signal."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tiny_embedder(folder / "models" / "embedding")
        write_tiny_nli(folder / "models" / "nli")
        settings = Settings(
            models_dir=folder / "models",
            listen={"host": "127.0.0.1", "port": 0},
            metrics={"enabled": False},
            http={"enabled": "--http" in sys.argv, "port": 0},
            summary_storage={"directory": folder / "summaries"},
            inference={"runtime": {"warmup_s": 0.05}},
        )
        uvloop.run(serve(settings, announce))


def announce(app: App) -> None:
    """Says where the server listens."""
    print(app.address, *([f"http://127.0.0.1:{app.http_port}"] if app.http_port else []), flush=True)


if __name__ == "__main__":
    main()
