"""What a scripted endpoint is told to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Author, Reply


@dataclass(frozen=True, slots=True)
class Script:
    """The endpoint's behaviour."""

    latency_s: float = 0.0  # from a request's last byte to its answer's first
    models: tuple[str, ...] = ("scripted",)  # what it serves; another name is 404
    api_key: str | None = None  # what it wants to see; None for no check
    context_tokens: int | None = None  # prompt and answer together; more is 400. None for no limit.
    answer_chars: int = 400  # length of an answer that no reply decides
    replies: tuple[Reply, ...] = ()  # answers by pattern, the first that fits
    author: Author | None = None  # writes the answers that no reply decides; None: the end of the last message
    # what happens to the first attempts in order of arrival; None is a good answer
    first_faults: tuple[Fault | None, ...] = ()
    faults: FaultPlan = field(default_factory=FaultPlan)  # what happens to the others
    max_concurrency: int | None = None  # attempts in flight beyond which it says 429; None for no limit
    supports_json_schema: bool = True  # False refuses `response_format` with 400
    supports_logprobs: bool = True  # False refuses `logprobs` with 400
    supports_images: bool = True  # False refuses a message with pictures with 500, as llama.cpp does
    supports_seed: bool = True  # False refuses `seed` with 400
    is_reasoning_model: bool = False  # True refuses `max_tokens` and `temperature`, as OpenAI's reasoning models do
    max_tokens_kept: bool = True  # False answers at any length, as some endpoints do
    stream_pieces: int = 8  # pieces of a streamed answer
    # "ignored" answers whole although pieces were asked for, "refused" says 400
    streams: Literal["kept", "ignored", "refused"] = "kept"
    keep_bodies: bool = False  # keep what was asked, for tests that look at it
    # what it says of itself, by the path that it is asked for; else the names of its models
    tells: Mapping[str, object] = field(default_factory=dict)
