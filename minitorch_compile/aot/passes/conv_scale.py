"""Per-channel scales and shifts behind a convolution, put into its weight and bias: conv-bn folding.

A batch normalisation in evaluation mode is one multiplication and one addition for each channel, with numbers that
depend on parameters alone. So is conv(x, w, b) * s + t = conv(x, w * s, b * s + t). The new weight costs as much as the
old one has elements, at each call, so this pays only where parameters are *frozen*: then it is computed once.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> conv = lambda x, w: ops.convolution(x, w, None, (1, 1), (0, 0), (1, 1), 1)
>>> program = lambda x, w, s: conv(x, w) * s.view(4, 1, 1)
>>> graph = trace(program, [empty_fake((2, 3, 8, 8)), empty_fake((4, 3, 3, 3)), empty_fake((4,))]).graph
>>> for node in graph.find_nodes(op="placeholder")[1:]:
...     node.meta["frozen"] = True
>>> print(fold_scale_into_convolution(graph).compact())
x, w, s -> convolution(x, mul(w, view(view(s, (4, 1, 1)), (4, 1, 1, 1))), None, (1, 1), (0, 0), (1, 1), 1)

Source: PyTorch's `torch/_inductor/fx_passes/binary_folding.py` and `efficient_conv_bn_eval.py`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from minitorch_compile.aot.passes.node_facts import has_known_sizes, is_prim, name_of, seen_by_caller, tensor_of
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def frozen_nodes(graph: Graph) -> set[Node]:
    """What depends on constants and placeholders with meta["frozen"] alone: the same until one of these changes."""
    frozen: set[Node] = set()
    for node in graph.nodes:
        if node.op == "placeholder":
            is_frozen = bool(node.meta.get("frozen"))
        elif node.op == "call_function":
            is_frozen = not node.is_impure() and all(source in frozen for source in node.all_input_nodes)
        else:
            is_frozen = node.op == "get_attr"
        if is_frozen:
            frozen.add(node)
    return frozen


def fold_scale_into_convolution(graph: Graph) -> Graph:
    """mul, div, add and sub of a frozen number per channel, in a graph of ops, go into the convolution before them.

    Only where nobody else reads the convolution, and its parameters are frozen. Results agree up to rounding.
    """
    folded = copy.deepcopy(graph)
    results = seen_by_caller(folded)
    frozen = frozen_nodes(folded)
    for node in list(folded.nodes):
        fold = FOLDS.get(name_of(node))
        if fold is None or is_prim(node) or len(node.args) != 2:
            continue
        convolution, other = node.args
        if name_of(node) in ("mul", "add") and name_of(other) == "convolution":
            convolution, other = other, convolution
        if convolution not in results and _can_fold(convolution, other, node, frozen):
            _replace(node, convolution, *fold(_Maker(node, frozen), convolution, other))
    folded.eliminate_dead_code()
    return folded


def _can_fold(convolution: object, other: object, node: Node, frozen: set[Node]) -> bool:
    """Whether `other` is a frozen number per channel of a convolution with frozen parameters that only `node` reads."""
    if name_of(convolution) != "convolution" or not isinstance(convolution, Node) or len(convolution.users) != 1:
        return False
    if any(isinstance(x, Node) and x not in frozen for x in convolution.args[1:3]):
        return False
    before, after, number = tensor_of(convolution), tensor_of(node), tensor_of(other)
    if before is None or after is None or number is None or other not in frozen or not has_known_sizes(before):
        return False
    if before.dtype is not after.dtype or number.dtype is not before.dtype or before.sizes != after.sizes:
        return False
    channels = len(before.sizes) - 2  # the dimension, counted from behind, before which only ones may stand
    wanted = (before.sizes[1], *[1] * channels)
    return numel(number.sizes) == before.sizes[1] and tuple(number.sizes)[-len(wanted) :] == wanted


class _Maker:
    """Makes frozen nodes before `place`, with their fakes."""

    def __init__(self, place: Node, frozen: set[Node]) -> None:
        self.place = place
        self.frozen = frozen

    def __call__(self, op: Any, *args: Any) -> Node:
        with self.place.graph.inserting_before(self.place):
            node = self.place.graph.call_function(op, args)
        fakes = [x.meta["val"] if isinstance(x, Node) else x for x in args]
        node.meta = {**self.place.meta, "val": op.meta(*fakes)}
        self.frozen.add(node)
        return node

    def as_vector(self, number: Node) -> Node:
        return self(ops.view, number, (numel(number.meta["val"].sizes),))

    def zeros_like(self, number: Node) -> Node:
        val: TensorBase = number.meta["val"]
        return self(ops.full, (numel(val.sizes),), 0.0, val.dtype)


Folded = tuple[Node, Any]  # the new weight and the new bias


def _scaled(make: _Maker, convolution: Node, number: Node, by: Any) -> Folded:
    weight, bias = convolution.args[1:3]
    ones = [1] * (len(weight.meta["val"].sizes) - 1)
    channels = numel(number.meta["val"].sizes)
    scaled = make(by, weight, make(ops.view, number, (channels, *ones)))
    return scaled, None if bias is None else make(by, bias, make.as_vector(number))


def _shifted(make: _Maker, convolution: Node, number: Node, by: Any) -> Folded:
    weight, bias = convolution.args[1:3]
    vector = make.as_vector(number)
    if bias is None and by is ops.add:
        return weight, vector
    return weight, make(by, make.zeros_like(number) if bias is None else bias, vector)


FOLDS: dict[str, Callable[[_Maker, Any, Any], Folded]] = {
    "mul": lambda make, convolution, number: _scaled(make, convolution, number, ops.mul),
    "div": lambda make, convolution, number: _scaled(make, convolution, number, ops.div),
    "add": lambda make, convolution, number: _shifted(make, convolution, number, ops.add),
    "sub": lambda make, convolution, number: _shifted(make, convolution, number, ops.sub),
}


def _replace(node: Node, convolution: Node, weight: Node, bias: Any) -> None:
    with node.graph.inserting_before(node):
        changed = node.graph.call_function(ops.convolution, (convolution.args[0], weight, bias, *convolution.args[3:]))
    val = convolution.meta["val"]
    changed.meta = {**node.meta, "val": empty_fake(val.sizes, val.strides, val.dtype)}
    node.replace_all_uses_with(changed)
