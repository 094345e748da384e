"""associative_scan: all prefixes of a sequence combined, in about 2 log n steps.

>>> import minitorch_compile as torch
>>> associative_scan(torch.mul, torch.tensor([1, 2, 3, 4]), dim=0)
tensor([ 1,  2,  6, 24])

Pairs of neighbours are combined, the sequence of half the length is scanned, which gives every second result, and one
more step gives those between. Source: Blelloch, "Prefix sums and their applications" (1990), in the form of JAX's
`lax.associative_scan`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.func import vmap
from minitorch_compile.pytree import TreeSpec, tree_flatten, tree_unflatten
from minitorch_compile.tensor import Tensor, ops


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """For each index along `dim`, the elements up to it (from it on, if `reverse`) combined; nested as `xs`.

    combine_fn: an associative function of two elements, each nested as `xs` and without the dimension `dim`.
    combine_mode: "pointwise" or "generic"; both are computed in the same way here.
    RuntimeError for sizes along `dim` that differ or are 0, and for other nesting; ValueError for arguments of other
    types.

    >>> import minitorch_compile as torch
    >>> decays, inputs = torch.full((3,), 0.5), torch.ones(3)
    >>> associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (decays, inputs), 0)[1]
    tensor([1.0000, 1.5000, 1.7500])
    """
    leaves, spec = tree_flatten(xs)
    _check(combine_fn, leaves, dim, combine_mode)
    moved = [ops.movedim(x, dim, 0) for x in leaves]
    if reverse:
        moved = [ops.flip(x, [0]) for x in moved]
    scanned = _scanned(_on_pairs(combine_fn, spec), moved)
    if reverse:
        scanned = [ops.flip(x, [0]) for x in scanned]
    return tree_unflatten([ops.movedim(x, 0, dim) for x in scanned], spec)


def _check(combine_fn: Any, leaves: list[Any], dim: Any, combine_mode: Any) -> None:
    if not callable(combine_fn):
        raise ValueError(f"associative_scan: combine_fn must be callable, but got {type(combine_fn).__name__}")
    if not isinstance(dim, int):
        raise ValueError(f"associative_scan: dim must be an int, but got {type(dim).__name__}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"associative_scan: combine_mode must be 'pointwise' or 'generic', but got {combine_mode!r}")
    if not leaves or not all(isinstance(x, Tensor) for x in leaves):
        raise ValueError("associative_scan: xs must be tensors, at least one")
    if any(not -x.dim() <= dim < x.dim() for x in leaves):
        raise RuntimeError(f"associative_scan: dim {dim} is out of range for a tensor of {[x.dim() for x in leaves]}")
    sizes = {x.shape[dim] for x in leaves}
    if len(sizes) > 1 or sizes == {0}:
        raise RuntimeError(f"associative_scan: all xs need one size along dim, above 0, but have {sorted(sizes)}")


Combine = Callable[[list[Any], list[Any]], list[Any]]


def _on_pairs(combine_fn: Callable[[Any, Any], Any], spec: TreeSpec) -> Combine:
    """`combine_fn` on lists of sequences: element by element, all at once."""

    def combine(first: list[Any], second: list[Any]) -> list[Any]:
        result = vmap(combine_fn)(tree_unflatten(first, spec), tree_unflatten(second, spec))
        leaves, found = tree_flatten(result)
        if found != spec:
            raise RuntimeError(
                f"associative_scan: combine_fn must return what is nested as xs: {spec}, but got {found}"
            )
        return leaves

    return combine


def _scanned(combine: Combine, xs: list[Any]) -> list[Any]:
    length = xs[0].shape[0]
    if length < 2:
        return xs
    odd = _scanned(combine, combine([x[:-1:2] for x in xs], [x[1::2] for x in xs]))
    if length == 2:
        return [ops.cat([x[:1], y]) for x, y in zip(xs, odd)]
    before = odd if length % 2 else [x[:-1] for x in odd]
    even = [ops.cat([x[:1], y]) for x, y in zip(xs, combine(before, [x[2::2] for x in xs]))]
    return [_interleaved(x, y) for x, y in zip(even, odd)]


def _interleaved(even: Any, odd: Any) -> Any:
    """even[0], odd[0], even[1], ...; `even` may have one more."""
    pairs = ops.flatten(ops.stack([even[: odd.shape[0]], odd], 1), 0, 1)
    return ops.cat([pairs, even[odd.shape[0] :]])
