"""Memory orders for what is kept between kernels: a pass over a graph of prims.

Prims have no strides, so a value inside a decomposition is as good in one order as in another. If it is kept for the
backward pass, an order has to be promised; and what was computed pixel by pixel from a channels-last image is better
kept so than turned over when it is stored, and turned back when it is read.

>>> from minitorch_compile import prims
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor.memory.memory_format import strides_in
>>> image = empty_fake((2, 3, 4, 5), strides_in(channels_last, (2, 3, 4, 5)))
>>> graph = with_suited_layouts(trace(lambda x: prims.exp(x), [image])).graph
>>> graph.find_nodes(op="call_function")[0].meta["val"].strides
(60, 1, 15, 3)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.fx import GraphModule
from minitorch_compile.inductor.lowering.table import table
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.memory.memory_format import channels_last, strides_in, suggested_format
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def with_suited_layouts(module: GraphModule) -> GraphModule:
    """The same graph, whose elementwise values and convolutions lie channels last if one of their operands does."""
    for node in module.graph.nodes:
        target, value = node.target, node.meta.get("val")
        if not isinstance(target, Prim) or target.name not in table or not isinstance(value, TensorBase):
            continue
        operands = [source.meta.get("val") for source in node.all_input_nodes]
        if target.kind == "pointwise":  # a number, spread out, doesn't count
            operands = [x for x in operands if isinstance(x, TensorBase) and x.sizes == value.sizes]
        if target.kind in ("pointwise", "convolution") and any(map(is_channels_last, operands)):
            strides = strides_in(channels_last, value.sizes)
            node.meta["val"] = empty_fake(value.sizes, strides, value.dtype, value.device)
    return module


def is_channels_last(value: Any) -> bool:
    """Whether it is a tensor of known sizes that lies so."""
    known = isinstance(value, TensorBase) and all(type(size) is int for size in value.sizes)
    return known and suggested_format(value.sizes, value.strides) is channels_last
