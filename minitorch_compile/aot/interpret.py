"""The compiler that compiles nothing: the graph is run as it is, with NumPy. It is what others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.aot.call_compiler import CompiledGraph
from minitorch_compile.aot.size_values import SizeValues, with_values
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.tensor import no_grad
from minitorch_compile.tensor.dispatch.strided_results import wrap_as
from minitorch_compile.tensor.memory.device import no_default_device
from minitorch_compile.tensor.memory.strides import is_dense
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts


def interpret(graph_module: GraphModule, example_inputs: Sequence[TensorBase]) -> CompiledGraph:
    """The graph module as a function that returns its results in the memory layouts that its output promises, and makes
    tensors where the graph says, wherever the program makes its own.

    >>> from minitorch_compile.aot.tracing import trace
    >>> from minitorch_compile.tensor import ones
    >>> x = ones(2)
    >>> interpret(trace(lambda x: (x + 1,), [x]), [x])(x)
    (tensor([2., 2.]),)
    """
    if SizeValues(example_inputs):
        return _for_unknown_sizes(graph_module, example_inputs)
    output = graph_module.graph.output_node()
    wanted = [tuple(x.strides) if is_dense(x.sizes, x.strides) else None for x in output.meta["val"]]
    made = [node.meta["val"].strides for node in output.args[0]]
    plain = no_default_device()(graph_module)
    if all(want in (None, made_) for want, made_ in zip(wanted, made, strict=True)):
        return plain

    def run(*arguments: Any) -> tuple[Any, ...]:
        results = plain(*arguments)
        return tuple(in_layout(x, strides) for x, strides in zip(results, wanted, strict=True))

    return run


def _for_unknown_sizes(graph_module: GraphModule, example_inputs: Sequence[Any]) -> CompiledGraph:
    """The same, where the layouts depend on sizes that are arguments."""
    sizes, plain = SizeValues(example_inputs), no_default_device()(graph_module)
    layouts = [
        (tuple(x.sizes), tuple(x.strides)) if isinstance(x, TensorBase) else None
        for x in graph_module.graph.output_node().meta["val"]
    ]

    def run(*arguments: Any) -> tuple[Any, ...]:
        results, values = plain(*arguments), sizes.at(arguments)
        return tuple(
            x if layout is None else _in_dense_layout(x, *with_values(layout, values))
            for x, layout in zip(results, layouts, strict=True)
        )

    return run


def _in_dense_layout(x: TensorBase, sizes: tuple[int, ...], strides: tuple[int, ...]) -> TensorBase:
    return in_layout(x, strides if is_dense(sizes, strides) else None)


def in_layout(x: TensorBase, strides: tuple[int, ...] | None) -> TensorBase:
    """The same values with these strides; copied only if they lie otherwise in memory."""
    if strides is None or x.strides == strides or x.is_fake:
        return x
    return wrap_as(x.array, strides) if x.storage.block is None else _laid_out_on_device(x, strides)


def _laid_out_on_device(x: Any, strides: tuple[int, ...]) -> TensorBase:
    """The same for dense strides, without a way over main memory: row-major with the dimensions in another order."""
    order = sorted(range(len(strides)), key=lambda dim: -strides[dim])
    with no_grad():
        dense = x.permute(order).contiguous()
    laid_out: TensorBase = from_parts(dense.storage, dense.offset, x.sizes, strides, x.dtype, x.device)
    return laid_out
