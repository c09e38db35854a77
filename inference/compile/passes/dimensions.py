"""Frees the batch and length dimensions that an exporter fixed."""

from __future__ import annotations

import onnx

_NAMES = ("batch", "length")


def free_dimensions(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a copy whose inputs have the shape (batch, length), both free, and that states no inner shape.

    Stated shapes are only hints, but a wrong hint is an error at run time. A graph that computes its shapes works at
    any length afterwards; one that has a length baked into a Reshape does not, and `verify` finds that out.
    """
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.value_info[:]
    for graph_input in result.graph.input:
        dims = graph_input.type.tensor_type.shape.dim
        for dim, name in zip(dims, _NAMES, strict=False):
            dim.Clear()
            dim.dim_param = name
    for output in result.graph.output:
        for position, dim in enumerate(output.type.tensor_type.shape.dim):
            if position == 0:
                dim.Clear()
                dim.dim_param = _NAMES[0]
            elif dim.dim_param or position + 1 < len(output.type.tensor_type.shape.dim):
                dim.Clear()  # lengths; the last dimension is a width and stays
    return result
