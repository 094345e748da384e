"""Jacobians and Hessians: the products of vjp and jvp with all unit vectors at once, by vmap.

>>> import minitorch_compile as torch
>>> x = torch.tensor([1.0, 2.0])
>>> jacrev(lambda x: x**2)(x)
tensor([[2., 0.],
        [0., 4.]])
>>> hessian(lambda x: (x**3).sum())(x)
tensor([[ 6.,  0.],
        [ 0., 12.]])

`jacrev` takes one row of the Jacobian a unit vector, so it suits functions with few results; `jacfwd` one column, for
few arguments. Where results or arguments are nested, so is the Jacobian: the structure of the results outside, that of
the arguments inside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minitorch_compile.func.forward_mode import Linearized
from minitorch_compile.func.gradients import chosen_arguments, vjp
from minitorch_compile.func.named_after import named_after
from minitorch_compile.func.steps import allow_randomness, refuse_randomness
from minitorch_compile.func.vmap import vmap
from minitorch_compile.pytree import tree_flatten, tree_unflatten
from minitorch_compile.tensor import Tensor, ops

Argnums = int | tuple[int, ...]


def unit_vectors(tensors: list[Any]) -> list[Any]:
    """All unit vectors of the space of these tensors together: for each tensor its part of each vector, stacked.

    >>> from minitorch_compile.tensor import ones
    >>> [part.shape for part in unit_vectors([ones(2), ones(3, 1)])]
    [torch.Size([5, 2]), torch.Size([5, 3, 1])]
    """
    counts = [x.numel() for x in tensors]
    total, before, parts = sum(counts), 0, []
    for x, count in zip(tensors, counts):
        rows = ops.eye(total, dtype=x.dtype, device=x.device)
        parts.append(ops.reshape(ops.narrow(rows, 1, before, count), (total, *x.shape)))
        before += count
    return parts


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of `func` as a function, row by row in reverse mode; (jacobian, aux) with `has_aux`.

    `chunk_size`: at most so many rows at a time, which bounds the memory; with 1 there is no vmap, nor its limits.
    `_preallocate_and_copy` says how PyTorch joins them. RuntimeError for complex arguments or results.
    """

    @named_after(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen, rest = chosen_arguments(func, args, kwargs, argnums, "jacrev")
        inputs = tree_flatten(chosen)[0]
        _check_real(inputs, "arguments", "jacrev")
        output, pull_back, *aux = vjp(rest, *chosen, has_aux=has_aux)
        outputs, out_spec = tree_flatten(output)
        _check_real(outputs, "results", "jacrev")
        basis = tree_unflatten(unit_vectors(outputs), out_spec)
        rows = _one_by_one if chunk_size == 1 else functools.partial(vmap, chunk_size=chunk_size)
        gradients, in_spec = tree_flatten(rows(pull_back)(basis))
        blocks = [
            [ops.reshape(block, (*y.shape, *x.shape)) for x, block in zip(inputs, row)]
            for y, row in zip(outputs, _split_rows(gradients, outputs))
        ]
        nested = tree_unflatten([_of_arguments(tree_unflatten(row, in_spec), argnums) for row in blocks], out_spec)
        return (nested, aux[0]) if has_aux else nested

    return jacobian


def _check_real(tensors: list[Any], what: str, name: str) -> None:
    """RuntimeError for complex tensors: of a function that isn't holomorphic, rows and columns say different things."""
    for x in tensors:
        if isinstance(x, Tensor) and x.dtype.is_complex:
            raise RuntimeError(
                f"{name}: the {what} must be real, but one is {x.dtype}; differentiate with respect to real and"
                " imaginary parts, by torch.view_as_real"
            )


def _one_by_one(pull_back: Callable[..., Any]) -> Callable[..., Any]:
    """`vmap(pull_back)` as a loop."""

    def looped(basis: Any) -> Any:
        leaves, spec = tree_flatten(basis)
        pulled = [tree_flatten(pull_back(tree_unflatten(row, spec))) for row in zip(*map(ops.unbind, leaves))]
        if not pulled:
            return vmap(pull_back)(basis)
        return tree_unflatten([ops.stack(list(each)) for each in zip(*(found for found, _ in pulled))], pulled[0][1])

    return looped


def _split_rows(gradients: list[Any], outputs: list[Any]) -> list[list[Any]]:
    """For each output, the rows that belong to it, of the gradient of each input."""
    counts = [y.numel() for y in outputs]
    starts = [sum(counts[:i]) for i in range(len(counts))]
    return [[ops.narrow(g, 0, start, count) for g in gradients] for start, count in zip(starts, counts)]


def _of_arguments(tree: Any, argnums: Argnums) -> Any:
    return tree if isinstance(argnums, tuple) else tree[0]


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The Jacobian of `func` as a function, column by column in forward mode; (jacobian, aux) with `has_aux`.

    `chunk_size`: at most so many columns at a time. The function runs once, so its random numbers are the same for all
    columns, also where `randomness` is "different". RuntimeError for random numbers unless `randomness` allows them,
    and for complex arguments or results.
    """

    @named_after(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen, rest = chosen_arguments(func, args, kwargs, argnums, "jacfwd")
        inputs, in_spec = tree_flatten(chosen)
        _check_real(inputs, "arguments", "jacfwd")
        linear = Linearized(_without_randomness(rest) if randomness == "error" else rest, chosen, has_aux, "jacfwd")
        _check_real(linear.outputs, "results", "jacfwd")
        basis = tree_unflatten(unit_vectors(inputs), in_spec)
        columns, out_spec = tree_flatten(vmap(linear.pushed, randomness=randomness, chunk_size=chunk_size)(*basis))
        nested = [
            _of_arguments(tree_unflatten(_column_blocks(column, y, inputs), in_spec), argnums)
            for y, column in zip(linear.outputs, columns)
        ]
        jacobians = tree_unflatten(nested, out_spec)
        return (jacobians, linear.aux) if has_aux else jacobians

    return jacobian


def _without_randomness(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, a RuntimeError if it draws random numbers."""

    def checked(*args: Any) -> Any:
        refuse_randomness()
        try:
            return func(*args)
        finally:
            allow_randomness()

    return checked


def _column_blocks(column: Any, output: Any, inputs: list[Any]) -> list[Any]:
    """(unit vectors of all inputs, output) -> (output, input) for each input."""
    counts = [x.numel() for x in inputs]
    moved = ops.movedim(column, 0, -1)
    starts = [sum(counts[:i]) for i in range(len(counts))]
    parts = [ops.narrow(moved, -1, start, count) for start, count in zip(starts, counts)]
    return [ops.reshape(part, (*output.shape, *x.shape)) for x, part in zip(inputs, parts)]


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The second derivatives of `func` as a function: forward mode over reverse mode, as in JAX."""
    return jacfwd(jacrev(func, argnums), argnums)
