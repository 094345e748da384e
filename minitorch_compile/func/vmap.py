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
from minitorch_compile.func.steps import active_levels, as_batch, as_example, enter_vmap, leave_vmap
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
    out_dims: where the batch goes in each result.
    randomness: for random operations: "error", "different" numbers for each example, or the "same" ones.
    chunk_size: at most so many examples at a time, which bounds the memory.

    ValueError for dimensions that don't fit, or batches of different sizes; RuntimeError for a random operation unless
    `randomness` allows it.
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
        run = functools.partial(_run, func, spec, dims, kwargs, randomness)
        if chunk_size is None or chunk_size >= size:
            outputs, out_spec = run(inputs, size)
        else:
            outputs, out_spec = _in_chunks(run, inputs, dims, size, chunk_size)
        return _with_batch_at(outputs, out_spec, out_dims, name_of(func))

    return batched


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", type(func).__name__)


def _run(
    func: Callable[..., Any],
    spec: TreeSpec,
    dims: list[int | None],
    kwargs: dict[str, Any],
    randomness: str,
    inputs: list[Any],
    size: int,
) -> tuple[list[Any], TreeSpec]:
    """The results for one batch, each with the batch first."""
    level = 1 + max((level for level, _ in active_levels()), default=0)
    enter_vmap(level, size, randomness)
    try:
        examples = [x if dim is None else as_example(x, level) for x, dim in zip(inputs, dims)]
        outputs, out_spec = tree_flatten(func(*tree_unflatten(examples, spec), **kwargs))
    finally:
        leave_vmap(level)
    for x in outputs:
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({name_of(func)}): the function must return tensors, but returned an object of type"
                f" {type(x).__name__}"
            )
    return [as_batch(x, level, size) for x in outputs], out_spec


def _in_chunks(
    run: Callable[..., Any], inputs: list[Any], dims: list[int | None], size: int, chunk_size: int
) -> tuple[list[Any], TreeSpec]:
    """A chunk after the other; the results are joined along the batch."""
    parts: list[list[Any]] = []
    for start in range(0, size, chunk_size):
        length = min(chunk_size, size - start)
        chunk = [x if dim is None else ops.narrow(x, 0, start, length) for x, dim in zip(inputs, dims)]
        outputs, out_spec = run(chunk, length)
        parts.append(outputs)
    return [ops.cat(pieces) for pieces in zip(*parts)], out_spec


# --- the dimensions ---------------------------------------------------------------------------------------------------


def _is_dim_leaf(tree: Any) -> bool:
    return tree is None or isinstance(tree, int)


def spread_over(tree: Any, spec: TreeSpec, dims: Any) -> list[Any] | None:
    """`dims`, a tree that may end earlier than `tree` does, as one entry a leaf; None if they don't fit.

    >>> args = ([1, 2], {"a": 3})
    >>> spread_over(args, tree_flatten(args)[1], (0, {"a": None}))
    [0, 0, None]
    """
    if _is_dim_leaf(dims):
        return [dims] * spec.num_leaves
    children, dims_children = _children(tree), _children(dims)
    if type(tree) is not type(dims) or children.keys() != dims_children.keys():
        return None
    found: list[Any] = []
    for key, child in children.items():
        part = spread_over(child, tree_flatten(child)[1], dims_children[key])
        if part is None:
            return None
        found += part
    return found


def _children(tree: Any) -> dict[Any, Any]:
    if isinstance(tree, dict):
        return {key: tree[key] for key in tree_flatten(dict.fromkeys(tree, 0))[1].context}
    return dict(enumerate(tree)) if isinstance(tree, (list, tuple)) else {}


def input_dims(in_dims: Any, args: tuple[Any, ...], leaves: list[Any], spec: TreeSpec, name: str) -> list[int | None]:
    """The batch dimension of each leaf of the arguments, 0 or above."""
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(f"vmap({name}, in_dims={in_dims}): in_dims must be an int or a tuple of ints and None")
    if not args:
        raise ValueError(f"vmap({name})(): it was called without arguments, so there is nothing to batch over")
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    dims = spread_over(args, spec, in_dims)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}): in_dims does not fit the arguments; it must be an int, or a tuple with"
            f" an entry for each of the {len(args)} arguments, nested as they are"
        )
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


def _with_batch_at(outputs: list[Any], spec: TreeSpec, out_dims: Any, name: str) -> Any:
    tree = tree_unflatten(outputs, spec)
    dims = spread_over(tree, spec, out_dims)
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = spread_over(tree, spec, out_dims[0])
    if dims is None or any(dim is None for dim in dims):
        raise ValueError(
            f"vmap({name}, out_dims={out_dims}): out_dims must be an int, or nested like the results with an int for"
            " each"
        )
    moved = [x if dim == 0 else ops.movedim(x, 0, dim) for x, dim in zip(outputs, dims)]
    return tree_unflatten(moved, spec)
