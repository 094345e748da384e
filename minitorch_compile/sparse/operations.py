"""What ops do with sparse tensors: a row for each, written in operations on the values.

>>> from minitorch_compile import sparse_coo_tensor, tensor
>>> s = sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0])
>>> (s * 2 + s).values(), s.t().indices() if s.is_coalesced() else s.t()._indices()
(tensor([6., 9.]), tensor([[1, 0],
        [0, 1]]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.sparse.calls import handles, unsupported
from minitorch_compile.sparse.products import times_dense, times_sparse
from minitorch_compile.sparse.sparse_tensor import CooTensor, CsrTensor, SparseTensor
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by, wrap

# Functions that are 0 at 0: they are those of the values.
UNARY = """abs absolute neg negative sqrt sin tan asin arcsin atan arctan sinh tanh asinh arcsinh atanh arctanh expm1
    log1p sign sgn floor ceil trunc round relu erf erfinv deg2rad rad2deg isnan isinf positive frac signbit square"""


def is_sparse(x: Any) -> bool:
    """Whether it is a tensor in a sparse layout."""
    return isinstance(x, SparseTensor)


def coordinates(x: Any) -> CooTensor:
    """The tensor by coordinates."""
    return x if isinstance(x, CooTensor) else x.to_sparse()


def in_layout_of(x: Any, made: CooTensor) -> Any:
    """The result in the layout of an argument."""
    return made.to_sparse_csr() if isinstance(x, CsrTensor) else made


def on_values(name: str) -> Callable[..., Any]:
    """The handler of an op that is done element by element."""
    op = ops.table[name]

    def handler(input: Any, *args: Any, **kwargs: Any) -> Any:
        ordered = input.coalesce() if isinstance(input, CooTensor) else input
        return ordered.like(op(ordered._kept, *args, **kwargs))

    return handler


for _name in UNARY.split():
    if _name in ops.table:
        handles(_name)(on_values(_name))
    if f"{_name}_" in ops.table:
        handles(f"{_name}_")(lambda input, _op=ops.table[_name + "_"]: _in_place(input, _op))


def _in_place(input: Any, op: Any, *args: Any) -> Any:
    op(input._kept, *args)
    return input


@handles("clone")
def clone(input: Any, **options: Any) -> Any:
    """Copied values at the same places."""
    return input.like(ops.clone(input._kept))


handles("detach")(lambda input: input.like(ops.detach(input._kept)))


@handles("zeros_like")
def zeros_like(input: Any, **options: Any) -> Any:
    """No entries at all."""
    values = ops.zeros((0, *input._kept.sizes[1:]), dtype=options.get("dtype") or input.dtype)
    empty = CooTensor(ops.zeros((coordinates(input).sparse_dim(), 0), dtype=int64), values, input.sizes, True)
    return in_layout_of(input, empty)


@handles("zero_")
def zero_(input: Any) -> Any:
    """Drops all entries."""
    if input.requires_grad and input.is_leaf and state.enabled:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    empty = zeros_like(input)
    kept_by(input).update(kept_by(empty))
    return input


# ---------------------------------------------------------------------------------------------- sums and multiples


@handles("add")
def add(input: Any, other: Any, alpha: Any = 1) -> Any:
    """Sparse and sparse is sparse, ordinary and sparse is ordinary. RuntimeError for sparse and ordinary."""
    if not is_sparse(input):
        return _added_to_dense(input, other, alpha)
    if not is_sparse(other):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if input.sizes != other.sizes:
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but {tuple(input.sizes)} != {tuple(other.sizes)}"
        )
    a, b = coordinates(input), coordinates(other)
    values = ops.cat([a._kept, b._kept if alpha == 1 else b._kept * alpha])
    both = CooTensor(ops.cat([a._places, b._places], 1), values, a.sizes)
    return in_layout_of(input, both.coalesce())


def _added_to_dense(dense: Any, other: Any, alpha: Any) -> Any:
    if not isinstance(dense, TensorBase):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    return ops.add(dense, other.to_dense(), alpha)


@handles("sub")
def sub(input: Any, other: Any, alpha: Any = 1) -> Any:
    """The difference, as `add` has it."""
    return add(input, other, -alpha)


@handles("add_", "sub_")
def add_(input: Any, other: Any, alpha: Any = 1) -> Any:
    """In place; into an ordinary tensor, only where there are entries."""
    if is_sparse(input):
        total = add(input, other, alpha)
        kept_by(input).update(kept_by(total))
        return input
    x = coordinates(other)
    if not x.sparse_dim():
        return ops.table["add_"](input, x.to_dense(), alpha)
    places = tuple(wrap(np.ascontiguousarray(row)) for row in x._places.array)
    values = (x._kept if alpha == 1 else x._kept * alpha).to(input.dtype)
    return input.index_put_(places, values, accumulate=True)


handles("sub_")(lambda input, other, alpha=1: add_(input, other, -alpha))


def _multiple(name: str) -> Callable[..., Any]:
    op = ops.table[name]

    def handler(input: Any, other: Any, **options: Any) -> Any:
        if is_sparse(other) and not is_sparse(input):
            if name == "div":
                raise unsupported(name, other)
            input, other = other, input
        number = not isinstance(other, TensorBase) or (not is_sparse(other) and not other.sizes)
        if number:
            return input.like(op(input._kept, other, **options))
        if name == "div":
            raise RuntimeError(
                "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
                f"{list(other.sizes)} for divisor)"
            )
        return _elementwise_product(input, other)

    return handler


handles("mul")(_multiple("mul"))
handles("div", "true_divide")(_multiple("div"))
handles("mul_")(lambda input, other: _in_place(input, ops.table["mul_"], other))
handles("div_")(lambda input, other: _in_place(input, ops.table["div_"], other))


def _elementwise_product(input: Any, other: Any) -> Any:
    """Entries times what the other tensor has at their places."""
    x = coordinates(input).coalesce()
    if is_sparse(other):
        y = coordinates(other).coalesce()
        places, of_x, of_y = np.intersect1d(x.flat_places, y.flat_places, return_indices=True)
        pick = [ops.index_select(t._kept, 0, wrap(np.asarray(n, np.int64))) for t, n in ((x, of_x), (y, of_y))]
        indices = wrap(np.ascontiguousarray(x._places.array[:, of_x]))
        return in_layout_of(input, CooTensor(indices, pick[0] * pick[1], x.sizes, True))
    dense = ops.expand(other, tuple(x.sizes))
    there = ops.index(dense, [wrap(np.ascontiguousarray(row)) for row in x._places.array])
    return in_layout_of(input, x.like(x._kept * there))


@handles("pow")
def power(input: Any, exponent: Any) -> Any:
    """A power of the values. RuntimeError for 0, which isn't 0 where nothing is."""
    if exponent == 0:
        raise RuntimeError("pow: Sparse tensors can't be raised to the zeroth power: zeros would become ones")
    return on_values("pow")(input, exponent)


# ---------------------------------------------------------------------------------------------- products


@handles("mm", "matmul", "spmm")
def product(input: Any, other: Any) -> Any:
    """The product of matrices, or of a matrix and a vector; sparse if both are."""
    if is_sparse(input) and is_sparse(other):
        return in_layout_of(input, times_sparse(input, other))
    if is_sparse(input):
        if other.ndim == 1:
            return ops.squeeze(times_dense(input, ops.unsqueeze(other, 1)), 1)
        return times_dense(input, other)
    if input.ndim == 1:
        return ops.squeeze(times_dense(transposed(other), ops.unsqueeze(input, 1)), 1)
    return ops.t(times_dense(transposed(other), ops.t(input)))


handles("mv")(lambda input, vec: product(input, vec))


@handles("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (mat1 @ mat2)."""
    made = product(mat1, mat2)
    return input * beta + (made if alpha == 1 else made * alpha)


handles("addmm_")(lambda input, mat1, mat2, **factors: input.copy_(addmm(input, mat1, mat2, **factors)))
handles("to")(lambda input, *args, **options: input.like(ops.table["to"](input._kept, *args, **options)))


@handles("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """A layer with a sparse weight."""
    made = product(input, transposed(weight) if is_sparse(weight) else ops.t(weight))
    return made if bias is None else made + bias


# ---------------------------------------------------------------------------------------------- dimensions


def transposed(x: Any, first: int = 0, second: int = 1) -> Any:
    """Two sparse dimensions in each other's places."""
    coo = coordinates(x)
    order = list(range(coo.sparse_dim()))
    first, second = (d % len(coo.sizes) for d in (first, second))
    if max(first, second) >= len(order):
        raise RuntimeError("transpose: transposed dimensions must be sparse ones")
    order[first], order[second] = order[second], order[first]
    sizes = [*(coo.sizes[d] for d in order), *coo.sizes[len(order) :]]
    return in_layout_of(x, CooTensor(wrap(np.ascontiguousarray(coo._places.array[order])), coo._kept, sizes))


handles("t")(lambda input: transposed(input) if len(input.sizes) == 2 else input)
handles("transpose", "swapaxes", "swapdims")(lambda input, dim0, dim1: transposed(input, dim0, dim1))


@handles("permute")
def permute(input: Any, dims: Sequence[int]) -> Any:
    """The sparse dimensions in another order."""
    order = [d % len(input.sizes) for d in dims]
    if sorted(order) != list(range(input.sparse_dim())):
        raise RuntimeError("permute: all dimensions must be sparse ones, each named once")
    return CooTensor(
        wrap(np.ascontiguousarray(input._places.array[order])), input._kept, [input.sizes[d] for d in order]
    )


@handles("unsqueeze")
def unsqueeze(input: Any, dim: int) -> Any:
    """One more sparse dimension, of size 1."""
    x = coordinates(input)
    place = dim % (len(x.sizes) + 1)
    if place > x.sparse_dim():
        raise RuntimeError("unsqueeze: the new dimension must lie among the sparse ones")
    indices = np.insert(x._places.array, place, 0, axis=0)
    return CooTensor(wrap(indices), x._kept, [*x.sizes[:place], 1, *x.sizes[place:]], x._coalesced)


@handles("cat", "concat", "concatenate")
def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """One behind the other along a sparse dimension."""
    parts = [coordinates(x) for x in tensors]
    dim %= len(parts[0].sizes)
    if dim >= parts[0].sparse_dim():
        raise unsupported("cat", parts[0])
    indices, start = [], 0
    for x in parts:
        moved = x._places.array.copy()
        moved[dim] += start
        start += x.sizes[dim]
        indices.append(wrap(moved))
    sizes = list(parts[0].sizes)
    sizes[dim] = start
    return CooTensor(ops.cat(indices, 1), ops.cat([x._kept for x in parts]), sizes)


@handles("select")
def select(input: Any, dim: int, index: int) -> Any:
    """The entries at one place of a sparse dimension."""
    x = coordinates(input)
    size = x.sizes[dim]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(x.sizes)} at dimension {dim}")
    where = np.nonzero(x._places.array[dim] == index % size)[0]
    values = ops.index_select(x._kept, 0, wrap(where.astype(np.int64)))
    if x.sparse_dim() == 1:
        return ops.sum(values, 0)
    left = np.ascontiguousarray(np.delete(x._places.array[:, where], dim, axis=0))
    return CooTensor(wrap(left), values, [n for d, n in enumerate(x.sizes) if d != dim], x._coalesced)


@handles("index_select")
def index_select(input: Any, dim: int, index: Any) -> Any:
    """The entries at some places of a sparse dimension, in the order of these."""
    x = coordinates(input)
    found = [np.nonzero(x._places.array[dim] == place)[0] for place in index.array]
    where = np.concatenate(found) if found else np.zeros(0, np.int64)
    places = np.ascontiguousarray(x._places.array[:, where])
    places[dim] = np.repeat(np.arange(len(found)), [len(f) for f in found])
    values = ops.index_select(x._kept, 0, wrap(where.astype(np.int64)))
    return CooTensor(wrap(places), values, [len(found) if d == dim else n for d, n in enumerate(x.sizes)])


# ---------------------------------------------------------------------------------------------- over entries


@handles("sum")
def total(input: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The sum of all, or over dimensions: sparse as long as a sparse dimension is left."""
    x = coordinates(input)
    values = x._kept if dtype is None else x._kept.to(dtype)
    if dim is None:
        return ops.sum(values)
    dims = {d % len(x.sizes) for d in ([dim] if isinstance(dim, int) else dim)}
    grid = x.sparse_dim()
    inner = [d - grid + 1 for d in dims if d >= grid]
    values = ops.sum(values, inner) if inner else values
    kept = [d for d in range(grid) if d not in dims]
    sizes = [n for d, n in enumerate(x.sizes) if d not in dims]
    if not kept:
        return ops.sum(values, 0)
    return CooTensor(wrap(np.ascontiguousarray(x._places.array[kept])), values, sizes).coalesce()


@handles("norm", "linalg_norm", "linalg_vector_norm")
def norm(input: Any, p: Any = 2, **options: Any) -> Any:
    """The norm of all elements."""
    x = coordinates(input).coalesce()
    return ops.linalg_vector_norm(x._kept, 2 if p in ("fro", None) else p)


def normalized(input: Any, dim: int, logarithm: bool) -> Any:
    """softmax, or its logarithm, over the entries along a dimension: what isn't kept counts as minus infinity."""
    x = coordinates(input).coalesce()
    dim %= len(x.sizes)
    if dim >= x.sparse_dim():
        made = ops.log_softmax if logarithm else ops.softmax
        return in_layout_of(input, x.like(made(x._kept, dim - x.sparse_dim() + 1)))
    others = [d for d in range(x.sparse_dim()) if d != dim]
    grid = tuple(x.sizes[d] for d in others)
    flat = np.ravel_multi_index(tuple(x._places.array[others]), grid) if others else np.zeros(x._nnz(), np.int64)
    group = wrap(np.ascontiguousarray(flat, np.int64))
    count = math.prod(grid)
    highest = np.full((count, *x._kept.sizes[1:]), -np.inf, x._kept.dtype.numpy)
    np.maximum.at(highest, flat, x._kept.detach().array)
    shifted = x._kept - ops.index_select(wrap(highest), 0, group)
    powers = ops.exp(shifted)
    sums = ops.index_add(ops.zeros((count, *x._kept.sizes[1:]), dtype=x.dtype), 0, group, powers)
    whole = ops.index_select(sums, 0, group)
    return in_layout_of(input, x.like(shifted - ops.log(whole) if logarithm else powers / whole))


@handles("is_same_size")
def is_same_size(input: Any, other: Any) -> bool:
    """Whether the sizes are the same."""
    return bool(input.sizes == other.sizes)
