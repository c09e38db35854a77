"""Packs the weights of a model directory for the compiled core, and names the arithmetic in its manifest.

The graph stays: it is what ONNX Runtime runs, and what the core's answers are compared with.
"""

import shutil
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
from numpy.typing import NDArray

from inference.compile import staging
from inference.compile.bert import EMBEDDING
from inference.compile.errors import UnsupportedModelError, VerificationError
from inference.compile.install import RECIPE
from inference.compile.packed.graph_reading import ByteMatrix, GraphReader
from inference.compile.probe import LONG_PROBE_TEXT, PROBE_PAIRS, PROBE_TEXTS, ProbeRunner
from inference.compile.weights import Float32, QuantizedTable
from inference.core import packed_file as layout
from inference.core.core_backend import NOT_COMPILED, CoreBackend, core_problem, packing_problem
from inference.core.library import CoreLibrary
from inference.core.packed_file import (
    COLUMNS,
    CONTENT_TO_POSITION,
    CORE_FILE,
    LANES,
    POSITION_TO_CONTENT,
    ROWS,
    Rows,
    score_limit,
)
from inference.errors import CoreUnavailableError
from inference.models.directory import ModelDirectory, load_model_directory
from inference.models.manifest import MARKS, MODEL_FILE, Manifest

_ACTIVATIONS = {"gelu": layout.GELU, "relu": layout.RELU, "identity": layout.IDENTITY}
_DEPTH = 4  # inputs of a column that lie together
_MAX_POSITIONS = 512
_MAX_CHANGE = 0.1  # of a probability or a number of an embedding; rows of 8 bits move one by .005 on average
RowChoice = Literal["auto"] | Rows


def packed_bytes(model: onnx.ModelProto, manifest: Manifest, rows: Rows) -> bytes:
    """Returns the packed file of a graph. Raises UnsupportedModelError: the core cannot compute this graph."""
    return _Packer(GraphReader(model), manifest, rows).packed()


class _Packer:
    """Writes header and sections of one file, in the order of `core_map` in csrc/model.c."""

    def __init__(self, graph: GraphReader, manifest: Manifest, rows: Rows) -> None:
        self._graph = graph
        self._manifest = manifest
        self._sections: list[bytes] = []
        self._header = np.zeros((), layout.HEADER)
        self._set(magic=layout.MAGIC, version=layout.FILE_VERSION, bits=layout.ROW_BITS[rows])
        self._set(epsilon=graph.epsilon(), heads=graph.head_count())
        self._positions = -(-manifest.max_tokens // LANES) * LANES
        if self._positions > _MAX_POSITIONS:
            raise UnsupportedModelError(f"the core reads {_MAX_POSITIONS} tokens, the model {manifest.max_tokens}")

    def packed(self) -> bytes:
        """Returns the file."""
        graph = self._graph
        self._embeddings()
        self._head()
        for index in range(graph.layer_count()):
            self._layer(f"layer.{index}")
        graph.check_all_read()
        self._set(layers=graph.layer_count(), activation=_ACTIVATIONS[graph.activation()], positions=self._positions)
        self._set(inner=graph.array("quantized/layer.0.inner.int8").shape[1])
        return b"".join([_padded(self._header.tobytes()), *self._sections])

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            self._header[name] = value

    def _add(self, *arrays: NDArray[np.generic]) -> None:
        self._sections += [_padded(np.ascontiguousarray(array).tobytes()) for array in arrays]

    def _embeddings(self) -> None:
        words = self._graph.words()
        table = words.values if isinstance(words, QuantizedTable) else words
        self._set(vocab=table.shape[0], hidden=table.shape[1], word_bytes=table.itemsize)
        if isinstance(words, QuantizedTable):
            shift = 128 if words.values.dtype == np.uint8 else 0
            table = (words.values.astype(np.int16) - shift).astype(np.int8)
            self._set(word_scale=words.scale, word_zero=words.zero_point - shift)
        self._add(table)
        if self._graph.has("position_embeddings.weight"):
            places = self._graph.array("position_embeddings.weight")[:, 0]
            wanted = np.zeros((self._positions, table.shape[1]), np.float32)
            wanted[: len(places)] = places[: self._positions]
            self._add(wanted)
        self._add(*self._graph.norm("embeddings"))

    def _head(self) -> None:
        head, has_marks = self._graph.head(), MARKS in self._graph.outputs
        if len(head) > 2:  # noqa: PLR2004  # what the header has room for
            raise UnsupportedModelError(f"the core computes a head of two layers, not of {len(head)}")
        is_relative = not self._graph.has("position_embeddings.weight")
        output = {"mean": layout.MEAN, "cls": layout.FIRST, None: layout.LOGITS}[self._manifest.pooling]
        if (output == layout.LOGITS) != bool(head) or (self._graph.outputs == [EMBEDDING]) == is_relative:
            raise UnsupportedModelError("the core computes BERT embedders and DeBERTa classifiers")
        kind = layout.DEBERTA if is_relative else layout.BERT
        self._set(kind=kind, output=output, head_layers=len(head), has_marks=has_marks)
        for index, layer in enumerate(head):
            self._header["head_width"][index] = layer.bias.size
            self._header["head_activation"][index] = _ACTIVATIONS[layer.activation]
            self._add(layer.weight.T, layer.bias)
        if has_marks:
            self._add(self._graph.array("marks.weight"), np.resize(self._graph.array("marks.bias"), 1))

    def _layer(self, name: str) -> None:
        graph = self._graph
        self._matrix(graph.matrix(*(f"{name}.{part}" for part in ("queries", "keys", "values"))))
        self._matrix(graph.matrix(f"{name}.attention.output"))
        self._add(*graph.norm(f"{name}.attention.norm"))
        self._matrix(graph.matrix(f"{name}.inner"))
        self._matrix(graph.matrix(f"{name}.outer"))
        self._add(*graph.norm(f"{name}.norm"))
        relations = 0
        for part, flag in (("position_keys", CONTENT_TO_POSITION), ("position_queries", POSITION_TO_CONTENT)):
            if graph.has(f"{name}.{part}.weight"):
                self._add(*self._by_distance(graph.array(f"{name}.{part}.weight")))
                relations += flag
        self._set(relations=relations)

    def _matrix(self, matrix: ByteMatrix) -> None:
        inputs, outputs = matrix.values.shape
        if inputs % COLUMNS or outputs % COLUMNS:
            raise UnsupportedModelError(f"the core computes widths that {COLUMNS} divides, not {inputs} x {outputs}")
        blocks = matrix.values.reshape(inputs // _DEPTH, _DEPTH, outputs // COLUMNS, COLUMNS)
        offset = 128 * matrix.values.sum(axis=0, dtype=np.int32)
        self._add(blocks.transpose(2, 0, 3, 1), matrix.scale, matrix.bias, offset)

    def _by_distance(self, table: Float32) -> tuple[NDArray[np.int16], Float32]:
        """Returns the rows of all distances, the largest first, as [heads][distances / 16][head size / 2][16][2].

        They are integers; the step of each head comes second.
        """
        rows, span = self._graph.distances(), self._positions
        limit = (rows.size - 1) // 2
        distances = np.clip(span - 1 - np.arange(2 * span), -limit, limit)
        heads = int(self._header["heads"])
        spread = table[rows[distances + limit]].reshape(2 * span // LANES, LANES, heads, -1, 2).transpose(2, 0, 3, 1, 4)
        largest = np.abs(spread).max(axis=(1, 2, 3, 4))
        steps = np.maximum(largest / score_limit(table.shape[1] // heads), 1e-30).astype(np.float32)
        return np.rint(spread / steps[:, None, None, None, None]).astype(np.int16), steps


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % layout.ALIGNMENT)


def pack_directory(
    path: Path,
    library: CoreLibrary | None,
    choice: RowChoice = "auto",
    *,
    progress: staging.ProgressListener = staging.no_progress,
) -> ModelDirectory:
    """Adds packed weights to a model directory, beside the graph, and compares the core's answers with the graph's.

    Args:
        path: of the directory; replaced as a whole, or left as it was.
        choice: rows8; mixed, rows of 15 bits in one product of four; rows15, which decides as fp32 does; or `auto`.
            That keeps what is packed, else takes rows15 for an exported fp32 graph. Of packaged models and graphs in
            int8_rows it takes rows8 for an embedder and mixed for a classifier, whose decisions need it.

    Raises:
        CoreUnavailableError: the core was not compiled on this machine.
        UnsupportedModelError: the core cannot compute this graph.
        VerificationError: its answers are not the graph's.
    """
    if library is None:
        raise CoreUnavailableError(path, NOT_COMPILED)
    with staging.locked(path.parent):
        directory = load_model_directory(path)
        manifest = directory.manifest
        # The steps: weights packed, files written, answers compared.
        finish_step = staging.count_steps("pack", manifest.name, 3, progress)
        arithmetic = _arithmetic(manifest, choice)
        data = packed_bytes(onnx.load(directory.model_path), manifest, ROWS[arithmetic])
        finish_step()
        with staging.staged(path) as folder:
            for name in manifest.files:
                shutil.copyfile(path / name, folder / name)
            (folder / CORE_FILE).write_bytes(data)
            finish_step()
            change = _change(directory, CoreBackend(folder / CORE_FILE, library))
            if change > _MAX_CHANGE:
                raise VerificationError(f"{manifest.name}: the core's answers differ by {change:.2f} from the graph's")
            facts = {"core": arithmetic, "core_source": directory.model_sha256, "files": staging.describe_files(folder)}
            measured = manifest.measured | {"core_change": round(change, 4)}
            staging.write_manifest(folder, manifest.model_copy(update=facts | {"measured": measured}))
    finish_step()
    return load_model_directory(path)


def pack_if_possible(
    directory: ModelDirectory,
    library: CoreLibrary | None,
    choice: RowChoice = "auto",
    *,
    progress: staging.ProgressListener = staging.no_progress,
) -> tuple[ModelDirectory, str]:
    """Packs a directory unless it is packed so already, and leaves one as it is that the core cannot compute.

    Returns:
        The directory as it is now, and why ONNX Runtime will run it on this machine; nothing if the core will.
    """
    if library is None:
        return directory, NOT_COMPILED
    if directory.manifest.core != _arithmetic(directory.manifest, choice) or packing_problem(directory):
        try:
            directory = pack_directory(directory.path, library, choice, progress=progress)
        except (UnsupportedModelError, VerificationError) as error:
            return directory, str(error)
    return directory, core_problem(directory, library, device="cpu", must=False)


def drop_graph(path: Path, target: Path) -> None:
    """Copies of a packed model directory what the core reads: half of its bytes, and nothing for ONNX Runtime."""
    with staging.locked(target.parent):
        directory = load_model_directory(path)
        if problem := packing_problem(directory):
            raise CoreUnavailableError(path, problem)
        files = {name: sha256 for name, sha256 in directory.manifest.files.items() if name != MODEL_FILE}
        with staging.staged(target) as folder:
            for name in files:
                shutil.copyfile(path / name, folder / name)
            staging.write_manifest(folder, directory.manifest.model_copy(update={"files": files}))


def _arithmetic(manifest: Manifest, choice: RowChoice) -> str:
    if choice == "auto" and manifest.core in ROWS:
        return manifest.core
    is_coarse = manifest.is_int8 or RECIPE in manifest.producer
    fast: Rows = "mixed" if manifest.task == "nli" else "rows8"
    rows = choice if choice != "auto" else fast if is_coarse else "rows15"
    return f"core-{layout.ARITHMETIC} {rows}"


def _change(directory: ModelDirectory, backend: CoreBackend) -> float:
    """Returns the largest difference of the core's answers to probe texts from those of the graph."""
    is_nli = directory.manifest.task == "nli"
    items = (*PROBE_PAIRS, (LONG_PROBE_TEXT, PROBE_TEXTS[0])) if is_nli else (*PROBE_TEXTS, LONG_PROBE_TEXT)
    expected, found = (ProbeRunner(directory, use).answers(items) for use in (None, backend))
    return float(np.abs(expected - found).max())
