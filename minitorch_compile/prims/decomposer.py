"""Rewriting a graph of ops to a graph of prims.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> graph_module = trace(lambda x: ops.softmax(x, 1), [empty_fake((2, 3))])
>>> print(graph_module.graph.compact())
x -> softmax(x, 1)
>>> for node in decompose(graph_module).graph.find_nodes(op="call_function"):
...     print(node, node.args)
amax (x, (1,))
reshape (amax, (2, 1))
broadcast_in_dim (reshape, (2, 3), (0, 1))
sub (x, broadcast_in_dim)
exp (sub,)
sum_1 (exp, (1,))
reshape_1 (sum_1, (2, 1))
broadcast_in_dim_1 (reshape_1, (2, 3), (0, 1))
div (exp, broadcast_in_dim_1)

The old graph is run once more on fake tensors, and each op that is not a prim is replaced by running its decomposition.
So decompositions may use each other, Python's operators, and whatever else makes them easy to read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from minitorch_compile.aot.tracing import Retrace, Tracer
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.prims.decomposition_table import refusal_of, rule_of
from minitorch_compile.prims.prim import Prim
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import dispatch
from minitorch_compile.tensor.dtype import DTYPES, dtype
from minitorch_compile.tensor.op import Op
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

__all__ = ["beyond_prims", "decompose", "decomposed"]


Keep = Collection[Op] | Callable[[Op, tuple[Any, ...]], bool]


def beyond_prims(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether a call can't be written in prims: the op refuses to be decomposed, or computes in complex or bfloat16.

    A backend that keeps such calls runs them as they are, between what it compiles.
    """
    return refusal_of(op) is not None or any(_has_no_kernels(leaf) for leaf in tree_leaves(args))


def _has_no_kernels(value: Any) -> bool:
    """Whether kernels can't be generated for what has this argument."""
    element = value.dtype if isinstance(value, TensorBase) else value
    return isinstance(value, complex) or (isinstance(element, dtype) and element not in DTYPES)


class Decomposer(Tracer):
    """The mode that writes prims into the graph, and runs the decomposition of everything else."""

    def __init__(self, keep: Keep) -> None:
        super().__init__()
        self.keeps = keep if callable(keep) else lambda op, args: op in keep

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(op, Prim) or self.keeps(op, (*args, *kwargs.values())):
            return super().process(op, args, kwargs)
        bound = map_aggregate(op.bind(args, kwargs), self.as_stand_in)
        with dispatch.mode(self):  # what the rule calls comes back here
            return rule_of(op)(*bound)

    def as_stand_in(self, value: Any) -> Any:
        """A real tensor as the fake that stands for it in the graph; other values as they are."""
        if not isinstance(value, TensorBase) or value.is_fake:
            return value
        return self.in_layout(self.node_of(value), value)

    def in_layout(self, node: Node, like: TensorBase) -> TensorBase:
        """A new stand-in for the value of `node` that looks like another tensor."""
        stand_in = empty_fake(like.sizes, like.strides, like.dtype, like.device)
        stand_in.offset, stand_in.requires_grad = like.offset, like.requires_grad
        self.track(stand_in, node)
        return stand_in


class _Rewrite(Retrace):
    """Runs the old graph. Each result keeps the strides that it had there: prims have none, but callers see them."""

    tracer: Decomposer

    def run_node(self, node: Node) -> Any:
        result, meant = super().run_node(node), node.meta.get("val")
        if node.op != "call_function" or meant is None:
            return result
        if isinstance(result, TensorBase):
            return self._as_before(result, meant)
        return tuple(self._as_before(item, before) for item, before in zip(result, meant, strict=True))

    def _as_before(self, result: TensorBase, before: TensorBase) -> TensorBase:
        if result.sizes != before.sizes or result.dtype is not before.dtype:
            raise RuntimeError(
                f"decompose: a decomposition gives {result.dtype} {list(result.sizes)} where the op gives"
                f" {before.dtype} {list(before.sizes)}"
            )
        return self.tracer.in_layout(self.tracer.node_of(result), before)


def decompose(graph_module: GraphModule, keep: Keep = ()) -> GraphModule:
    """The same function as a graph of prims. All arguments of its nodes are positional.

    Ops in `keep`, or calls for which `keep(op, args)` is true, stay as they are.

    The graph must come from `trace`: its nodes call ops and know their values' sizes in meta["val"]. The output node's
    meta["val"] has the strides that callers expect of the results; the strides of all other nodes mean nothing.
    NotImplementedError for an op without a decomposition.
    """
    tracer = Decomposer(keep)
    placeholders = graph_module.graph.find_nodes(op="placeholder")
    stand_ins = [tracer.placeholder(node.name, node.meta["val"]) for node in placeholders]
    with dispatch.mode(tracer):
        result = _Rewrite(graph_module, tracer).run(*stand_ins)
    decomposed_module = tracer.finish(result)
    decomposed_module.graph.output_node().meta["val"] = graph_module.graph.output_node().meta["val"]
    decomposed_module.meta.update(graph_module.meta)
    return decomposed_module


def decomposed(op: Op, *args: Any) -> Graph:
    """How one call is written in prims: for looking at."""
    tracer = Tracer()
    bound = op.bind(args, {})
    stand_ins = [
        tracer.placeholder("x" if name == "input" else name, value) if isinstance(value, TensorBase) else value
        for name, value in zip(op.parameters, bound, strict=True)
    ]
    with dispatch.mode(tracer):
        result = op(*stand_ins)
    return decompose(tracer.finish(result)).graph
