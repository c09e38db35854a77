"""The interface of a chat model, behind which an OpenAI-compatible endpoint stands, or a fake.

Includes what its answers cost the request that asked for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

from pipeline.prompts.prompts import Prompts


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """A sum over calls."""

    calls: int = 0  # answers, those that turned out to be unusable included
    prompt_tokens: int = 0  # of those answers, as the endpoint counted them, else our estimate
    completion_tokens: int = 0  # likewise
    retries: int = 0  # requests that were made again because the endpoint was busy, failed, or sent no completion

    def __add__(self, other: Self) -> "LlmUsage":
        prompt_tokens = self.prompt_tokens + other.prompt_tokens
        completion_tokens = self.completion_tokens + other.completion_tokens
        return LlmUsage(self.calls + other.calls, prompt_tokens, completion_tokens, self.retries + other.retries)


NO_USAGE = LlmUsage()


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture that goes with a message."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation; a user's may have pictures, which follow the text."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[ImagePart, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call."""

    messages: tuple[ChatMessage, ...]  # system first; the last is the user's, or an assistant's that is to be continued
    max_tokens: int
    temperature: float  # in [0, 2]
    json_schema: Mapping[str, object] | None = None  # what the answer must be, as JSON; None for text
    top_logprobs: int = 0  # alternatives wanted for each token of the answer, 0 to 20; 0 for none
    # room for thoughts beside the answer, held to; None: as much as the model turns out to need
    thinking_tokens: int | None = None
    seed: int | None = None  # of the endpoint's random numbers, where it has such a field; None leaves them to chance
    # a bad answer is an error at once, without another request: a failing endpoint is left after seconds.
    # The caller asks again itself, in other words, or does without.
    asks_once: bool = False
    # is told all that is written so far of the answer, again and again, if the endpoint sends it in pieces; "" when an
    # attempt failed and the answer begins anew. Nothing has checked it. Must be quick, never raises.
    on_draft: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    def prompt_tokens(self, count_tokens: Callable[[str], int]) -> int:
        """Returns how many tokens its messages have by some count, pictures included."""
        image_tokens = 1_500  # 1024 x 1024: 765 at GPT-4o, 1,369 at Qwen2-VL (28 x 28 pixels a token)
        return sum(count_tokens(one.content) + image_tokens * len(one.images) for one in self.messages)


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """One place of an answer."""

    alternatives: tuple[tuple[str, float], ...]  # token texts with natural logarithms of probabilities, best first
    # the one that stands there; it need not be among the alternatives. Empty if the endpoint does not say.
    token: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer."""

    text: str  # never empty; if a schema was asked for, JSON that fits it
    finish_reason: str  # the endpoint's word: "stop", "length", "content_filter", ...
    usage: LlmUsage  # what it cost
    model: str
    top_logprobs: tuple[TokenLogprobs, ...] = ()  # one entry for each token; empty unless asked for and served


class ChatModel(Protocol):
    """A chat model, with limits, retries and totals inside."""

    @property
    def identity(self) -> str:
        """Model and endpoint, for cache keys and responses; never a key."""

    @property
    def context_tokens(self) -> int:
        """All that the model can hold, prompt and answer."""

    @property
    def thinking_tokens(self) -> int:
        """What thoughts may take beside an answer, as far as is known."""

    @property
    def prompts(self) -> Prompts:
        """The words in which it is asked."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Returns an answer. Cancelling closes the connection. Raises LlmError after all retries."""

    def count_tokens(self, text: str) -> int:
        """Estimates tokens for budgets, rather too many than too few."""
