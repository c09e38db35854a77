"""What embedder and NLI model have in common: tokenize, submit, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inference.batcher import DynamicBatcher
from inference.call import Call
from inference.encoded import Encoded
from inference.ticket import Ticket
from inference.tokenizer_thread import Item, TokenizerThread, count_chars


@dataclass(frozen=True)
class FrontDoor:
    """The way into one model's batcher."""

    batcher: DynamicBatcher
    thread: TokenizerThread
    inline_chars: int  # up to here tokenizing is cheaper than asking the thread to

    async def compute(
        self, items: Sequence[Item], encode: Callable[[Sequence[Item]], list[Encoded]], call: Call
    ) -> tuple[Ticket, list[Encoded]]:
        """Tokenizes and computes all items, or raises before anything was computed."""
        if self._is_short(items):
            self.batcher.check_room(len(items))
            rows = encode(items)
        else:
            self.batcher.hold(len(items))
            try:
                rows = await self.thread.encode(items, encode)
            finally:
                self.batcher.release(len(items))
        return await self.batcher.submit(rows, call), rows

    def _is_short(self, items: Sequence[Item]) -> bool:
        left = self.inline_chars
        for item in items:
            left -= count_chars(item)
            if left < 0:
                return False
        return True
