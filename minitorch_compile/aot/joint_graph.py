"""The forward and the backward pass as one graph.

The functional program is run once more, on fake tensors that require grad, so that the tape records it; then its
gradients are asked for, and since derivative formulas are written in ops, the backward pass is traced like the forward.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> x, w = empty_fake((2, 3)), empty_fake((3, 4))
>>> w.requires_grad = True
>>> joint = trace_joint(trace(lambda x, w: (ops.exp(x @ w),), [x, w]), [True])
>>> for node in joint.graph_module.graph.find_nodes(op="call_function"):
...     print(node, node.args, "backward" if "backward" in node.meta else "forward")
mm (x, w) forward
exp (mm,) forward
mul (tangents_0, exp) backward
transpose (x, -2, -1) backward
mm_1 (transpose, mul) backward

The gradient of an output is called its *tangent* here, as PyTorch does. x, which needs no gradient, costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from minitorch_compile.aot.aliasing.overwritten_values import Refusals
from minitorch_compile.aot.keep_history import check_tracked, without_history
from minitorch_compile.aot.refused_outputs import possible_gradients
from minitorch_compile.aot.tracing import INHERITED_META, Retrace, Tracer
from minitorch_compile.autograd import grad
from minitorch_compile.autograd.node import BeforeApply
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.grad_mode import enable_grad, set_grad_enabled
from minitorch_compile.tensor.memory.strides import is_dense
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@dataclass
class JointGraph:
    """The graph takes the forward's arguments, then the tangents; it returns the outputs, then the gradients.

    `differentiable[i]`: output i requires grad and has a tangent. `gradients[i]`: where that of argument i is among the
    returned gradients, or None if it has none. `refused`: outputs that require grad and have no tangent, with the error
    that going back from them raises: a value is overwritten, a derivative missing. `starts`: nodes that the backward
    pass begins with besides tangents.
    """

    graph_module: GraphModule
    input_count: int
    output_count: int
    differentiable: list[bool]
    gradients: list[int | None]
    refused: dict[int, RuntimeError] = field(default_factory=dict)
    starts: list[Node] = field(default_factory=list)


class _Differentiated(Retrace):
    """Runs the program under the tape, and lets each recorded node remember the line it was recorded for.

    `refusals` collects what can't be differentiated, for the values that eager autograd keeps are overwritten.
    """

    def __init__(self, module: GraphModule, tracer: Tracer) -> None:
        super().__init__(module, tracer)
        self.refusals = Refusals()

    def run_node(self, node: Node) -> Any:
        with set_grad_enabled("no_grad" not in node.meta):
            result = super().run_node(node)
        check_tracked(node, result)
        results = result if isinstance(result, tuple) else (result,)
        self.refusals.look_at(node, [self.env[source] for source in node.all_input_nodes], results)
        for x in results:
            if isinstance(x, TensorBase) and x.grad_fn is not None and x.grad_fn.hooks is None:
                x.grad_fn.hooks = {0: BeforeApply(self._enter_backward_of(node))}
        return result

    def _enter_backward_of(self, node: Node) -> Any:
        """A hook that the engine calls before it goes backward through what was recorded for `node`."""
        inherited = {key: node.meta[key] for key in INHERITED_META if key in node.meta} | {"backward": True}

        def enter(_: Any) -> None:
            self.tracer.inherited = inherited

        return enter


def trace_joint(program: GraphModule, wants_tangent: Sequence[bool]) -> JointGraph:
    """Differentiates a functional program, whose placeholders' meta["val"] say which arguments require grad.

    `wants_tangent[i]`: gradients may flow into output i (False for what is written back under no_grad).
    """
    tracer = Tracer()
    placeholders = program.graph.find_nodes(op="placeholder")
    inputs = [tracer.placeholder(node.name, node.meta["val"]) for node in placeholders]
    with dispatch.mode(tracer), enable_grad():
        run = _Differentiated(program, tracer)
        outputs = run.run(*inputs)
        required = [x for x in inputs if _requires_grad(x)]
        wanted = [i for i, x in enumerate(outputs) if x.requires_grad and wants_tangent[i]]
        refused = {i: error for i in wanted if (error := run.refusals.of(outputs[i], required)) is not None}
        gradients_of = partial(_gradients, tracer, inputs)
        gradients, discarded = possible_gradients(tracer, gradients_of, {i: outputs[i] for i in wanted}, refused)
    layouts = [_plain(x) for x in program.graph.output_node().meta["val"]]
    module = _finish(tracer, outputs, [g for g in gradients if g is not None], layouts)
    for node in discarded:
        module.graph.erase_node(node)
    places = iter(range(len(gradients)))
    return JointGraph(
        module,
        len(inputs),
        len(outputs),
        [i in wanted and i not in refused for i in range(len(outputs))],
        [None if g is None else next(places) for g in gradients],
        refused,
    )


def _gradients(tracer: Tracer, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The gradient of each input, None for those that need none or that no output depends on."""
    wanted = [x for x in inputs if _requires_grad(x)]
    if not wanted or not outputs:
        return [None] * len(inputs)
    with tracer.graph.inserting_after(tracer.graph.find_nodes(op="placeholder")[-1]):
        tangents = [tracer.placeholder(f"tangents_{i}", _tangent_of(x)) for i, x in enumerate(outputs)]
    saved, tracer.inherited = tracer.inherited, {"backward": True}
    found = iter(grad(outputs, wanted, tangents, retain_graph=True, allow_unused=True))
    tracer.inherited = saved
    return [next(found) if _requires_grad(x) else None for x in inputs]


def _requires_grad(x: Any) -> bool:
    return isinstance(x, TensorBase) and x.requires_grad


def _tangent_of(x: TensorBase) -> TensorBase:
    """What the gradient of an output looks like: laid out as the output if that makes sense, else row-major."""
    return empty_fake(x.sizes, x.strides if is_dense(x.sizes, x.strides) else None, x.dtype, x.device)


def _plain(x: TensorBase) -> TensorBase:
    return empty_fake(x.sizes, x.strides, x.dtype, x.device)


def _finish(tracer: Tracer, outputs: Sequence[Any], gradients: Sequence[Any], layouts: Sequence[Any]) -> GraphModule:
    module = tracer.finish((*outputs, *gradients))
    module.graph.output_node().meta["val"] = (*layouts, *map(_plain, gradients))
    without_history(module.graph)
    module.graph.eliminate_dead_code()
    return LazyGraphModule(module.attributes, module.graph)
