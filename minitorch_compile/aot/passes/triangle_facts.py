"""Whether a mask is certainly causal: a triangle of ones, that a program makes anew each time.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import ops
>>> def programs():
...     ones = ops.ones(3, 3)
...     return ops.tril(ones) == 0, ops.triu(ones, 1).bool(), ops.tril(ones).bool(), ops.tril(ones, 1) == 0
>>> masks = trace(programs, []).graph.output_node().args[0]
>>> [hides_later_places(mask, 3, 3) for mask in masks]
[True, True, False, False]
>>> [shows_earlier_places(mask, 3, 3) for mask in masks]
[False, False, True, False]
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.aot.passes.node_facts import name_of, number_of, tensor_of
from minitorch_compile.fx.node import Node

VIEWS = ("view", "unsqueeze", "expand", "slice", "contiguous_copy", "to_copy")


def shows_earlier_places(node: Any, rows: int, columns: int) -> bool:
    """Whether the condition is nonzero at (i, j) if and only if j <= i."""
    if not _is_matrix(node, rows, columns):
        return False
    if name_of(node) in VIEWS:
        return shows_earlier_places(node.args[0], rows, columns)
    if name_of(node) in ("logical_not", "bitwise_not"):
        return _is_bool(node.args[0]) and hides_later_places(node.args[0], rows, columns)
    if _compares_with_zero(node, "eq"):
        return hides_later_places(node.args[0], rows, columns)
    if _compares_with_zero(node, "ne"):
        return shows_earlier_places(node.args[0], rows, columns)
    return name_of(node) == "tril" and _diagonal(node) == 0 and bool(number_of(node.args[0]))


def hides_later_places(node: Any, rows: int, columns: int) -> bool:
    """Whether the condition is nonzero at (i, j) if and only if j > i."""
    if not _is_matrix(node, rows, columns):
        return False
    if name_of(node) in VIEWS:
        return hides_later_places(node.args[0], rows, columns)
    if name_of(node) in ("logical_not", "bitwise_not"):
        return _is_bool(node.args[0]) and shows_earlier_places(node.args[0], rows, columns)
    if _compares_with_zero(node, "eq"):
        return shows_earlier_places(node.args[0], rows, columns)
    if _compares_with_zero(node, "ne"):
        return hides_later_places(node.args[0], rows, columns)
    return name_of(node) == "triu" and _diagonal(node) == 1 and bool(number_of(node.args[0]))


def _is_matrix(node: Any, rows: int, columns: int) -> bool:
    """Whether the value is one matrix of these sizes: then views on the way to it leave every element in its place."""
    value = tensor_of(node)
    if value is None or len(value.sizes) < 2:
        return False
    return isinstance(node, Node) and tuple(value.sizes) == (*[1] * (len(value.sizes) - 2), rows, columns)


def _is_bool(node: Any) -> bool:
    value = tensor_of(node)
    return value is not None and value.dtype.name == "bool"


def _compares_with_zero(node: Any, name: str) -> bool:
    return name_of(node) == name and number_of(node.args[1]) == 0


def _diagonal(node: Node) -> Any:
    return node.args[1] if len(node.args) > 1 else 0
