"""The entry points of autograd: `backward` and `grad` look at what they are given, and send the engine off.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor(3.0, requires_grad=True)
>>> backward(x * x + x)
>>> x.grad
tensor(7.)
>>> grad(x * x * x, x)
(tensor(27.),)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.engine import BackwardPass
from minitorch_compile.autograd.hooks import retain_grad
from minitorch_compile.autograd.node import Edge, Node
from minitorch_compile.autograd.reachable import leading_to
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import contexts
from minitorch_compile.tensor.dispatch.overrides import DisableTorchFunctionSubclass, state, watching
from minitorch_compile.tensor.dispatch.transform_stack import refuse_in_transforms
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase, wrap
from minitorch_compile.user_warnings import warn_user

# What walks in the engine's place: `walk(roots, gradients, needed, retain_graph=..., create_graph=...)`; the last one.
walks: list[Callable[..., None]] = []


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Adds to `.grad` of every leaf (or only of the leaves in `inputs`) the sum of the gradients of `tensors`.

    `grad_tensors` are the gradients of the tensors themselves, 1 for a tensor of one element if None. The graph is
    freed unless `retain_graph`, which is `create_graph` unless given; with `create_graph` the gradients can be
    differentiated. `inputs` may also be tensors that aren't leaves. `grad_variables` is the old name of `grad_tensors`.
    """
    if watching and not state.subclasses_off:  # gradients are plain tensors
        with DisableTorchFunctionSubclass():
            backward(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
        return
    refuse_in_transforms("backward")
    outputs = _sequence(tensors, "tensors")
    given = _given_gradients(outputs, grad_variables if grad_tensors is None else grad_tensors)
    if inputs is None:
        _walk(_roots(outputs), given, None, retain_graph, create_graph)
        return
    wanted = _sequence(inputs, "inputs")
    if not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    for x in wanted:
        retain_grad(x)  # of one that isn't a leaf
    roots = _roots(outputs)
    needed = leading_to(roots, {gradient_edge(x)[0] for x in wanted})
    _walk(roots, given, needed, retain_graph, create_graph)


def _walk(
    roots: Sequence[Edge], given: Sequence[Any], needed: set[Node] | None, retain_graph: bool | None, create_graph: bool
) -> None:
    if walks:
        walks[-1](roots, given, needed, retain_graph=retain_graph, create_graph=create_graph)
    else:
        BackwardPass(retain_graph, create_graph, needed).start(roots, given)


def _in_layout_of(x: Any, gradient: Any) -> Any:
    """The gradient of an input; that of a sparse one is of its values, so it is at the same places."""
    return x.like(gradient) if x.is_sparse_layout and gradient is not None else gradient


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of `outputs` with respect to `inputs`, a tuple; nothing is added to any `.grad`.

    `grad_outputs`, of their sizes, say by what each element counts. `create_graph` records the walk, for higher
    derivatives; `retain_graph` (default: as create_graph) keeps what it needs for another. `only_inputs` is ignored.
    `is_grads_batched`: the first dimension of `grad_outputs` and of the results is a batch; the graph is walked once
    for each row, and kept. RuntimeError for an input that the outputs don't depend on, unless `allow_unused`: then its
    gradient is None, or zeros with `materialize_grads`.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(x**2, x, create_graph=True)
    >>> slope.detach(), torch.autograd.grad(slope, x)
    (tensor(6.), (tensor(2.),))
    """
    if watching and not state.subclasses_off:  # gradients are plain tensors
        with DisableTorchFunctionSubclass():
            return grad(
                outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched,
                materialize_grads,
            )  # fmt: skip
    _check_options(only_inputs, allow_unused, materialize_grads)
    if is_grads_batched:
        rows = _rows_of_gradients(_sequence(outputs, "outputs"), grad_outputs)
        found = [
            grad(outputs, inputs, row, True, create_graph, True, allow_unused, False, materialize_grads) for row in rows
        ]
        return tuple(None if parts[0] is None else ops.stack(parts) for parts in zip(*found, strict=True))
    outputs, inputs = _sequence(outputs, "outputs"), _sequence(inputs, "inputs")
    for i, x in enumerate(inputs):
        if not x.requires_grad:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad: inputs[{i}]")
    given = _given_gradients(outputs, grad_outputs)
    edges, roots = [gradient_edge(x) for x in inputs], _roots(outputs)
    walk = BackwardPass(retain_graph, create_graph, leading_to(roots, {node for node, _ in edges}), edges)
    walk.start(roots, given)
    gradients = [_in_layout_of(x, walk.captured[edge]) for x, edge in zip(inputs, edges)]
    if materialize_grads:
        return tuple(ops.zeros_like(x) if g is None else g for g, x in zip(gradients, inputs, strict=True))
    if not allow_unused and any(g is None for g in gradients):
        unused = [g is None for g in gradients].index(True)
        raise RuntimeError(
            f"The differentiated Tensor at index {unused} appears to not have been used in the graph. "
            "Set allow_unused=True if this is the desired behavior."
        )
    return tuple(gradients)


def _check_options(only_inputs: bool, allow_unused: bool | None, materialize_grads: bool) -> None:
    """Warns of what is ignored. ValueError for options that exclude each other."""
    if not only_inputs:
        warn_user(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other"
            " parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )


def _rows_of_gradients(outputs: Sequence[Any], grad_outputs: Any) -> list[list[Any]]:
    """The gradients of each row of a batch. RuntimeError if a row has not the sizes of its output."""
    given: list[Any] = [grad_outputs] if isinstance(grad_outputs, TensorBase) else list(grad_outputs or [])
    for i, (g, y) in enumerate(zip(given, outputs, strict=False)):
        if g is not None and tuple(g.sizes[1:]) != tuple(y.sizes):
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch"
                " dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding"
                f" output, but a mismatch was detected: grad_output[{i}] has a shape of {g.sizes} and output[{i}] has a"
                f" shape of {y.sizes}. If you only want some tensors in `grad_output` to be considered batched,"
                " consider using vmap."
            )
    sizes = [g.sizes[0] for g in given if g is not None]
    if not sizes:
        raise RuntimeError("grad: is_grads_batched=True needs grad_outputs with a batch of gradients")
    return [[None if g is None else g[row] for g in given] for row in range(sizes[0])]


def _sequence(tensors: Any, name: str) -> Sequence[Any]:
    sequence = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)
    for x in sequence:
        if not isinstance(x, TensorBase):
            raise TypeError(f"{name}: expected Tensors, got {type(x).__name__}")
    return sequence


def _roots(outputs: Sequence[Any]) -> list[Edge]:
    edges = [gradient_edge(x) for x in outputs]
    for i, (node, _) in enumerate(edges):
        if node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        if outputs[i].is_example:
            raise RuntimeError("backward() or grad() called inside vmap; use torch.func.grad or vjp there")
    return edges


def _ones_like(x: Any) -> Any:
    """ops.ones_like(x). A loss is a number in main memory, and making a 1 need not take as long as four operations."""
    if contexts or x.sizes or x._array is None:
        return ops.ones_like(x)
    return wrap(np.ones((), x.dtype.numpy))


def _given_gradients(outputs: Sequence[Any], gradients: Any) -> list[Any]:
    """One gradient for each output, checked; 1 where none was given."""
    given = (
        [None] * len(outputs)
        if gradients is None
        else [gradients]
        if isinstance(gradients, TensorBase)
        else list(gradients)
    )
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    for i, (x, g) in enumerate(zip(outputs, given, strict=True)):
        if g is None and x.requires_grad:
            if numel(x.sizes) != 1:
                raise RuntimeError(
                    f"grad can be implicitly created only for scalar outputs; output {i} has sizes"
                    f" {list(x.sizes)}: pass its gradient"
                )
            if x.dtype.is_complex:
                raise RuntimeError(
                    f"grad can be implicitly created only for real scalar outputs but got {x.dtype}; take .real or"
                    " .abs(), or pass the gradient"
                )
            given[i] = _ones_like(x)
        elif g is not None and tuple(g.sizes) != tuple(x.sizes):
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.sizes} and output[{i}] has a shape of"
                f" {x.sizes}."
            )
        elif g is not None and g.dtype is not x.dtype and x.requires_grad:
            given[i] = ops.to_copy(g, x.dtype)
    return given
