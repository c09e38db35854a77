"""The options of an architecture that change its arithmetic, read from a Hugging Face config.json."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

from inference.compile.errors import UnsupportedModelError

Activation = Literal["identity", "gelu", "gelu_new", "relu", "tanh"]


@dataclass(frozen=True)
class EncoderConfig:
    """What the writer of every encoder needs to know."""

    hidden_size: int
    layer_count: int
    head_count: int
    layer_norm_eps: float
    activation: Activation

    @property
    def head_size(self) -> int:
        """Columns of one attention head."""
        return self.hidden_size // self.head_count


@dataclass(frozen=True)
class BertConfig(EncoderConfig):
    """BERT has no options beyond those of every encoder."""

    @classmethod
    def from_huggingface(cls, config: Mapping[str, Any]) -> Self:
        """Reads a config.json. Raises UnsupportedModelError for options without a writer."""
        _require(config, "model_type", "bert")
        _require(config, "position_embedding_type", "absolute", default="absolute")
        _require(config, "is_decoder", expected=False, default=False)
        return cls(**_shared(config))


@dataclass(frozen=True)
class DebertaConfig(EncoderConfig):
    """What the DeBERTa-v2 (and v3, same architecture) writer needs to know."""

    has_content_to_position: bool
    has_position_to_content: bool
    shares_attention_key: bool
    normalizes_relative_embeddings: bool
    position_buckets: int  # 0: one embedding per distance, no buckets
    max_relative_positions: int  # distances beyond it share one embedding
    has_absolute_positions: bool
    token_type_count: int
    pooler_activation: Activation

    @classmethod
    def from_huggingface(cls, config: Mapping[str, Any]) -> Self:
        """Reads a config.json. Raises UnsupportedModelError for options without a writer."""
        _require(config, "model_type", "deberta-v2")
        _require(config, "conv_kernel_size", 0, default=0)
        position_types = _position_types(config) if config.get("relative_attention", False) else frozenset[str]()
        span = int(config.get("max_relative_positions", -1))
        return cls(
            **_shared(config),
            has_content_to_position="c2p" in position_types,
            has_position_to_content="p2c" in position_types,
            shares_attention_key=bool(config.get("share_att_key", False)),
            normalizes_relative_embeddings="layer_norm" in str(config.get("norm_rel_ebd", "none")).lower(),
            position_buckets=max(0, int(config.get("position_buckets", -1))),
            max_relative_positions=span if span >= 1 else int(config["max_position_embeddings"]),
            has_absolute_positions=bool(config.get("position_biased_input", True)),
            token_type_count=int(config.get("type_vocab_size", 0)),
            pooler_activation=_activation(config.get("pooler_hidden_act", "gelu")),
        )

    @property
    def relative_span(self) -> int:
        """Half the number of relative-position embeddings."""
        return self.position_buckets or self.max_relative_positions

    @property
    def score_terms(self) -> int:
        """Terms that the attention score sums: content, and each relative term. Scores are divided by its root."""
        return 1 + self.has_content_to_position + self.has_position_to_content


# config.json of microsoft/deberta-v3-xsmall; the packaged graph comes without one (MIT licence).
DEBERTA_V3_XSMALL = DebertaConfig(
    hidden_size=384,
    layer_count=12,
    head_count=6,
    layer_norm_eps=1e-7,
    activation="gelu",
    has_content_to_position=True,
    has_position_to_content=True,
    shares_attention_key=True,
    normalizes_relative_embeddings=True,
    position_buckets=256,
    max_relative_positions=512,
    has_absolute_positions=False,
    token_type_count=0,
    pooler_activation="gelu",
)


def _shared(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "hidden_size": int(config["hidden_size"]),
        "layer_count": int(config["num_hidden_layers"]),
        "head_count": int(config["num_attention_heads"]),
        "layer_norm_eps": float(config.get("layer_norm_eps", 1e-12)),
        "activation": _activation(config.get("hidden_act", "gelu")),
    }


def _activation(name: str) -> Activation:
    if name not in get_args(Activation):
        raise UnsupportedModelError(f"no writer for the activation {name!r}; known: {get_args(Activation)}")
    return cast("Activation", name)


def _position_types(config: Mapping[str, Any]) -> frozenset[str]:
    stated = config.get("pos_att_type") or []
    names = stated.lower().split("|") if isinstance(stated, str) else stated
    types = frozenset(name.strip() for name in names) - {"", "none"}
    if types - {"c2p", "p2c"}:
        raise UnsupportedModelError(f"no writer for pos_att_type {sorted(types)}; known: c2p, p2c")
    return types


def _require(config: Mapping[str, Any], key: str, expected: object, default: object = None) -> None:
    found = config.get(key, default)
    if found != expected:
        raise UnsupportedModelError(f"no writer for {key} = {found!r}, only for {expected!r}")
