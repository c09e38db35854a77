"""What a scripted endpoint is told to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.scripted_endpoint.faults import Fault, FaultPlan
from tests.scripted_endpoint.replies import Author, Reply


@dataclass(frozen=True, slots=True)
class Script:
    """The endpoint's behaviour.

    Attributes:
        latency_s: from a request's last byte to its answer's first.
        models: what it serves; another name is 404.
        api_key: what it wants to see; None for no check.
        context_tokens: prompt and answer together; more is 400. None for no limit.
        answer_chars: length of an answer that no reply decides.
        replies: answers by pattern, the first that fits.
        author: writes the answers that no reply decides; None: the end of the last message.
        first_faults: what happens to the first attempts in order of arrival; None is a good answer.
        faults: what happens to the others.
        max_concurrency: attempts in flight beyond which it says 429; None for no limit.
        supports_json_schema: False refuses `response_format` with 400.
        supports_logprobs: False refuses `logprobs` with 400.
        supports_images: False refuses a message with pictures with 500, as llama.cpp does.
        supports_seed: False refuses `seed` with 400.
        is_reasoning_model: True refuses `max_tokens` and `temperature`, as OpenAI's reasoning models do.
        max_tokens_kept: False answers at any length, as some endpoints do.
        stream_pieces: pieces of a streamed answer.
        streams: "ignored" answers whole although pieces were asked for, "refused" says 400.
        keep_bodies: keep what was asked, for tests that look at it.
        tells: what it says of itself, by the path that it is asked for; else the names of its models.
    """

    latency_s: float = 0.0
    models: tuple[str, ...] = ("scripted",)
    api_key: str | None = None
    context_tokens: int | None = None
    answer_chars: int = 400
    replies: tuple[Reply, ...] = ()
    author: Author | None = None
    first_faults: tuple[Fault | None, ...] = ()
    faults: FaultPlan = field(default_factory=FaultPlan)
    max_concurrency: int | None = None
    supports_json_schema: bool = True
    supports_logprobs: bool = True
    supports_images: bool = True
    supports_seed: bool = True
    is_reasoning_model: bool = False
    max_tokens_kept: bool = True
    stream_pieces: int = 8
    streams: Literal["kept", "ignored", "refused"] = "kept"
    keep_bodies: bool = False
    tells: Mapping[str, object] = field(default_factory=dict)
