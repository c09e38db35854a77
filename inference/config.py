"""Settings of the inference package."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["embedding", "nli"]
Device = Literal["cpu", "cuda"]


class _Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RuntimeConfig(_Config):
    """Where the graphs run, and on how many threads."""

    execution_provider: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="`auto` takes CUDA when ONNX Runtime offers it, else the CPU."
    )
    workers: int | None = Field(
        default=None,
        ge=1,
        description="Worker threads, shared by all models. Default: one for each CPU core that this process "
        "may use, or each GPU.",
    )
    device_ids: tuple[int, ...] = Field(
        default=(0,), min_length=1, description="CUDA devices; each gets a session of every model."
    )
    warmup_s: float = Field(
        default=2.0, ge=0, description="Longest time to spend on measuring what batches of one model cost."
    )
    restart_backoff_s: float = Field(
        default=0.1, gt=0, description="Wait before a dead worker is started again; doubles each time, up to 50 times."
    )
    stall_timeout_s: float = Field(
        default=60.0, gt=0, description="A batch that takes longer has hung: its worker is given up and replaced."
    )
    stop_timeout_s: float = Field(
        default=5.0, gt=0, description="Time for batches in progress to end when stopping; then they are interrupted."
    )


class BatchConfig(_Config):
    """How large a batch may be. Within these bounds the measured costs decide."""

    max_batch_size: int | None = Field(
        default=None, ge=1, description="Rows in one forward pass. Default: 16 on a CPU, 256 on a GPU."
    )
    max_batch_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Tokens of a batch without padding. A single row may be longer. Default: 512 on a CPU, "
        "32768 on a GPU.",
    )


class QueueConfig(_Config):
    """How much of one model's work may be admitted. More is refused at once."""

    max_queue_items: int = Field(default=16_384, ge=1, description="Items admitted and not answered.")
    max_queue_tokens: int = Field(default=524_288, ge=1, description="Tokens admitted and not computed.")


class CacheConfig(_Config):
    """Results that are kept to answer the same input again."""

    max_bytes: int = Field(default=64 << 20, ge=0, description="Memory for one model's results; 0 keeps none.")


class InferenceConfig(_Config):
    """Everything that the engine can be told."""

    roles: tuple[Role, ...] = Field(default=("embedding", "nli"), min_length=1, description="Models to load.")
    backend: Literal["onnxruntime", "core", "auto"] = Field(
        default="auto",
        description="`core`: the compiled core. `onnxruntime`: ONNX Runtime. `auto`: the core where it can "
        "run, else ONNX Runtime.",
    )
    drain_grace_s: float = Field(default=10.0, ge=0, description="Time to finish admitted work when the engine stops.")
    runtime: RuntimeConfig = RuntimeConfig()
    batch: BatchConfig = BatchConfig()
    queue: QueueConfig = QueueConfig()
    cache: CacheConfig = CacheConfig()
