"""Settings of the language models behind OpenAI-compatible endpoints: one for all roles, or others for some."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    DirectoryPath,
    Field,
    JsonValue,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from pipeline.frozen import FrozenModel
from pipeline.llm.chat_model import LlmUsage
from pipeline.prompts.prompts import Prompts, built_in


class RateConfig(FrozenModel):
    """How much is asked of the endpoint at once, by all users in the process together."""

    max_concurrency: int = Field(
        default=16,
        ge=1,
        le=1024,
        description="Requests in flight. Halved whenever the endpoint is busy; grows by one for each round "
        "of good answers.",
    )
    requests_per_minute: int | None = Field(default=None, ge=1, description="Default: no limit of ours.")
    tokens_per_minute: int | None = Field(
        default=None,
        ge=1,
        description="Tokens of prompts and answers, counted with the longest possible answer at first. "
        "Default: no limit of ours.",
    )


class RetryConfig(FrozenModel):
    """When a failed request is made again. What cannot succeed (key, model, a refused request) never is."""

    max_attempts: int = Field(default=10, ge=1, description="Requests for one call, the first included.")
    max_timeouts: int = Field(
        default=3,
        ge=1,
        description="Requests of one call that may end without a whole answer in time (timeouts.attempt_s, silence_s).",
    )
    base_delay_s: float = Field(
        default=0.5,
        ge=0,
        description="Longest wait before the second request; doubles each time, up to 30.",
    )
    max_retry_after_s: float = Field(
        default=120.0, ge=0, description="Retry-After up to here is waited for; a longer one ends the call at once."
    )


class TimeoutConfig(FrozenModel):
    """How long to wait for one request."""

    connect_s: float = Field(default=10.0, gt=0, description="For the connection, TLS included.")
    silence_s: float | None = Field(
        default=None,
        gt=0,
        description="Longest time without a byte. Default: 120 for streamed answers, else attempt_s.",
    )
    attempt_s: float = Field(
        default=900.0, gt=0, description="For one request, from its sending to the last byte of its answer."
    )


class PriceConfig(FrozenModel):
    """What tokens cost, in any currency, and how much may be spent."""

    prompt_per_million: float = Field(default=0.0, ge=0, description="For a million prompt tokens.")
    completion_per_million: float = Field(default=0.0, ge=0, description="For a million tokens of answers.")
    max_cost: float | None = Field(
        default=None,
        gt=0,
        description="No further request is sent once the endpoint's answers since the start have cost this much. "
        "Default: no limit.",
    )

    def cost(self, usage: LlmUsage) -> float:
        """Returns what answers cost."""
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        return (prompt * self.prompt_per_million + completion * self.completion_per_million) / 1e6

    def cost_if_priced(self, usage: LlmUsage) -> float | None:
        """Returns the same; None where no price is set."""
        return self.cost(usage) if self.prompt_per_million or self.completion_per_million else None


NO_PRICES = PriceConfig()


class LlmRole(StrEnum):
    """What a language model is asked for."""

    WRITER = "writer"
    CRITIC = "critic"
    JUDGE = "judge"
    PLANNER = "planner"
    EXECUTOR = "executor"
    SYNTHESIZER = "synthesizer"


def _check_base_url(value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http:// or https:// address")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must hold no user, password, query or fragment; a key goes into api_key_file")
    return value.rstrip("/").removesuffix("/chat/completions")


BaseUrl = AfterValidator(_check_base_url)


class AskConfig(FrozenModel):
    """How a model is asked in a role, beside what every endpoint takes."""

    max_tokens: int | None = Field(default=None, ge=16, description="Of an answer. Default: what each task asks for.")
    thinking_tokens: int = Field(
        default=0,
        ge=0,
        le=1 << 17,
        description="For thoughts, beside the answer; more as soon as the model takes more.",
    )
    reasoning_effort: str | None = Field(default=None, max_length=32, description="As the endpoint calls it: low, ...")
    extra_body: Mapping[str, JsonValue] = Field(default={}, description="Fields that requests have besides ours.")
    extra_headers: Mapping[str, SecretStr] = Field(default={}, description="Headers likewise.")

    @field_validator("extra_body", "extra_headers")
    @classmethod
    def _refuse_ours(cls, extra: Mapping[str, object]) -> Mapping[str, object]:
        ours = {"model", "messages", "stream", "authorization", "host", "content-length", "content-type"}
        if taken := ours & {name.lower() for name in extra}:
            raise ValueError(f"must leave {', '.join(sorted(taken))} to us")
        return extra


def _check_prompts(folder: Path | None) -> Path | None:
    Prompts(folder)
    return folder


class ServedModelConfig(FrozenModel):
    """What is known of a model where it is served."""

    api_key: SecretStr | None = Field(default=None, description="Bearer key; a file is safer than the environment.")
    api_key_file: Path | None = Field(
        default=None, description="File with the key and nothing else; read again when the endpoint refuses the key."
    )
    context_tokens: int | None = Field(
        default=None,
        ge=256,
        description="What the model holds, prompt and answer together. Default: what the endpoint tells at start, else "
        "8192.",
    )
    tokenizer_file: Path | None = Field(
        default=None, description="The model's tokenizer.json, to count tokens exactly. Default: a cautious estimate."
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Of all answers. Default: what each task asks for."
    )


class RoleConfig(ServedModelConfig, AskConfig):
    """Another endpoint, model or way to ask for one role; what is not set is as for all."""

    base_url: Annotated[str | None, BaseUrl] = Field(
        default=None, description="Address of another endpoint. The key of `llm` is not sent there."
    )
    model: str | None = Field(default=None, min_length=1, description="Name of another model.")
    prices: Mapping[str, float] | None = Field(
        default=None, description="Of that model: prompt_per_million, completion_per_million."
    )
    fallback: Mapping[str, JsonValue] | None = Field(
        default=None, description="Asked where this one fails: a table with what may stand here."
    )

    @field_validator("prices", "fallback")
    @classmethod
    def _check_table(cls, table: Mapping[str, object] | None, info: ValidationInfo) -> Mapping[str, object] | None:
        kind = PriceConfig if info.field_name == "prices" else cls
        kind.model_validate(table or {})
        return table


ALIKE = RoleConfig()
"""A role of which nothing is set: it has the endpoint and the model of `llm`."""


class LlmConfig(ServedModelConfig):
    """An endpoint and the model asked for there."""

    base_url: Annotated[str, BaseUrl] = Field(
        description="Address without `/chat/completions`, for example https://api.openai.com/v1 or "
        "http://127.0.0.1:8080/v1."
    )
    model: str = Field(min_length=1, description="Name of the model, as the endpoint calls it.")
    structured_output: Literal["auto", "json_schema", "prompt"] = Field(
        default="auto",
        description="Who makes sure of JSON: the endpoint (`json_schema`), the prompt (`prompt`), or the "
        "first that works (`auto`).",
    )
    stream: bool = Field(
        default=False,
        description="Have answers streamed: no proxy cuts a long silence. Costs up to 0.4 ms of CPU for each token.",
    )
    prompts_dir: Annotated[DirectoryPath | None, AfterValidator(_check_prompts)] = Field(
        default=None,
        description="Folder with prompts of your own, named as `precis prompts list` shows. Default: those that are "
        "shipped.",
    )
    max_answer_bytes: int = Field(default=8 << 20, ge=1024, description="A longer answer is cut off: it is endless.")
    rates: RateConfig = RateConfig()
    retries: RetryConfig = RetryConfig()
    timeouts: TimeoutConfig = TimeoutConfig()
    prices: PriceConfig = PriceConfig()
    roles: Mapping[LlmRole | Literal["all"], RoleConfig] = Field(
        default={},
        description="Another endpoint, model or way to ask for one of writer, critic, judge, planner, executor, "
        "synthesizer, or for all. As tables in the file: [llm.roles.judge], with base_url, model, api_key, "
        "api_key_file, context_tokens, tokenizer_file, temperature, max_tokens, thinking_tokens, reasoning_effort, "
        "extra_body, extra_headers, prices or fallback (a table of these); in the environment "
        "PRECIS_LLM__ROLES__JUDGE__MODEL. The key of `llm` is not sent to another address.",
    )

    def __hash__(self) -> int:
        return hash(self.identity)  # a mapping has none

    @property
    def identity(self) -> str:
        """Model and endpoint, and the temperature if it is set; never a key."""
        at = "" if self.temperature is None else f" at temperature {self.temperature:g}"
        return f"{self.model}@{self.base_url}{at}"

    @property
    def prompts(self) -> Prompts:
        """The prompts in force."""
        return Prompts(self.prompts_dir) if self.prompts_dir else built_in()

    def of_role(self, role: LlmRole) -> "ModelConfig":
        """Returns the settings of one role: its own over those of all. A key belongs to the address it was set with."""
        base = _over(self, self.roles.get("all", ALIKE))
        return _over(base, self.roles.get(role, ALIKE))

    @property
    def silence_s(self) -> float:
        """Longest time without a byte, in seconds."""
        # A slow machine may read a long prompt for a minute before the first token of a stream.
        default_s = 120.0 if self.stream else self.timeouts.attempt_s
        return self.timeouts.silence_s or default_s

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        parts: dict[str, LlmConfig | RoleConfig] = {f"roles.{name}.": role for name, role in self.roles.items()}
        for name, one in {"": self, **parts}.items():
            if one.api_key is not None and one.api_key_file is not None:
                raise ValueError(f"{name}api_key and {name}api_key_file: set one of them")
        return self


class ModelConfig(LlmConfig, AskConfig):
    """The settings of one role, complete."""

    fallback: "ModelConfig | None" = None  # asked where this one fails

    def __hash__(self) -> int:
        return hash(self.identity)


def _over(config: LlmConfig, role: RoleConfig) -> ModelConfig:
    """Returns settings with those over them that a role sets."""
    given = {name: getattr(role, name) for name in role.model_fields_set if getattr(role, name) is not None}
    shared = dict(config) | {"roles": {}}
    if given.keys() & {"base_url", "api_key", "api_key_file"}:
        shared |= {"api_key": None, "api_key_file": None}
    if "model" in given:
        shared["tokenizer_file"] = None
    fallback = given.pop("fallback", None)
    merged = ModelConfig.model_validate(shared | given)
    other = None if fallback is None else _over(merged, RoleConfig.model_validate(fallback))
    return merged.model_copy(update={"fallback": other})
