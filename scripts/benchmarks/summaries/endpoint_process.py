"""The scripted OpenAI-compatible endpoint of the tests, in a process of its own with a fixed latency."""

import asyncio
import multiprocessing
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

from tests.scripted_endpoint.author import write
from tests.scripted_endpoint.endpoint import ScriptedEndpoint
from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Reply
from tests.scripted_endpoint.script import Script

PASS = Reply("PASS or FAIL", "PASS: complete.")
FAIL = Reply("PASS or FAIL", 'FAIL: "the": a step is missing behind it.')  # with a place, which every text has
ANSWER_CHARS = 2_000  # of a map or reduce answer, which is the end of its prompt
RETRY_AFTER_S = 0.1
_SPAWN = multiprocessing.get_context("spawn")  # gRPC does not survive a fork


def scripted(
    latency_s: float = 0.0,
    *,
    critic: Reply = PASS,
    faults: Mapping[Fault, float] | None = None,
    seed: int = 0,
    is_honest: bool = False,
) -> Script:
    """Says what the endpoint does.

    Args:
        latency_s: from a request's last byte to its answer's first.
        critic: to the prompts of reflect.
        faults: share of the attempts that fail, by kind.
        seed: of the faults; the same prompts fail in the same way every time.
        is_honest: answers as a careful model would, else with the end of the prompt, which no check of texts lets pass.
    """
    return Script(
        latency_s=latency_s,
        answer_chars=ANSWER_CHARS,
        replies=(critic,),
        author=write if is_honest else None,
        faults=FaultPlan(faults or {}, seed, RETRY_AFTER_S),
    )


@dataclass(frozen=True)
class Seen:
    """What the endpoint saw since it was last asked.

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

    def __init__(self, script: Script) -> None:
        self._pipe, self._their_end = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_run, args=(script, self._their_end), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        self._their_end.close()  # or we would wait for ever for the answer of a dead process
        self.base_url: str = self._pipe.recv()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pipe.close()  # the process sees the end of its commands
        self._process.join()

    def seen(self) -> Seen:
        """Returns the counts and forgets them."""
        self._pipe.send("seen")
        seen: Seen = self._pipe.recv()
        return seen


def _run(script: Script, pipe: Connection) -> None:
    asyncio.run(_serve(script, pipe))


async def _serve(script: Script, pipe: Connection) -> None:
    async with ScriptedEndpoint(script) as endpoint:
        pipe.send(endpoint.base_url)
        while await asyncio.to_thread(_is_asked, pipe):
            log = endpoint.log
            answered = log.answered.total()
            failed = log.faults.total() + log.left
            pipe.send(Seen(log.requests.total(), answered, answered - len(log.answered), failed, log.peak_in_flight))
            log.clear()


def _is_asked(pipe: Connection) -> bool:
    """Waits for a question; False when nobody is left to ask."""
    try:
        pipe.recv()
    except EOFError:
        return False
    return True
