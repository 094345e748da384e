"""Which operations of a graph may raise when it runs, depending on the data.

>>> from minitorch_compile.tensor import ops
>>> may_raise(ops.add, ()), may_raise(ops.gather, ()), may_raise(ops.remainder, (7, 0))
(False, True, True)
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from minitorch_compile.fx import Graph, Node
from minitorch_compile.fx.effects import is_impure
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
    needed: set[Node] = set()
    waiting = [*results, *(n for n in graph.nodes if n.op.startswith("call") and is_impure(n))]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting += [x for x in node.all_input_nodes if not (_only_looks(node) and x is node.args[0])]
    needed.update(n for n in failing_nodes(graph) if _is_item_of(n, needed))
    return [n for n in failing_nodes(graph) if n not in needed and isinstance(n.meta["val"], TensorBase)]


def _only_looks(node: Node) -> bool:
    """Whether the elements of its first argument make no difference to a node."""
    return (node.target if node.op == "call_method" else getattr(node.target, "name", "")) in LOOKING


def _is_item_of(node: Node, needed: set[Node]) -> bool:
    """Whether it only takes one of the results of a call that is made anyway."""
    owner = node.args[0] if node.target is operator.getitem else None
    return owner in needed and not isinstance(owner.meta["val"], TensorBase)
