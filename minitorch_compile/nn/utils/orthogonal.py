"""Orthogonal weights: a matrix without constraints, mapped onto the orthogonal ones.

Every map takes 0 to the identity. So a constant orthogonal matrix, `base`, in front of it makes any orthogonal matrix
the place to start from.

>>> from minitorch_compile import nn
>>> layer = orthogonal(nn.Linear(2, 2, bias=False))
>>> (layer.weight @ layer.weight.T).detach().abs().round()
tensor([[1., 0.],
        [0., 1.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.utils.parametrize import register_parametrization
from minitorch_compile.tensor import Tensor, no_grad, ops

MAPS = ("matrix_exp", "cayley", "householder")


def by_exponential(x: Any) -> Any:
    """exp(A) of the skew-symmetric A below whose diagonal x lies."""
    return ops.matrix_exp(_skew(x))[..., : x.shape[-1]]


def by_cayley(x: Any) -> Any:
    """(I - A/2)^-1 (I + A/2) of the skew-symmetric A below whose diagonal x lies (Cayley 1846)."""
    a = _skew(x)
    identity = ops.eye(a.shape[-1], dtype=a.dtype)
    return ops.linalg_solve(identity - a / 2, identity + a / 2)[..., : x.shape[-1]]


def by_reflections(x: Any) -> Any:
    """A product of Householder reflections, one for each column below the diagonal; the diagonal has signs."""
    rows, columns = x.shape[-2:]
    identity = ops.eye(rows, columns, dtype=x.dtype)
    vectors = ops.tril(x, -1) + identity
    q = identity
    for i in reversed(range(columns)):
        v = vectors[..., :, i : i + 1]
        q = q - 2 * v * (v.mT @ q) / ops.sum(v * v, (-2, -1), True)
    return q * ops.sum(x * identity, -2, True).sign()


def _skew(x: Any) -> Any:
    """The square skew-symmetric matrix that has x below its diagonal, and zeros where x has no columns."""
    rows, columns = x.shape[-2:]
    x = ops.tril(x)
    if rows > columns:
        x = ops.cat([x, ops.zeros((*x.shape[:-1], rows - columns), dtype=x.dtype)], -1)
    return x - x.mT


class _Orthogonal(Module):
    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.register_buffer("base", _tall(weight.detach()).clone() if use_trivialization else None)

    def forward(self, x: Tensor) -> Any:
        q = {"matrix_exp": by_exponential, "cayley": by_cayley, "householder": by_reflections}[self.orthogonal_map](
            _tall(x)
        )
        if self.base is not None:
            q = self.base @ q
        return q.mT if _is_wide(x) else q

    @no_grad()
    def right_inverse(self, q: Any) -> Any:
        """Moves the base to q, made orthogonal. ValueError for another shape, NotImplementedError without a base."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        if self.base is None:
            raise NotImplementedError(
                "It is not possible to assign to an orthogonal parametrization when use_trivialization=False."
            )
        tall = _tall(q)
        rows, columns = tall.shape[-2:]
        full = ops.cat([tall, ops.randn((*tall.shape[:-1], rows - columns), dtype=tall.dtype)], -1)
        self.base = _made_orthogonal(full)
        return (q.new_zeros(q.shape) - ops.eye(*q.shape[-2:], dtype=q.dtype)).contiguous()


def _is_wide(x: Any) -> bool:
    return x.shape[-2] < x.shape[-1]


def _tall(x: Any) -> Any:
    """The matrix or its transpose, whichever has at least as many rows as columns."""
    return x.mT if _is_wide(x) else x


def _made_orthogonal(matrix: Any) -> Any:
    """The orthogonal factor of QR, with signs so that an orthogonal matrix is itself."""
    q, r = ops.linalg_qr(matrix)
    signs = ops.where(ops.sum(r * ops.eye(r.shape[-1], dtype=r.dtype), -2, True) < 0, -1.0, 1.0)
    return q * signs.to(q.dtype)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Makes a weight orthogonal: its columns, or rows if there are more columns. Returns the module.

    `orthogonal_map`: "matrix_exp" (for squares, if not given), "cayley" or "householder". `use_trivialization`: with a
    base, so that the weight may be assigned to. ValueError for an unknown map or a tensor that isn't a matrix.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    return register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
