"""What passes ask about nodes: the op's name, the value's layout, whether it is a constant, who may see it.

The passes of this package work on graphs of ops and on graphs of prims. Where an op and a prim mean the same they have
the same name, mostly, so passes compare names; `op_named` finds the op that a new node is to call.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake
>>> graph = trace(lambda x: (x * 2).exp()[0], [empty_fake((2, 3))]).graph
>>> product = graph.find_nodes(op="call_function")[0]
>>> name_of(product), number_of(product.args[1]), op_named("add", product), sorted(map(str, seen_by_caller(graph)))
('mul', 2, ops.add, ['exp', 'select'])
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.symbolic import surely_equal
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.modes.symbolic_layout import unknown_sizes
from minitorch_compile.tensor.tensor_base import TensorBase

CONVERSIONS = ("to_copy", "convert_element_type")

_vocabularies: dict[str, Mapping[str, Any]] = {"ops": ops.table}


def register_vocabulary(namespace: str, table: Mapping[str, Any]) -> None:
    """Lets passes make nodes in graphs of these ops, too: those of `table`, whose namespace is `namespace`."""
    _vocabularies[namespace] = table


def is_prim(node: Node) -> bool:
    """Whether the node calls a prim: its value is row-major whatever it reads, so that only sizes count."""
    return "prims" in getattr(node.target, "namespaces", ())


def op_named(name: str, beside: Node) -> Op:
    """The op of that name from the vocabulary of the op that the node `beside` calls."""
    return _vocabularies["prims" if is_prim(beside) else "ops"][name]


def name_of(node: object) -> str:
    """The name of the op that a node calls; "" for anything else."""
    return getattr(node.target, "name", "") if isinstance(node, Node) and node.op == "call_function" else ""


def is_view(node: Node) -> bool:
    return getattr(node.target, "kind", None) == "view"


def tensor_of(node: object) -> TensorBase | None:
    """The fake of a node whose value is one tensor; None otherwise."""
    val = node.meta.get("val") if isinstance(node, Node) else None
    return val if isinstance(val, TensorBase) else None


def has_known_sizes(val: TensorBase) -> bool:
    return not any(True for _ in unknown_sizes(val))


def are_alike(a: object, b: object) -> bool:
    """Whether the values of two nodes certainly have the same sizes, dtype and layout."""
    x, y = tensor_of(a), tensor_of(b)
    if x is None or y is None:
        return False
    return x.dtype is y.dtype and surely_equal((x.sizes, x.strides), (y.sizes, y.strides))


def number_of(argument: object) -> Any:
    """The number that an argument is, or that every element of it is; None if that is not known."""
    if isinstance(argument, (bool, int, float)):
        return argument
    if name_of(argument) == "full" and isinstance(argument.args[1], (bool, int, float)):  # type: ignore[attr-defined]
        return argument.args[1]  # type: ignore[attr-defined]
    return None


def seen_by_caller(graph: Graph) -> set[Node]:
    """The results, and everything whose memory they may show: tensors of their own, which passes leave alone."""
    seen: set[Node] = set()
    waiting = list(graph.output_node().all_input_nodes)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            if is_view(node) or node.target is operator.getitem:
                waiting += node.all_input_nodes
    return seen
