"""The scripted OpenAI-compatible endpoint of the tests, as a process of its own with a fixed latency."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from scripts.benchmarks.shared.corpus import ROOT

PASS = "PASS or FAIL=PASS: complete."  # noqa: S105 - the critic's verdict, no password
FAIL = "PASS or FAIL=FAIL: step 3 is missing."
ANSWER_CHARS = 2_000  # of a map or reduce answer, which is the end of its prompt
STOP_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Behaviour:
    """What the endpoint is told to do.

    Attributes:
        latency_s: from a request's last byte to its answer's first.
        critic: PATTERN=TEXT for the prompts of reflect.
        faults: share of the attempts that fail, by kind; the kinds are those of tests/scripted_endpoint.
        retry_after_s: what a 429 says.
        is_honest: answers as a careful model would, else with the end of the prompt, which no check of texts lets pass.
        seed: of the faults; the same prompts fail in the same way every time.
    """

    latency_s: float = 0.0
    critic: str = PASS
    faults: Mapping[str, float] = field(default_factory=dict)
    retry_after_s: float = 0.1
    seed: int = 0
    is_honest: bool = False

    @property
    def arguments(self) -> list[str]:
        """As tests/scripted_endpoint takes them."""
        faults = [part for kind, share in self.faults.items() for part in ("--fault", f"{kind}={share}")]
        return [
            *("--latency-ms", f"{1000 * self.latency_s:g}", "--reply", self.critic),
            *("--answer-chars", str(ANSWER_CHARS), "--retry-after-s", f"{self.retry_after_s:g}"),
            *("--seed", str(self.seed), *faults, *(["--honest"] if self.is_honest else [])),
        ]


@dataclass(frozen=True)
class Seen:
    """What the endpoint saw since it was last asked to forget.

    Attributes:
        requests: attempts.
        answered: good answers that were read whole.
        repeated: good answers beyond the first to the same prompt.
        faults: attempts that were failed on purpose; the client left those that hang.
        peak_in_flight: most attempts at once.
    """

    requests: int
    answered: int
    repeated: int
    faults: int
    peak_in_flight: int


class EndpointProcess:
    """Enter it to start the endpoint on a free port, leave it to stop it."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour

    def __enter__(self) -> Self:
        command: Sequence[str] = [sys.executable, "-m", "tests.scripted_endpoint", *self._behaviour.arguments]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        self.base_url = self._process.stdout.readline().strip()
        if not self.base_url:
            raise RuntimeError("the scripted endpoint did not start; its error stands above")
        self._log_url = self.base_url.removesuffix("/v1") + "/log"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.communicate(timeout=STOP_TIMEOUT_S)

    def seen(self) -> Seen:
        """Returns the counts and forgets them."""
        log = self._call("GET")
        self._call("DELETE")
        return Seen(
            requests=log["request_count"],
            answered=log["answered_count"],
            repeated=log["answered_count"] - len(log["answered"]),
            faults=sum(log["faults"].values()) + log["left"],
            peak_in_flight=log["peak_in_flight"],
        )

    def _call(self, method: str) -> dict[str, Any]:
        request = urllib.request.Request(self._log_url, method=method)  # noqa: S310 - our own process
        with urllib.request.urlopen(request, timeout=STOP_TIMEOUT_S) as response:  # noqa: S310
            body: dict[str, Any] = json.load(response)
        return body
