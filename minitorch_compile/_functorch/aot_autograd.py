"""`torch._functorch.aot_autograd`: functions and modules compiled ahead of time, forward and backward.

>>> from minitorch_compile.tensor import ones
>>> def show(graph_module, example_inputs):
...     print(graph_module.graph.compact())
...     return graph_module
>>> x = ones(2, requires_grad=True)
>>> y = aot_function(lambda a: {"out": a.sin().sum()}, show)(x)
primals_1 -> (sum(sin(primals_1)),)
>>> y["out"].backward()
primals_1, tangents_0 -> (mul(expand(tangents_0, (2,)), cos(primals_1)),)

The compilers get graphs of ops without writes and without random state. What is compiled is kept for arguments of the
same sizes, strides, dtypes and wishes for gradients; for others the function is compiled again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile import pytree
from minitorch_compile._functorch.compilers import unboxed
from minitorch_compile.aot.aot_function import aot_function as compile_captured
from minitorch_compile.aot.make_fx import make_fx
from minitorch_compile.aot.partitioning.partition import default_partition
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.utils.stateless import functional_call
from minitorch_compile.tensor.grad_mode import is_grad_enabled
from minitorch_compile.tensor.tensor_base import TensorBase

Compiler = Callable[[GraphModule, Any], Callable[..., Any]]


def aot_function(
    fn: Callable[..., Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Callable[..., Any] = default_partition,
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
    num_params_buffers: int = 0,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | None = None,
    *,
    dynamic: bool = False,
    enable_log: bool = True,
    disable_functionalization: bool = False,
) -> Callable[..., Any]:
    """`fn`, compiled. Arguments and results may be containers. `bw_compiler` is `fw_compiler` unless given;
    `inference_compiler` is used where no gradient is wanted; `decompositions` says for ops what to compile in their
    place. Each combination of sizes is compiled for itself, also if `dynamic`."""
    if disable_functionalization:
        raise NotImplementedError("aot_function: disable_functionalization=True; compilers here get functional graphs")
    kept: dict[Any, Callable[..., Any]] = {}

    @functools.wraps(fn)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = pytree.tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, TensorBase)]
        constants = tuple(None if isinstance(leaf, TensorBase) else leaf for leaf in leaves)
        key = (str(spec), repr(constants), is_grad_enabled(), tuple(map(_looks, tensors)))
        if key not in kept:
            wants = is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
            compiler = fw_compiler if wants or inference_compiler is None else inference_compiler
            kept[key] = compile_captured(
                _captured(_of_tensors(fn, leaves, spec), len(tensors)),
                tensors,
                unboxed(compiler),
                unboxed(bw_compiler or fw_compiler),
                partition_fn,
                _decomposing(decompositions),
            )
        return kept[key](*tensors)

    return compiled


def _looks(tensor: Any) -> tuple[Any, ...]:
    return tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype, tensor.requires_grad, str(tensor.device)


def _of_tensors(fn: Callable[..., Any], leaves: Sequence[Any], spec: pytree.TreeSpec) -> Callable[..., Any]:
    """`fn` as a function of the tensors among its arguments."""

    def of_tensors(*tensors: Any) -> Any:
        given = iter(tensors)
        values = [next(given) if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        args, kwargs = pytree.tree_unflatten(values, spec)
        return fn(*args, **kwargs)

    return of_tensors


def _captured(function: Callable[..., Any], count: int) -> GraphModule:
    """A graph with one node, which calls the function: what it does is seen when the graph is traced."""
    graph = Graph()
    inputs = tuple(graph.placeholder(f"primals_{i + 1}") for i in range(count))
    graph.output(graph.call_function(function, inputs))
    return LazyGraphModule({}, graph)


def _decomposing(table: Mapping[Any, Callable[..., Any]] | None) -> Callable[[GraphModule], GraphModule] | None:
    if not table:
        return None

    def decompose(module: GraphModule) -> GraphModule:
        inputs = module.graph.find_nodes(op="placeholder")
        made = make_fx(module.forward, table)(*(node.meta["val"] for node in inputs))
        for new, old in zip(made.graph.find_nodes(op="placeholder"), inputs):
            new._rename(old.name)
        return LazyGraphModule(made.attributes, made.graph)

    return decompose


# ---------------------------------------------------------------------------------------------- modules


def aot_module(mod: Module, *args: Any, **kwargs: Any) -> Module:
    """A module like `mod`, with the same parameters, whose forward is compiled. Arguments as those of
    aot_function."""

    def functional(parameters: Any, buffers: Any, inputs: Any, keywords: Any) -> Any:
        return functional_call(mod, {**parameters, **buffers}, inputs, keywords)

    compiled = aot_function(functional, *args, **kwargs)

    class AOTModule(Module):
        def __init__(self) -> None:
            super().__init__()
            self.orig_module = mod

        def forward(self, *inputs: Any, **keywords: Any) -> Any:
            module = self.orig_module
            return compiled(dict(module.named_parameters()), dict(module.named_buffers()), inputs, keywords)

    return AOTModule()


def aot_module_simplified(
    mod: Any,
    args: Sequence[Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Callable[..., Any] = default_partition,
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | None = None,
) -> Callable[..., Any]:
    """What a backend of torch.compile needs: a function like the captured graph `mod`, compiled for arguments like
    `args`."""
    if isinstance(mod, LazyGraphModule):  # captured: its tensors are arguments already
        wants = is_grad_enabled() and any(isinstance(a, TensorBase) and a.requires_grad for a in args)
        compiler = fw_compiler if wants or inference_compiler is None else inference_compiler
        backward = unboxed(bw_compiler or fw_compiler)
        return compile_captured(
            mod, list(args), unboxed(compiler), backward, partition_fn, _decomposing(decompositions)
        )
    module = aot_module(
        mod, fw_compiler, bw_compiler, partition_fn, decompositions, inference_compiler=inference_compiler
    )
    return module.forward


__all__ = ["aot_function", "aot_module", "aot_module_simplified"]
