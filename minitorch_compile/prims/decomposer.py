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

from collections.abc import Mapping
from typing import Any

from minitorch_compile import prims
from minitorch_compile.aot.tracing import Retrace, Tracer
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.prims.core import as_core
from minitorch_compile.prims.decompose_arguments import Keep, Until, check_traced, keeps_of
from minitorch_compile.prims.decomposition_table import Rule, check_may_decompose, rule_of
from minitorch_compile.prims.elementwise import copied
from minitorch_compile.prims.half_precision import computes_wider, in_float32
from minitorch_compile.prims.prim import Prim, describe
from minitorch_compile.prims.repeated_calls import FEWEST_NODES, RepeatedCalls
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

SHOW_AN_ARGUMENT = (
    prims.broadcast_in_dim, prims.reshape, prims.slice, prims.squeeze, prims.transpose, prims.view_element_type
)  # fmt: skip


class Decomposer(Tracer):
    """The mode that writes prims into the graph, and runs the decomposition of everything else.

    `keeps(op, args)` says which calls stay as they are; `in_core_ops`, that a prim is written as the op that people
    know it by.
    """

    def __init__(self, keeps: Keep, decompositions: Mapping[Op, Rule], in_core_ops: bool = False) -> None:
        super().__init__()
        self.keeps = keeps
        self.decompositions = decompositions
        self.repeated: RepeatedCalls | None = None
        self.in_core_ops = in_core_ops
        self._running: list[tuple[Op, tuple[Any, ...]]] = []  # the decompositions that are being run, and of what

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = op.bind(args, kwargs)
        if self.keeps(op, bound):
            return super().process(op, args, kwargs)
        bound = map_aggregate(bound, self.as_stand_in)
        if isinstance(op, Prim):
            if not self.in_core_ops:
                return super().process(op, args, kwargs)
            rule = as_core(op)
        else:
            rule = rule_of(op, bound, self.decompositions)
        self._check_ends(op, bound)
        self._running.append((op, bound))
        try:
            with dispatch.mode(self):  # what the rule calls comes back here
                return in_float32(op, rule, bound) if computes_wider(op, bound) else rule(*bound)
        finally:
            self._running.pop()

    def _check_ends(self, op: Op, bound: tuple[Any, ...]) -> None:
        """RuntimeError for a call within the decomposition of one just like it."""
        for outer, arguments in self._running:
            if outer is op and describe(arguments) == describe(bound):
                chain = " -> ".join(repr(of) for of, _ in [*self._running, (op, bound)])
                raise RuntimeError(
                    f"decompose: the decomposition of {op!r} never ends: it comes to the same call again, {chain}, of"
                    f" {describe(bound)}; write it in simpler ops"
                )

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
        if node.op != "call_function" or not isinstance(meant, (TensorBase, tuple, list)):
            return result
        if isinstance(meant, TensorBase):
            return self._as_before(node, result, meant)
        if not isinstance(result, (tuple, list)) or len(result) != len(meant):
            raise _wrong_result(node, f"{len(meant)} tensors", result)
        return tuple(self._as_before(node, item, before) for item, before in zip(result, meant, strict=True))

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run, repeated = super().call_function, self.tracer.repeated
        return run(target, args, kwargs) if repeated is None else repeated.call(run, target, args, kwargs)

    def _as_before(self, node: Node, result: Any, before: TensorBase) -> TensorBase:
        if not isinstance(result, Tensor) or result.sizes != before.sizes or result.dtype is not before.dtype:
            raise _wrong_result(node, describe(before), result)
        if getattr(node.target, "kind", "view") != "view" and self._shows_an_argument(node, result):
            result = copied(result)
        return self.tracer.in_layout(self.tracer.node_of(result), before)

    def _shows_an_argument(self, node: Node, result: TensorBase) -> bool:
        """Whether a decomposition gave an argument back, or a view of it, since there was nothing to compute."""
        arguments = {self.tracer.node_of(self.env[x]) for x in node.all_input_nodes if self._is_tensor(x)}
        shown = self.tracer.node_of(result)
        while shown not in arguments:
            if shown.target not in SHOW_AN_ARGUMENT:
                return False
            shown = shown.all_input_nodes[0]
        return True

    def _is_tensor(self, node: Node) -> bool:
        return isinstance(self.env.get(node), TensorBase)


def _wrong_result(node: Node, expected: str, came: Any) -> RuntimeError:
    return RuntimeError(
        f"decompose: the decomposition of {node.target!r} gives {describe(came)} where the op gives {expected}"
    )


def decompose(
    graph_module: GraphModule,
    until: Until = "prims",
    *,
    keep: Keep | None = None,
    decompositions: Mapping[Op, Rule] | None = None,
) -> GraphModule:
    """The same function as a graph of simpler ops. All arguments of its nodes are positional.

    until: "prims" for nothing but prims; "core" for core ops (`prims.core`), among which softmax, layer normalization
        and convolution are single nodes; or a collection of ops, which stay as they are while the others become prims.
    keep: besides, calls for which `keep(op, args)` is true stay.
    decompositions: rules, by op, to be used instead of those of the table.

    The graph must come from `trace`: its nodes call ops and know their values' sizes in meta["val"]; sizes may be
    unknown. The output node's meta["val"] has the strides that callers expect of the results; between prims, the
    strides of all other nodes mean nothing.
    ValueError for a graph from elsewhere, NotImplementedError for an op without a decomposition, RuntimeError for one
    whose decomposition never ends.
    """
    check_traced(graph_module)
    for op, rule in (decompositions or {}).items():
        check_may_decompose("decompose", op, rule)
    tracer = Decomposer(keeps_of(until, keep), decompositions or {}, in_core_ops=until == "core")
    stand_ins = [
        tracer.placeholder(node.name, node.meta["val"]) for node in graph_module.graph.find_nodes(op="placeholder")
    ]
    if len(graph_module.graph.nodes) >= FEWEST_NODES:
        tracer.repeated = RepeatedCalls(tracer)
    with dispatch.mode(tracer):
        result = _Rewrite(graph_module, tracer).run(*stand_ins)
    decomposed_module = tracer.finish(result)
    decomposed_module.graph.output_node().meta["val"] = graph_module.graph.output_node().meta["val"]
    decomposed_module.meta.update(graph_module.meta)
    return decomposed_module
