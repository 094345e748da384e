"""torch.cuda.make_graphed_callables: functions and modules whose forward and backward passes are recordings.

    call       inputs copied to where the recording reads   forward launched    results as views of its memory
    backward   gradients copied likewise                    backward launched   gradients as views of its memory

Source: make_graphed_callables of torch/cuda/graphs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.autograd import Function, grad
from minitorch_compile.cuda.graphs import CUDAGraph, callable_makers, graph, graph_pool_handle
from minitorch_compile.cuda.streams import Stream, StreamContext, current_stream
from minitorch_compile.nn.module import Module
from minitorch_compile.pytree import tree_flatten, tree_unflatten
from minitorch_compile.tensor import Tensor, ops


def graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int, allow_unused_input: bool, pool: Any
) -> Any:
    """What `torch.cuda.make_graphed_callables` says."""
    is_one = not isinstance(callables, tuple)
    functions: tuple[Any, ...] = (callables,) if is_one else callables
    samples: tuple[Any, ...] = (sample_args,) if is_one else sample_args
    for function, given in zip(functions, samples, strict=True):
        _check(function, given)
    handle = graph_pool_handle() if pool is None else pool
    flat = [tree_flatten(given)[0] for given in samples]
    parameters = [[*f.parameters()] if isinstance(f, Module) else [] for f in functions]
    _warm_up(functions, samples, parameters, num_warmup_iters, allow_unused_input)
    forwards = [_record_forward(f, given, handle) for f, given in zip(functions, samples)]
    # In the order in which they are launched: memory of one recording is used again by the next.
    backwards = [
        _record_backward(results, [*leaves, *weights], handle, allow_unused_input)
        for (_, results, _), leaves, weights in reversed([*zip(forwards, flat, parameters)])
    ][::-1]
    made = tuple(
        _with_forward(f, _graphed(forward, leaves, weights, backward))
        for f, forward, leaves, weights, backward in zip(functions, forwards, flat, parameters, backwards)
    )
    return made[0] if is_one else made


def _check(function: Any, given: Any) -> None:
    if not all(isinstance(x, Tensor) for x in tree_flatten(given)[0]):
        raise TypeError(
            "In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed."
        )
    if isinstance(function, Module):
        if function._forward_hooks or function._forward_pre_hooks or function._backward_hooks:
            raise RuntimeError(
                "Modules must not have hooks registered at the time they are passed. However, registering hooks on"
                " modules after passing them through make_graphed_callables is allowed."
            )
        if any(b.requires_grad for b in function.buffers()):
            raise RuntimeError(
                "In any :class:`~torch.nn.Module` passed to :func:`~make_graphed_callables`, only parameters may be"
                " trainable. All buffers must have ``requires_grad=False``."
            )


def _warm_up(
    functions: Sequence[Any], samples: Sequence[Any], parameters: Sequence[Any], times: int, allow_unused: bool
) -> None:
    """Runs everything on another stream, so that what is made at the first call is made before the recording."""
    side = Stream()
    side.wait_stream(current_stream())
    with StreamContext(side):
        for function, given, weights in zip(functions, samples, parameters):
            for _ in range(times):
                results = [x for x in tree_flatten(function(*given))[0] if x.requires_grad]
                wanted = [x for x in (*tree_flatten(given)[0], *weights) if x.requires_grad]
                if results and wanted:
                    grad(results, wanted, [ops.empty_like(x) for x in results], allow_unused=allow_unused)
    current_stream().wait_stream(side)


Forward = tuple[CUDAGraph, list[Tensor], Any]  # the recording, its results, and how they are nested
Backward = tuple[CUDAGraph | None, list[Tensor | None], list[Tensor | None]]  # gradients that come in, and go out


def _record_forward(function: Any, given: Any, pool: Any) -> Forward:
    recorded = CUDAGraph()
    with graph(recorded, pool=pool):
        results = function(*given)
    flat, spec = tree_flatten(results)
    return recorded, flat, spec


def _record_backward(results: Sequence[Tensor], leaves: Sequence[Tensor], pool: Any, allow_unused: bool) -> Backward:
    incoming = [ops.empty_like(x) if x.requires_grad else None for x in results]
    wanted = [x for x in leaves if x.requires_grad]
    if not wanted or all(x is None for x in incoming):
        return None, incoming, [None] * len(leaves)
    recorded = CUDAGraph()
    with graph(recorded, pool=pool):
        outputs = [x for x in results if x.requires_grad]
        found = iter(grad(outputs, wanted, [x for x in incoming if x is not None], allow_unused=allow_unused))
    return recorded, incoming, [next(found) if x.requires_grad else None for x in leaves]


def _graphed(
    forward: Forward, inputs: Sequence[Tensor], parameters: Sequence[Tensor], backward: Backward
) -> Callable[..., Any]:
    """A function of tensors like the inputs that launches the recordings."""
    recorded, results, spec = forward
    recorded_backward, incoming, outgoing = backward

    class Graphed(Function):
        """Copies in, launches, and gives out what lies in the recordings' memory."""

        @staticmethod
        def forward(ctx: Any, *given: Tensor) -> Any:
            for target, x in zip(inputs, given):
                if target.data_ptr() != x.data_ptr():
                    target.detach().copy_(x.detach())
            recorded.replay()
            return tuple(x.detach() for x in results)

        @staticmethod
        def backward(ctx: Any, *grads: Tensor) -> Any:
            for target, x in zip(incoming, grads):
                if target is not None and target.data_ptr() != x.data_ptr():
                    target.copy_(x)
            assert recorded_backward is not None
            recorded_backward.replay()
            return tuple(x if x is None else x.detach() for x in outgoing)

    def call(*arguments: Any) -> Any:
        return tree_unflatten(list(Graphed.apply(*tree_flatten(arguments)[0], *parameters)), spec)

    return call


def _with_forward(function: Any, graphed: Callable[..., Any]) -> Any:
    """A module with the recording as its forward, in the mode that it is in; of a function, the recording."""
    if not isinstance(function, Module):
        return graphed
    training, plain = function.training, function.forward

    def forward(*arguments: Any) -> Any:
        return graphed(*arguments) if function.training == training else plain(*arguments)

    function.forward = forward  # type: ignore[method-assign]
    return function


callable_makers.append(graphed_callables)
