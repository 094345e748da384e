"""Which operations of a graph may raise when it runs, depending on the data.

>>> from minitorch_compile.tensor import ops
>>> may_raise(ops.add, ()), may_raise(ops.gather, ()), may_raise(ops.remainder, (7, 0))
(False, True, True)
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from minitorch_compile.control import is_graph_step
from minitorch_compile.fx import Graph, Node
from minitorch_compile.fx.effects import is_impure, is_random, writes
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.dispatch.op_families import InplaceOp
from minitorch_compile.tensor.tensor_base import TensorBase

FALLIBLE_KINDS = frozenset(("indexing", "linalg", "sampling", "loss", "sorting"))
NEVER_FAIL = frozenset(("tril", "triu", "flip", "resample", "argsort", "isin_elements", "argwhere"))
FALLIBLE = frozenset(("binary_cross_entropy",))  # a target outside [0, 1]
# What asks its first argument for sizes and dtype only: a backend may leave out what computes its elements.
LOOKING = frozenset(
    [f"new_{what}" for what in ("zeros", "ones", "full", "empty", "empty_strided", "tensor")]
    + [f"{what}_like" for what in ("zeros", "ones", "full", "empty", "rand", "randn", "randint")]
)
FALLIBLE_WITH_INTEGERS = frozenset(("floor_divide", "remainder", "fmod", "pow"))  # by zero, or to a negative power


def may_raise(op: Op, args: Sequence[Any]) -> bool:
    """Whether it depends on the data if the operation succeeds."""
    if isinstance(op, InplaceOp):
        op = op.functional
    if op.name in FALLIBLE_WITH_INTEGERS or (op.name == "div" and any(isinstance(x, str) for x in args)):
        return not any(_is_floating(x) for x in args)
    return op.name in FALLIBLE or (op.kind in FALLIBLE_KINDS and op.name not in NEVER_FAIL)


def _is_floating(x: Any) -> bool:
    return x.dtype.is_floating_point if isinstance(x, TensorBase) else isinstance(x, float)


def failing_nodes(graph: Graph) -> list[Node]:
    """The nodes that may raise, in order."""
    return [node for node in graph.nodes if node.meta.get("may_raise")]


def unneeded_failing_nodes(graph: Graph, results: Sequence[Node]) -> list[Node]:
    """Those whose value nobody asks for. They are made outputs of the graph, so that no backend leaves them out."""
    failing = failing_nodes(graph)
    if not failing:
        return []
    outside = {_memory(node) for node in graph.nodes if node.op in ("placeholder", "get_attr")}
    writes_inside: dict[Any, list[Node]] = {}
    for node in graph.nodes:
        if node.op.startswith("call") and writes(node) and _memory(written(node)) not in outside:
            writes_inside.setdefault(_memory(written(node)), []).append(node)
    places = {node: place for place, node in enumerate(graph.nodes)}
    inside = {node for nodes in writes_inside.values() for node in nodes}
    needed: set[Node] = set()
    waiting = [*results, *(n for n in graph.nodes if n.op.startswith("call") and n not in inside and _has_effect(n))]
    while waiting:
        node = waiting.pop()
        if node in needed:
            continue
        needed.add(node)
        read = [x for x in node.all_input_nodes if not (_only_looks(node) and x is node.args[0])]
        waiting += [*read, *(w for x in read for w in writes_inside.get(_memory(x), ()) if places[w] < places[node])]
        waiting += writes_inside.get(_memory(node), ()) if node in results else ()
    needed.update(n for n in failing if _is_item_of(n, needed))
    unneeded = (written(n) if n in inside else n for n in failing if n not in needed)
    return [node for node in dict.fromkeys(unneeded) if isinstance(node.meta["val"], TensorBase)]


def written(node: Node) -> Node:
    """The tensor that an operation writes to."""
    out = node.kwargs.get("out")
    return out if isinstance(out, Node) else node.args[0] if node.args and isinstance(node.args[0], Node) else node


def _memory(node: Node) -> Any:
    """What the tensors that share elements have in common; None for what is no tensor."""
    value = node.meta.get("val")
    return value.storage if isinstance(value, TensorBase) else None


def _has_effect(node: Node) -> bool:
    """Whether a backend runs the node though nobody reads its value: numbers drawn for nobody need not be computed,
    nor what a step of a transform makes of a value."""
    computes = is_random(node) or (is_graph_step(node.target) and bool(node.all_input_nodes))
    return is_impure(node) and not (computes and not writes(node))


def _only_looks(node: Node) -> bool:
    """Whether the elements of its first argument make no difference to a node."""
    return (node.target if node.op == "call_method" else getattr(node.target, "name", "")) in LOOKING


def _is_item_of(node: Node, needed: set[Node]) -> bool:
    """Whether it only takes one of the results of a call that is made anyway."""
    owner = node.args[0] if node.target is operator.getitem else None
    return owner in needed and not isinstance(owner.meta["val"], TensorBase)
