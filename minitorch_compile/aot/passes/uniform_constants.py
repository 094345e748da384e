"""Constants that are the same number everywhere: what is computed from them is computed now, once, and is one again.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, full, ops
>>> def program(x):
...     ones = full((1, 2), 1.0).t()
...     return x * (ones + ones.sqrt()).expand(2, 3).exp()
>>> print(fold_constants(trace(program, [empty_fake((2, 3))]).graph).compact())
x -> mul(x, full((2, 3), 7.3890557289123535, torch.float32))

`full` stays a node, with its value in view: a compiler writes the number into its loops, and other passes see that a
factor is 1. A tensor of numbers would be memory to read. Source: `constant_fold_uniform_value` of PyTorch's
`torch/_inductor/fx_passes/joint_graph.py`.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from minitorch_compile.aot.passes.node_facts import (
    CONVERSIONS,
    has_known_sizes,
    is_prim,
    is_view,
    name_of,
    number_of,
    op_named,
    seen_by_caller,
    tensor_of,
)
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.pointwise_op import number_as
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def fold_constants(graph: Graph) -> Graph:
    """A view, conversion or pointwise function of constants that are uniform becomes a `full`.

    Results of the graph are left alone, as are infinities and NaN: a graph should show where they come from.
    """
    if not any(_may_fold(node) for node in graph.nodes):
        return graph
    folded = copy.deepcopy(graph)
    results = seen_by_caller(folded)
    for node in folded.nodes:
        if node in results or not _may_fold(node):
            continue
        value = _value(node)
        if value is not None and _layouts_stay(node):
            _replace_by_full(node, value)
    folded.eliminate_dead_code()
    return folded


def _may_fold(node: Node) -> bool:
    """Whether the node reads constants alone, all of them uniform, and gives one tensor of known sizes."""
    inputs = node.all_input_nodes
    if node.op != "call_function" or not inputs or any(number_of(x) is None for x in inputs):
        return False
    val = tensor_of(node)
    return val is not None and has_known_sizes(val)


def _value(node: Node) -> Any:
    """The number that every element of the node's value is; None if it can't be said."""
    if is_view(node) and name_of(node) != "pad":
        return number_of(node.args[0])
    if name_of(node) in CONVERSIONS:
        return _converted(number_of(node.args[0]), node)
    if getattr(node.target, "kind", None) == "pointwise" and isinstance(node.target, Op):
        return _computed(node)
    return None


def _converted(value: Any, node: Node) -> Any:
    """2.5 as an int is 2, and stays 2 as a float."""
    before = number_as(value, node.args[0].meta["val"].dtype.numpy)
    return _finite(number_as(before, node.meta["val"].dtype.numpy).item())


def _computed(node: Node) -> Any:
    """The op, run on tensors of a single element."""
    singles = {x: ops.full((1,), number_of(x), x.meta["val"].dtype) for x in node.all_input_nodes}
    args, kwargs = map_arg((node.args, node.kwargs), singles.__getitem__)
    with np.errstate(all="ignore"):
        result = node.target.run(args, kwargs)  # type: ignore[union-attr]
    if not isinstance(result, TensorBase) or result.dtype is not node.meta["val"].dtype:
        return None
    return _finite(result.array.item())


def _finite(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float)) and math.isfinite(value) else None


def _layouts_stay(node: Node) -> bool:
    """Whether a row-major constant in place of the node leaves the layout of everything else as it was."""
    val = node.meta["val"]
    if is_prim(node) or val.strides == contiguous_strides(val.sizes):
        return True
    return all(_ignores_layout(user, node, empty_fake(val.sizes, None, val.dtype)) for user in node.users)


def _ignores_layout(user: Node, node: Node, constant: TensorBase) -> bool:
    if user.op != "call_function" or not isinstance(user.target, Op) or is_view(user):
        return False
    fakes = map_arg((user.args, user.kwargs), lambda x: constant if x is node else x.meta["val"])
    before, after = user.meta["val"], user.target.meta(*fakes[0], **fakes[1])
    return isinstance(before, TensorBase) and before.strides == after.strides


def _replace_by_full(node: Node, value: Any) -> None:
    """A constant of the sizes and dtype of `node`, in place of it."""
    val = node.meta["val"]
    with node.graph.inserting_before(node):
        constant = node.graph.call_function(op_named("full", node), (tuple(val.sizes), value, val.dtype))
    constant.meta = {**node.meta, "val": empty_fake(val.sizes, None, val.dtype)}
    node.replace_all_uses_with(constant)
