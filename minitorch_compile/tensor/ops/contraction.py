"""Matrix products.

>>> from minitorch_compile.tensor import tensor
>>> matmul(tensor([[1.0, 2.0]]), tensor([3.0, 4.0]))
tensor([11.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.symbolic import expect_equal
from minitorch_compile.tensor.cpu import blas
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.number_arguments import coefficient
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.strides import broadcast_sizes, numel
from minitorch_compile.tensor.ops.pointwise import add, mul
from minitorch_compile.tensor.ops.reduction import sum
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import expand, squeeze, t, unsqueeze, view_op
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


@kernel_op("contraction", methods=True)
def mm(input: Array, mat2: Array) -> Array:
    """The product of two matrices: (n, k) times `mat2` (k, m) gives (n, m). RuntimeError for other dimensions, and if
    the inner sizes differ.

    >>> torch.mm(torch.tensor([[1, 2]]), torch.tensor([[3], [4]]))
    tensor([[11]])
    """
    return blas.matmul(input, mat2)


@mm.shape_rule
def _mm_rule(input: TensorBase, mat2: TensorBase) -> TensorBase:
    _check("mm", input, mat2, 2)
    return empty_fake((input.sizes[0], mat2.sizes[1]), None, input.dtype)


@kernel_op("contraction", methods=True)
def bmm(input: Array, mat2: Array) -> Array:
    """The products of two batches of matrices, pair by pair: (b, n, k) times `mat2` (b, k, m) gives (b, n, m).
    RuntimeError for other dimensions or sizes.

    >>> torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 4, 5)).shape
    torch.Size([2, 3, 5])
    """
    return blas.matmul(input, mat2)


@bmm.shape_rule
def _bmm_rule(input: TensorBase, mat2: TensorBase) -> TensorBase:
    _check("bmm", input, mat2, 3)
    if input.sizes[0] != mat2.sizes[0]:
        raise RuntimeError(f"bmm: the batch sizes differ: input is {list(input.sizes)}, mat2 is {list(mat2.sizes)}")
    return empty_fake((input.sizes[0], input.sizes[1], mat2.sizes[2]), None, input.dtype)


def _check(name: str, x: TensorBase, y: TensorBase, ndim: int, names: tuple[str, str] = ("input", "mat2")) -> None:
    for label, tensor in zip(names, (x, y), strict=True):
        if not isinstance(tensor, TensorBase):
            raise TypeError(f"{name}(): argument '{label}' must be Tensor, not {type(tensor).__name__}")
        if len(tensor.sizes) != ndim:
            raise RuntimeError(f"{name}: {label} must have {ndim} dimensions, got sizes {list(tensor.sizes)}")
    _check_inner(name, x, y, names)


def _check_inner(name: str, x: TensorBase, y: TensorBase, names: tuple[str, str]) -> None:
    if not expect_equal(x.sizes[-1], y.sizes[-2]):
        raise RuntimeError(
            f"{name}: the inner sizes differ: {names[0]} is {list(x.sizes)}, {names[1]} is {list(y.sizes)};"
            f" {names[0]}.size(-1) = {x.sizes[-1]} must equal {names[1]}.size(-2) = {y.sizes[-2]}."
        )
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"{name}: expected {names[0]} and {names[1]} to have the same dtype, but got: {x.dtype} != {y.dtype}"
        )


@kernel_op("contraction", methods=True, inplace=True)
def addmm(input: Array, mat1: Array, mat2: Array, beta: float = 1, alpha: float = 1) -> Array:
    """beta * input + alpha * (mat1 @ mat2); `input` broadcasts."""
    product = blas.matmul(mat1, mat2)
    if isinstance(alpha, complex) or isinstance(beta, complex):
        for name, value in (("beta", beta), ("alpha", alpha)):
            coefficient("addmm", name, value, product.dtype.kind == "c")
    if alpha != 1:
        product *= product.dtype.type(alpha)
    if beta == 0:
        return product  # then the input counts for nothing, even NaN
    if beta == 1:
        return np.add(product, input, out=product)
    return np.add(product, input * input.dtype.type(beta), out=product)


@addmm.shape_rule
def _addmm_rule(input: TensorBase, mat1: TensorBase, mat2: TensorBase, beta: float, alpha: float) -> TensorBase:
    _check("addmm", mat1, mat2, 2, ("mat1", "mat2"))
    sizes = (mat1.sizes[0], mat2.sizes[1])
    if broadcast_sizes(input.sizes, sizes) != sizes:
        raise RuntimeError(
            f"addmm: input of sizes {list(input.sizes)} doesn't expand to the product's sizes {list(sizes)}"
        )
    if input.dtype is not mat1.dtype:
        raise RuntimeError(
            f"addmm: expected input and mat1 to have the same dtype, but got: {input.dtype} != {mat1.dtype}"
        )
    return empty_fake(sizes, None, mat1.dtype)


@composite(methods=True)
def spmm(input: Tensor, mat2: Tensor) -> Any:
    """mm. PyTorch's is meant for a sparse `input`, and takes a dense one too; here all are dense."""
    return mm(input, mat2)


@composite(methods=True)
def matmul(input: Tensor, other: Tensor) -> Any:
    """The matrix product with NumPy's broadcasting rules: vectors, matrices, and batches of matrices.

    (..., n, k) @ (..., k, m) gives (..., n, m); dimensions in front broadcast. An `input` of one dimension is a row, an
    `other` of one a column, and the result lacks that dimension. RuntimeError, naming both sizes, if the inner sizes
    differ, and for two dtypes.

    >>> a = torch.tensor([[1, 2], [3, 4]])
    >>> a @ a, torch.matmul(a, torch.tensor([1, 1]))
    (tensor([[ 7, 10],
            [15, 22]]), tensor([3, 7]))
    """
    for name, x in (("input", input), ("other", other)):
        if not isinstance(x, TensorBase):
            raise TypeError(f"matmul(): argument '{name}' must be Tensor, not {type(x).__name__}")
        if not x.sizes:
            raise RuntimeError(f"matmul: both arguments need to be at least 1D, but {name} is 0D")
    if len(input.sizes) == 1 or len(other.sizes) == 1:
        return _with_vector(input, other)
    _check_inner("matmul", input, other, ("input", "other"))
    if len(input.sizes) == 2 and len(other.sizes) == 2:
        return mm(input, other)
    if len(other.sizes) == 2:  # fold the batch into the rows: one product instead of many
        rows = reshape(input, (numel(input.sizes[:-1]), input.sizes[-1]))
        return view_op(mm(rows, other), (*input.sizes[:-1], other.sizes[-1]))
    return _batched(input, other)


def _with_vector(x: Any, y: Any) -> Any:
    inner = y.sizes[-2] if len(y.sizes) > 1 else y.sizes[0]
    if not expect_equal(x.sizes[-1], inner):
        raise RuntimeError(
            f"matmul: the inner sizes differ: input is {list(x.sizes)}, other is {list(y.sizes)}; {x.sizes[-1]} must"
            f" equal {inner}."
        )
    if len(x.sizes) == 1 and len(y.sizes) == 1:
        return sum(mul(x, y))
    if len(x.sizes) == 1:
        return squeeze(matmul(unsqueeze(x, 0), y), -2)
    return squeeze(matmul(x, unsqueeze(y, -1)), -1)


def _batched(x: Any, y: Any) -> Any:
    if len(x.sizes) == len(y.sizes) == 3 and x.sizes[0] == y.sizes[0]:
        return bmm(x, y)
    batch = broadcast_sizes(x.sizes[:-2], y.sizes[:-2])
    count = numel(batch)
    left = reshape(expand(x, (*batch, *x.sizes[-2:])), (count, *x.sizes[-2:]))
    right = reshape(expand(y, (*batch, *y.sizes[-2:])), (count, *y.sizes[-2:]))
    return view_op(bmm(left, right), (*batch, x.sizes[-2], y.sizes[-1]))


@composite(torch=False, functional=True)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """input @ weight.T + bias: `weight` is (out_features, in_features), `bias` (out_features,) or None.

    >>> torch.nn.functional.linear(torch.tensor([1.0, 2.0]), torch.tensor([[3.0, 4.0]]), torch.tensor([0.5]))
    tensor([11.5000])
    """
    if input.sizes[-1:] != weight.sizes[-1:]:
        raise RuntimeError(
            f"linear: input.size(-1) must equal weight.size(-1): input is {list(input.sizes)}, weight is"
            f" {list(weight.sizes)}"
        )
    if bias is None or len(input.sizes) == 1:
        product = matmul(input, t(weight))
        return product if bias is None else add(product, bias)
    if len(input.sizes) == 2:
        return addmm(bias, input, t(weight))
    rows = reshape(input, (numel(input.sizes[:-1]), input.sizes[-1]))
    return view_op(addmm(bias, rows, t(weight)), (*input.sizes[:-1], weight.sizes[0]))
