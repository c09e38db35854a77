"""All settings of the served process, read once: environment over file over defaults."""

import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource

from inference.config import InferenceConfig
from pipeline.assess.config import SynthesisConfig
from pipeline.evaluate.config import EvaluateLimits
from pipeline.frozen import FrozenModel
from pipeline.judge.config import JudgeConfig
from pipeline.llm.config import LlmConfig
from pipeline.summarize.config import StorageConfig, SummarizeConfig
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.gate.config import TrustConfig
from pipeline.summarize.llm_writer.config import LlmWriterConfig
from server.config import (
    AuthConfig,
    HttpConfig,
    LimitsConfig,
    ListenConfig,
    LogConfig,
    MetricsConfig,
    ServicesConfig,
    TlsConfig,
    TracingConfig,
)
from server.errors import SettingsError

PREFIX = "PRECIS_"
FILE_VARIABLE = "PRECIS_SETTINGS_FILE"
SEPARATOR = "__"
NOT_OURS = {FILE_VARIABLE, "PRECIS_ADDRESS", "PRECIS_HTTP_URL", "PRECIS_TLS_CA", "PRECIS_API_KEY_FILE"}  # of clients


class Settings(FrozenModel):
    """Settings of `precis serve`.

    A nested setting is named by its path: `PRECIS_LISTEN__PORT=6000`, or in the TOML file that PRECIS_SETTINGS_FILE
    names, `[listen]` and `port = 6000`. Unknown names are refused. An empty variable sets nothing.
    """

    models_dir: Path = Field(
        default=Path("models"), description="Folder with the model directories `nli` and `embedding`."
    )
    listen: ListenConfig = Field(default=ListenConfig(), description="Where and how the server listens.")
    http: HttpConfig = Field(default=HttpConfig(), description="HTTP and JSON.")
    limits: LimitsConfig = Field(default=LimitsConfig(), description="What one InferenceService request may hold.")
    tls: TlsConfig = Field(default=TlsConfig(), description="TLS and mutual TLS.")
    auth: AuthConfig = Field(default=AuthConfig(), description="Bearer keys.")
    metrics: MetricsConfig = Field(default=MetricsConfig(), description="Prometheus metrics.")
    log: LogConfig = Field(default=LogConfig(), description="Log lines.")
    tracing: TracingConfig = Field(default=TracingConfig(), description="OpenTelemetry spans.")
    inference: InferenceConfig = Field(default=InferenceConfig(), description="Sessions, batcher, cache.")
    services: ServicesConfig = Field(default=ServicesConfig(), description="Streams and threads of the services.")
    evaluate: EvaluateLimits = Field(default=EvaluateLimits(), description="What one evaluation may hold.")
    judge: JudgeConfig = Field(default=JudgeConfig(), description="Settings and limits of judgements.")
    synthesis: SynthesisConfig = Field(default=SynthesisConfig(), description="Answers to questions about quality.")
    summarize: SummarizeConfig = Field(default=SummarizeConfig(), description="Summary defaults and limits.")
    summary_storage: StorageConfig = Field(default=StorageConfig(), description="Where summaries are kept.")
    llm: LlmConfig | None = Field(
        default=None,
        description="OpenAI-compatible endpoint that writes summaries and helps to judge; neither needs one.",
    )
    llm_writer: LlmWriterConfig = Field(default=LlmWriterConfig(), description="How the endpoint is asked.")
    extractive: ExtractiveConfig = Field(default=ExtractiveConfig(), description="The extractive writer.")
    summary_trust: TrustConfig = Field(default=TrustConfig(), description="How texts are checked and repaired.")


class _Environment(EnvSettingsSource):
    """Variables as they are, also one that should be JSON and is not: pydantic then names it."""

    def __init__(self) -> None:
        options: dict[str, Any] = {"env_prefix": PREFIX, "env_nested_delimiter": SEPARATOR, "env_ignore_empty": True}
        super().__init__(Settings, **options)  # type: ignore[arg-type]  # it reads no more of a class than its fields

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ANN401 - as there
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


def load_settings(file: Path | None = None, *, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Reads the settings.

    Args:
        file: TOML; default: the one that PRECIS_SETTINGS_FILE names, if any.
        overrides: values, and sections whole or in part, that stand above the environment.

    Raises:
        SettingsError: one line with every setting that is wrong and where it comes from.
    """
    _refuse_unknown_variables()
    values = _joined(_joined(_read_toml(file), _Environment()()), overrides or {})
    try:
        return Settings(**values)
    except ValidationError as error:
        problems = "; ".join(_describe(problem) for problem in error.errors(include_url=False))
        raise SettingsError(f"wrong settings: {problems}") from error


def read_sources() -> dict[str, dict[str, Any]]:
    """Returns what the environment and the file set, the one that wins first. Raises SettingsError."""
    return {"environment": _Environment()(), "file": _read_toml(None)}


def _joined(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Returns sections whole or in part above others."""
    joined = dict(lower)
    for name, value in upper.items():
        below = joined.get(name)
        joined[name] = _joined(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return joined


def _read_toml(file: Path | None) -> dict[str, Any]:
    named = os.environ.get(FILE_VARIABLE)
    path = file or (Path(named) if named else None)
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"cannot read the settings file {path}: {error}") from error


def _refuse_unknown_variables() -> None:
    """Refuses a misspelt first word, which pydantic-settings passes over in silence; deeper ones it refuses itself."""
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in NOT_OURS:
            continue
        first = name.removeprefix(PREFIX).split(SEPARATOR)[0].lower()
        if first not in Settings.model_fields:
            known = ", ".join(Settings.model_fields)
            raise SettingsError(f"wrong settings: {name} names no setting; after {PREFIX} comes one of {known}")


def _meant(name: str) -> str:
    """Asks whether the setting beside a misspelt name was meant; empty where none is like it."""
    sections = Settings.model_json_schema()["$defs"].values()
    names = {*Settings.model_fields, *(field for section in sections for field in section.get("properties", ()))}
    near = get_close_matches(name, names, n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def _describe(problem: Any) -> str:  # noqa: ANN401  pydantic's ErrorDetails
    path = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        return f"{'.'.join(path)} ({PREFIX}{SEPARATOR.join(path).upper()}): there is no such setting{_meant(path[-1])}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    if isinstance(problem["input"], dict):  # a rule between settings: the message has what was set, where it matters
        return f"{'.'.join(path)}: {message}" if path else message
    if problem["type"] in {"tuple_type", "dict_type", "mapping_type"}:
        message = """expected JSON, such as '["a", "b"]' or '{"a": "b"}'"""
    got = re.sub(r"//[^/@\s]*@", "//***@", repr(problem["input"]))  # a password in an address
    return f"{'.'.join(path)} ({PREFIX}{SEPARATOR.join(path).upper()}): {message}, got {got}"
