"""Products of vectors, and of vectors with matrices.

>>> from minitorch_compile.tensor import tensor
>>> x, y = tensor([1, 2, 3]), tensor([4, 5, 6])
>>> dot(x, y), outer(x[:2], y).tolist(), cross(x, y), inner(tensor([[1, 1, 1], [1, 0, 0]]), x)
(tensor(32), [[4, 5, 6], [8, 10, 12]], tensor([-3,  6, -3]), tensor([6, 1]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.symbolic import SymFloat
from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.number_arguments import coefficient
from minitorch_compile.tensor.dispatch.op import Scalar, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import broadcast_sizes, numel
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.ops.complex_numbers import conj
from minitorch_compile.tensor.ops.contraction import matmul, mm
from minitorch_compile.tensor.ops.joining import stack
from minitorch_compile.tensor.ops.pointwise import add, mul, sub
from minitorch_compile.tensor.ops.reduction import sum
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import expand, select, unsqueeze
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import warn_user


def _check_vectors(name: str, x: Any, y: Any) -> None:
    for label, tensor in (("input", x), ("tensor", y)):
        if not isinstance(tensor, TensorBase):
            raise TypeError(f"{name}(): argument '{label}' must be Tensor, not {type(tensor).__name__}")
    if len(x.sizes) != 1 or len(y.sizes) != 1:
        raise RuntimeError(f"{name}: 1D tensors expected, but got {len(x.sizes)}D and {len(y.sizes)}D tensors")
    if x.dtype is not y.dtype:
        raise RuntimeError(f"{name}: expected both vectors to have same dtype, but found {x.dtype} and {y.dtype}")
    if x.sizes != y.sizes:
        raise RuntimeError(
            f"{name}: inconsistent tensor size, expected the same number of elements, but got {x.sizes[0]} and"
            f" {y.sizes[0]}"
        )


@composite(methods=True)
def dot(input: Tensor, tensor: Tensor) -> Any:
    """The sum of the products of the elements of two vectors, `input` and `tensor`. RuntimeError for other dimensions
    or sizes.

    >>> torch.dot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    _check_vectors("dot", input, tensor)
    return sum(mul(input, tensor), dtype=input.dtype)


@composite(methods=True)
def vdot(input: Tensor, other: Tensor) -> Any:
    """dot, in which the elements of the first vector are conjugated."""
    return dot(conj(input) if input.dtype.is_complex else input, other)


@composite(methods=True)
def inner(input: Tensor, other: Tensor) -> Any:
    """Sums of products along the last dimension of both; with a 0-d tensor, the plain product."""
    if not input.sizes or not other.sizes:
        return mul(input, other)
    if input.sizes[-1] != other.sizes[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes"
            f" {list(input.sizes)} and {list(other.sizes)}"
        )
    left, right = (reshape(x, (numel(x.sizes[:-1]), x.sizes[-1])) for x in (input, other))
    return reshape(mm(left, right.t()), (*input.sizes[:-1], *other.sizes[:-1]))


@composite(methods=True)
def outer(input: Tensor, vec2: Tensor) -> Any:
    """Every element of one vector times every element of the other."""
    for label, x in (("self", input), ("vec2", vec2)):
        if len(x.sizes) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {label}, but got {len(x.sizes)}-D")
    return mul(unsqueeze(input, 1), vec2)


@composite(methods=True)
def ger(input: Tensor, vec2: Tensor) -> Any:
    """outer, under its BLAS name."""
    return outer(input, vec2)


@composite(methods=True)
def mv(input: Tensor, vec: Tensor) -> Any:
    """A matrix times a vector."""
    _check_matrix_vector(input, vec)
    return matmul(input, vec)


def _check_matrix_vector(mat: TensorBase, vec: TensorBase) -> None:
    if len(mat.sizes) != 2 or len(vec.sizes) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(mat.sizes)}, {len(vec.sizes)}")
    if mat.sizes[1] != vec.sizes[0]:
        raise RuntimeError(f"size mismatch, got mat ({mat.sizes[0]}x{mat.sizes[1]}), vec ({vec.sizes[0]})")


def scaled_sum(op: str, input: Any, product: Any, beta: Scalar, alpha: Scalar) -> Any:
    """beta * input + alpha * product; `input` expands to the product. With beta = 0 it counts for nothing, even NaN.

    Of the factors of integers only the whole part counts.
    """
    beta, alpha = (_factor(op, name, value, product) for name, value in (("beta", beta), ("alpha", alpha)))
    scaled = product if alpha == 1 else mul(product, alpha)
    spread = expand(input, tuple(product.sizes))
    if beta == 0:
        return scaled
    return add(scaled, spread if beta == 1 else mul(spread, beta))


def _factor(op: str, name: str, value: Scalar, x: Any) -> Any:
    number = coefficient(op, name, value, x.dtype.is_complex)
    return int(number) if isinstance(number, (float, SymFloat)) and x.dtype.category < FLOATING else number


@composite(methods=True, inplace=True)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1) -> Any:
    """beta * input + alpha * (mat @ vec)."""
    _check_matrix_vector(mat, vec)
    return scaled_sum("addmv", input, matmul(mat, vec), beta, alpha)


@composite(methods=True, inplace=True)
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1) -> Any:
    """beta * input + alpha * outer(vec1, vec2)."""
    for label, x in (("vec1", vec1), ("vec2", vec2)):
        if len(x.sizes) != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {label}, but got {len(x.sizes)}-D")
    for name, value in (("beta", beta), ("alpha", alpha)):
        coefficient("addr", name, value, input.dtype.is_complex or vec1.dtype.is_complex or vec2.dtype.is_complex)
        whole = vec1.dtype.category < FLOATING and input.dtype.category < FLOATING
        if whole and isinstance(value, (float, SymFloat)):
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number, got {value}"
            )
    product = mul(outer(vec1, vec2), alpha) if alpha != 1 else outer(vec1, vec2)
    spread = expand(input, tuple(product.sizes))
    return add(mul(spread, beta) if beta != 1 else spread, product) if beta != 0 else product


# ------------------------------------------------------------------------------------------ in three dimensions


@composite(methods=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Any:
    """The cross product along a dimension of size 3: the first such one, unless `dim` is given."""
    sizes = broadcast_sizes(input.sizes, other.sizes)
    if dim is None:
        if 3 not in sizes:
            raise RuntimeError("no dimension of size 3 in input")
        if sizes.index(3) != len(sizes) - 1:
            warn_user("cross: pass dim=; without it the first dimension of size 3 is meant")
        dim = sizes.index(3)
    return linalg_cross(input, other, dim=dim)


@composite(torch=False)
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Any:
    """The cross product along a dimension of size 3; the other dimensions broadcast."""
    if len(input.sizes) != len(other.sizes):
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions, got {len(input.sizes)} and"
            f" {len(other.sizes)}"
        )
    at = wrap_dim(dim, len(input.sizes))
    if input.sizes[at] != 3 or other.sizes[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.sizes[at]} and {other.sizes[at]}"
        )
    a, b = ([select(x, at, i) for i in range(3)] for x in (input, other))
    return stack([sub(mul(a[i - 2], b[i - 1]), mul(a[i - 1], b[i - 2])) for i in range(3)], at)


@composite(torch=False)
def linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Any:
    """dot along a dimension, the others broadcast; the elements of x are conjugated."""
    return sum(mul(conj(x) if x.dtype.is_complex else x, y), dim)
