"""A real `precis serve` process with its default settings, on a free port."""

from __future__ import annotations  # grpc's classes take type arguments in stubs only

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc
from grpc_health.v1 import health_pb2

from scripts.benchmarks.shared.corpus import ROOT

START_TIMEOUT_S = 240.0
PROBE_TIMEOUT_S = 1.0
STOP_TIMEOUT_S = 30.0
LOG_TAIL_CHARS = 2_000


class PrecisServer:
    """The server under test. Enter it to start the process and wait until it serves, leave it to stop it.

    Args:
        models: models folder.
        settings: further PRECIS_ environment variables.
        descriptors: that the process may have open; None: as many as this one.
    """

    def __init__(self, models: Path, settings: dict[str, str] | None = None, descriptors: int | None = None) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        self._environment = os.environ | {
            "PRECIS_MODELS_DIR": str(models.resolve()),
            "PRECIS_LISTEN__PORT": self.address.rsplit(":", 1)[1],
            "PRECIS_METRICS__PORT": "0",
            **(settings or {}),
        }
        self._limit = [] if descriptors is None else ["prlimit", f"--nofile={descriptors}:{descriptors}"]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Starts the process. Raises RuntimeError with the end of its log when it does not come up."""
        command = [*self._limit, sys.executable, "-m", "precis", "serve"]
        self._process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=self._log, stderr=self._log)
        try:
            self._wait_until_serving()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the process as an operator would, with SIGTERM."""
        self._stop()

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        if self._process is None:
            raise RuntimeError("enter the server before asking for its pid")
        return self._process.pid

    def _wait_until_serving(self) -> None:
        stop = time.monotonic() + START_TIMEOUT_S
        with grpc.insecure_channel(self.address) as channel:
            while self._process is not None and self._process.poll() is None and time.monotonic() < stop:
                if _is_serving(channel):
                    return
        raise RuntimeError(f"precis serve did not come up; its log ends:\n{self._log_tail()}")

    def _log_tail(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")[-LOG_TAIL_CHARS:]

    def _stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log.close()


def _is_serving(channel: grpc.Channel) -> bool:
    """Asks for the health of the whole server; waits for a connection, but not long enough to miss a dead process."""
    check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
    try:
        answer = check(b"", wait_for_ready=True, timeout=PROBE_TIMEOUT_S)
    except grpc.RpcError:
        return False
    return health_pb2.HealthCheckResponse.FromString(answer).status == health_pb2.HealthCheckResponse.SERVING


def free_port() -> int:
    """Asks the system for a port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
