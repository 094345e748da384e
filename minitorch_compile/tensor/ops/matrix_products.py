"""Products of several matrices, of batches, and of tensors along chosen dimensions.

>>> from minitorch_compile.tensor import ones, tensor
>>> baddbmm(ones(4), ones(2, 3, 5), ones(2, 5, 4)).shape, tensordot(ones(2, 3, 4), ones(3, 4, 5), 2).shape
(torch.Size([2, 3, 4]), torch.Size([2, 5]))
>>> matrix_power(tensor([[1, 1], [0, 1]]), 5).tolist(), kron(tensor([1, 2]), tensor([1, 10])).tolist()
([[1, 5], [0, 1]], [1, 10, 2, 20])
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Scalar, Tensor, find
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.memory_format import contiguous_format
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.ops.contraction import bmm, matmul, mm
from minitorch_compile.tensor.ops.copies import clone, contiguous, copy
from minitorch_compile.tensor.ops.creation import eye
from minitorch_compile.tensor.ops.distance import row_distance
from minitorch_compile.tensor.ops.pointwise import clamp, mul, sqrt, sub
from minitorch_compile.tensor.ops.reduction import sum
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.vector_products import scaled_sum
from minitorch_compile.tensor.ops.view import permute, transpose, unsqueeze
from minitorch_compile.tensor.tensor_base import TensorBase


@composite(methods=True, inplace=True)
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1) -> Any:
    """beta * input + alpha * bmm(batch1, batch2)."""
    return scaled_sum("baddbmm", input, bmm(batch1, batch2), beta, alpha)


@composite(methods=True, inplace=True)
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1) -> Any:
    """beta * input + alpha * the sum over the batch of bmm(batch1, batch2)."""
    return scaled_sum("addbmm", input, sum(bmm(batch1, batch2), 0), beta, alpha)


@composite()
def chain_matmul(*matrices: Tensor) -> Any:
    """The product of several matrices, in the order of multiplications that is cheapest."""
    return clone(matrices[0]) if len(matrices) == 1 else find("linalg_multi_dot")(list(matrices))


@composite(methods=True)
def matrix_power(input: Tensor, n: int) -> Any:
    """Square matrices multiplied with themselves n times, by repeated squaring; n < 0 takes the inverse."""
    if len(input.sizes) < 2 or input.sizes[-1] != input.sizes[-2]:
        raise RuntimeError(
            f"linalg.matrix_power: A must be batches of square matrices, but they are {list(input.sizes[-2:])}"
        )
    if n == 0:
        return copy(contiguous(input), eye(input.sizes[-1], dtype=input.dtype))
    square = find("linalg_inv")(input) if n < 0 else input
    n, result = builtins.abs(n), None
    while n:
        if n % 2:
            result = square if result is None else matmul(result, square)
        n //= 2
        square = matmul(square, square) if n else square
    return clone(input, contiguous_format) if result is input else result


@composite()
def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2, out: Tensor | None = None) -> Any:
    """Sums of products along the last dimensions of a and the first of b, or along the listed pairs of dimensions."""
    if out is not None:
        return find("tensordot")(a, b, dims, out=out)
    along_a, along_b = _contracted(a, b, dims)
    for first, second in zip(along_a, along_b, strict=True):
        if a.sizes[first] != b.sizes[second] and 1 not in (a.sizes[first], b.sizes[second]):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.sizes[first]} in dim {first} and second"
                f" has size {b.sizes[second]} in dim {second}"
            )
        if a.sizes[first] == 1 != b.sizes[second]:
            b = sum(b, second, keepdim=True)
        if b.sizes[second] == 1 != a.sizes[first]:
            a = sum(a, first, keepdim=True)
    kept_a = [d for d in range(len(a.sizes)) if d not in along_a]
    kept_b = [d for d in range(len(b.sizes)) if d not in along_b]
    inside = numel(a.sizes[d] for d in along_a)
    sizes_a, sizes_b = [a.sizes[d] for d in kept_a], [b.sizes[d] for d in kept_b]
    left = reshape(permute(a, (*kept_a, *along_a)), (numel(sizes_a), inside))
    right = reshape(permute(b, (*along_b, *kept_b)), (inside, numel(sizes_b)))
    return reshape(mm(left, right), (*sizes_a, *sizes_b))


def _contracted(a: TensorBase, b: TensorBase, dims: Any) -> tuple[list[int], list[int]]:
    """The dimensions of a and of b that tensordot sums over."""
    if isinstance(dims, TensorBase):
        dims = dims.tolist()  # type: ignore[attr-defined]
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(len(a.sizes), len(b.sizes)):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(len(a.sizes) - dims, len(a.sizes))), list(range(dims))
    first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(first) != len(second):
        raise RuntimeError(f"both dimension lists should have same length, got {first} and {second}")
    return [wrap_dim(d, len(a.sizes)) for d in first], [wrap_dim(d, len(b.sizes)) for d in second]


@composite(methods=True)
def kron(input: Tensor, other: Tensor) -> Any:
    """The Kronecker product: every element of the input replaced by itself times `other`."""
    ndim = max(len(input.sizes), len(other.sizes))
    coarse, fine = ((*[1] * (ndim - len(x.sizes)), *x.sizes) for x in (input, other))
    left = reshape(input, tuple(n for size in coarse for n in (size, 1)))
    right = reshape(other, tuple(n for size in fine for n in (1, size)))
    return reshape(mul(left, right), tuple(m * n for m, n in zip(coarse, fine, strict=True)))


CDIST_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@composite()
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = CDIST_MODES[0]) -> Any:
    """The p-norm of the difference of every row of x1 and every row of x2; batches broadcast.

    Between more than 25 rows, Euclidean distances come from a matrix product, which is quicker and less exact.
    """
    for label, x in (("X1", x1), ("X2", x2)):
        if len(x.sizes) < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {label} got: {len(x.sizes)}D")
    if x1.sizes[-1] != x2.sizes[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.sizes[-1]} X2: {x2.sizes[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in (None, *CDIST_MODES):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode; expected {', '.join(CDIST_MODES)}")
    many = max(x1.sizes[-2], x2.sizes[-2]) > 25
    if p == 2 and (compute_mode == CDIST_MODES[1] or (compute_mode != CDIST_MODES[2] and many)):
        return _euclidean(x1, x2)
    return row_distance(sub(unsqueeze(x1, -2), unsqueeze(x2, -3)), p)


def _euclidean(x1: Any, x2: Any) -> Any:
    """sqrt(|x|^2 - 2 x y + |y|^2), with a slope of 0 where the distance is 0."""
    squares = sum(mul(x1, x1), -1, keepdim=True) + transpose(sum(mul(x2, x2), -1, keepdim=True), -2, -1)
    total = clamp(squares - 2 * matmul(x1, transpose(x2, -2, -1)), 0)
    nothing = total == 0
    where = find("where")
    return where(nothing, 0.0, sqrt(where(nothing, 1.0, total)))
