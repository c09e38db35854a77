"""What the scripted endpoint does wrong, and when."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """One way to fail a call."""

    RATE_LIMIT = "rate_limit"  # 429 with Retry-After
    QUOTA = "quota"  # 429 as OpenAI says that the money is spent
    SERVER_ERROR = "server_error"  # 500 with a JSON error
    OVERLOADED = "overloaded"  # 503 with Retry-After
    RESET = "reset"  # RST instead of an answer
    CUT = "cut"  # the connection ends in the middle of the body
    HANG = "hang"  # no byte until the client leaves
    TRUNCATED_JSON = "truncated_json"  # 200, and half of the JSON as a whole body
    HTML = "html"  # 200, and a page
    EMPTY = "empty"  # 200, and an answer without text
    ENDLESS = "endless"  # 200, and bytes until the client leaves
    ENDLESS_ERROR = "endless_error"  # 500, likewise
    PACKED = "packed"  # 200, and gzip, for which nobody asked


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Draws a fault for each attempt. The draw depends on content and attempt, not on the order of arrival."""

    # share of the attempts that fail in each way; together at most 1
    shares: Mapping[Fault, float] = field(default_factory=dict)
    seed: int = 0  # another seed, other draws
    retry_after_s: float = 1.0  # what 429 and 503 say, in seconds

    def draw(self, content_hash: str, attempt: int) -> Fault | None:
        """Returns the fault of the n-th attempt (from 1) at one content."""
        digest = hashlib.sha256(f"{self.seed}:{content_hash}:{attempt}".encode()).digest()
        place = int.from_bytes(digest[:8], "big") / 2**64
        for fault, share in self.shares.items():
            if place < share:
                return fault
            place -= share
        return None
