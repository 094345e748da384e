"""vmap: a function of one example becomes a function of a batch.

>>> import minitorch_compile as torch
>>> def norm(x):
...     return (x * x).sum().sqrt()
>>> vmap(norm)(torch.tensor([[3.0, 4.0], [6.0, 8.0]]))
tensor([ 5., 10.])

Nothing loops: while the function runs, an interpreter on the stack of transforms replaces each operation on an example
by one on the whole batch. The *batching rule* of an operation (`batching/`) says which.

>>> vmap(torch.dot, in_dims=(0, None))(torch.ones(3, 2), torch.tensor([1.0, 2.0]))
tensor([3., 3., 3.])

Source: JAX's vmap (J. Bradbury et al., 2018), functorch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.func.named_after import name_of, named_after
from minitorch_compile.func.steps import active_levels, as_batch, as_example, enter_vmap, is_example, leave_vmap
from minitorch_compile.nn.attention.vmap_slot import register_vmap
from minitorch_compile.pytree import TreeSpec, tree_flatten, tree_unflatten
from minitorch_compile.tensor import Tensor, ops

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that applies `func` to each example of a batch, all at once.

    in_dims: which dimension of each argument is the batch; an int for all, or a tuple that fits the arguments (nested
        where they are), None for what is the same for all examples. Keyword arguments are the same for all.
    out_dims: where the batch goes in each result; None for what is the same for all, which need not be a tensor.
    randomness: for random operations: "error", "different" numbers for each example, or the "same" ones.
    chunk_size: at most so many examples at a time, which bounds the memory.

    ValueError for dimensions that don't fit, or batches of different sizes; RuntimeError for a random operation unless
    `randomness` allows it.

    >>> torch.vmap(torch.dot)(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 1], [1, 1]]))
    tensor([3, 7])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"vmap: randomness must be one of {', '.join(RANDOMNESS)}, but got {randomness!r}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ValueError(f"vmap: chunk_size must be None or a positive int, but got {chunk_size!r}")

    @named_after(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten(args)
        dims = input_dims(in_dims, args, leaves, spec, name_of(func))
        size = batch_size(leaves, dims)
        inputs = [x if dim in (None, 0) else ops.movedim(x, dim, 0) for x, dim in zip(leaves, dims)]
        run = functools.partial(_run, func, spec, dims, kwargs, out_dims, randomness)
        if chunk_size is None or chunk_size >= size:
            outputs, places, out_spec = run(inputs, size)
        else:
            outputs, places, out_spec = _in_chunks(run, inputs, dims, size, chunk_size)
        moved = [x if dim in (None, 0) else ops.movedim(x, 0, dim) for x, dim in zip(outputs, places)]
        return tree_unflatten(moved, out_spec)

    return batched


Results = tuple[list[Any], list[int | None], TreeSpec]
"""Each result with the batch first, where the batch goes, and how the results are nested."""


def _run(
    func: Callable[..., Any],
    spec: TreeSpec,
    dims: list[int | None],
    kwargs: dict[str, Any],
    out_dims: Any,
    randomness: str,
    inputs: list[Any],
    size: int,
) -> Results:
    """The results for one batch."""
    level = 1 + max((level for level, _ in active_levels()), default=0)
    enter_vmap(level, size, randomness)
    try:
        examples = [x if dim is None else as_example(x, level) for x, dim in zip(inputs, dims)]
        outputs, out_spec = tree_flatten(func(*tree_unflatten(examples, spec), **kwargs))
    finally:
        leave_vmap(level)
    places = output_dims(out_dims, outputs, out_spec, name_of(func))
    return [_result(x, dim, level, size, name_of(func)) for x, dim in zip(outputs, places)], places, out_spec


def _result(x: Any, dim: int | None, level: int, size: int, name: str) -> Any:
    if dim is None:
        if isinstance(x, Tensor) and is_example(x, level):
            raise ValueError(f"vmap({name}): out_dims is None for a result that differs between the examples")
        return x
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({name}): the function must return tensors, but returned an object of type {type(x).__name__}; with"
            " None for it in out_dims it comes out as it is"
        )
    return as_batch(x, level, size)


def _in_chunks(
    run: Callable[..., Results], inputs: list[Any], dims: list[int | None], size: int, chunk_size: int
) -> Results:
    """A chunk after the other; the results are joined along the batch."""
    parts: list[list[Any]] = []
    for start in range(0, size, chunk_size):
        length = min(chunk_size, size - start)
        chunk = [x if dim is None else ops.narrow(x, 0, start, length) for x, dim in zip(inputs, dims)]
        outputs, places, out_spec = run(chunk, length)
        parts.append(outputs)
    joined = [pieces[0] if dim is None else ops.cat(pieces) for pieces, dim in zip(zip(*parts), places)]
    return joined, places, out_spec


# --- the dimensions ---------------------------------------------------------------------------------------------------


def _is_dim(tree: Any) -> bool:
    return tree is None or isinstance(tree, int)


def input_dims(in_dims: Any, args: tuple[Any, ...], leaves: list[Any], spec: TreeSpec, name: str) -> list[int | None]:
    """The batch dimension of each leaf of the arguments, 0 or above.

    >>> args = ([1.5], {"a": 2.5})
    >>> input_dims((None, {"a": None}), args, *tree_flatten(args), name="f")
    [None, None]
    """
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(f"vmap({name}, in_dims={in_dims}): in_dims must be an int or a tuple of ints and None")
    if not args:
        raise ValueError(f"vmap({name})(): it was called without arguments, so there is nothing to batch over")
    try:
        dims = spec.spread(in_dims, _is_dim)
    except ValueError as error:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}): in_dims does not fit the arguments; it must be an int, or a tuple with"
            f" an entry for each of the {len(args)} arguments, nested as they are"
        ) from error
    return [_checked_dim(x, dim, name) for x, dim in zip(leaves, dims)]


def _checked_dim(x: Any, dim: Any, name: str) -> int | None:
    if dim is None:
        return None
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({name}): in_dims is {dim} for an argument of type {type(x).__name__}; only tensors can be batched."
            " Use None for it"
        )
    if not -x.dim() <= dim < x.dim():
        raise ValueError(f"vmap({name}): in_dims is {dim} for a tensor of {x.dim()} dimensions; it is out of range")
    return dim % x.dim()


def batch_size(leaves: list[Any], dims: Sequence[int | None]) -> int:
    """The common size of the batch dimensions. ValueError if there is none."""
    sizes = [x.shape[dim] for x, dim in zip(leaves, dims) if dim is not None]
    if not sizes:
        raise ValueError("vmap: at least one argument must be batched, but in_dims is None for all of them")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(f"vmap: the batches of the arguments must have one size, but they have {sizes}")
    return sizes[0]


def output_dims(out_dims: Any, outputs: list[Any], spec: TreeSpec, name: str) -> list[int | None]:
    """Where the batch goes in each result; None for what is returned as it is."""
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.is_leaf():
        out_dims = out_dims[0]
    try:
        return spec.spread(out_dims, _is_dim)
    except ValueError as error:
        raise ValueError(
            f"vmap({name}, out_dims={out_dims}): out_dims must be an int, or nested like the results, with an int or"
            " None for each"
        ) from error


register_vmap(vmap)
