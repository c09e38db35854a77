"""What the scripted endpoint saw: the witness of every claim about calls."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class RequestLog:
    """Counts by content hash, and what is going on now."""

    requests: Counter[str] = field(default_factory=Counter)  # attempts, by content
    # completions sent whole to a client that was still there, by content
    answered: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)  # attempts that were failed on purpose or refused, by kind
    in_flight: int = 0  # attempts being worked on
    peak_in_flight: int = 0  # most at once
    left: int = 0  # clients that went away before their answer
    bodies: list[dict[str, object]] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, content_hash: str, body: dict[str, object], *, keep_body: bool) -> int:
        """Counts an attempt and returns its number, from 1, among those with this content."""
        self.requests[content_hash] += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        if keep_body:
            self.bodies.append(body)
        self._tell()
        return self.requests[content_hash]

    def end(self, content_hash: str, outcome: str) -> None:
        """Notes how an attempt ended: "answered", "left", or a fault."""
        self.in_flight -= 1
        match outcome:
            case "answered":
                self.answered[content_hash] += 1
            case "left":
                self.left += 1
            case fault:
                self.faults[fault] += 1
        self._tell()

    async def until(self, condition: Callable[["RequestLog"], bool]) -> None:
        """Waits until the condition holds. It is looked at after every request that begins or ends."""
        while not condition(self):
            self._changed.clear()
            await self._changed.wait()

    def clear(self) -> None:
        """Forgets the counts; attempts in flight go on."""
        for counter in (self.requests, self.answered, self.faults):
            counter.clear()
        self.bodies.clear()
        self.peak_in_flight, self.left = self.in_flight, 0

    def _tell(self) -> None:
        self._changed.set()
