"""Correlation matrices by their Cholesky factors: the transform from real vectors, and the LKJ distribution.

Each row of such a factor is a point of the unit sphere, whose last number that isn't 0 is positive.

>>> from minitorch_compile.tensor import tensor
>>> L = CorrCholeskyTransform()(tensor([0.5]))
>>> L @ L.mT
tensor([[1.0000, 0.4621],
        [0.4621, 1.0000]])
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.beta import Beta
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.distributions.transforms import Transform
from minitorch_compile.distributions.triangular_vectors import tril_matrix_to_vec, vec_to_tril_matrix
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Size, Tensor, ops
from minitorch_compile.tensor.numerics.numeric_limits import finfo


class CorrCholeskyTransform(Transform):
    """Vectors of n (n - 1) / 2 numbers to Cholesky factors of n by n correlation matrices.

    tanh makes each number a partial correlation; along a row, each takes its share of what the earlier ones left of the
    row's length 1. Source: Lewandowski, Kurowicka and Joe, 2009.
    """

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.corr_cholesky

    def _call(self, x: Tensor) -> Any:
        eps = finfo(x.dtype).eps
        shares = vec_to_tril_matrix(ops.tanh(x).clamp(min=-1 + eps, max=1 - eps), -1)
        left = (1 - shares**2).sqrt().cumprod(-1)
        before = F.pad(left[..., :-1], [1, 0], value=1)
        return (shares + ops.eye(shares.shape[-1], dtype=x.dtype, device=x.device)) * before

    def _inverse(self, y: Tensor) -> Any:
        left = 1 - (y * y).cumsum(-1)
        before = F.pad(left[..., :-1], [1, 0], value=1)
        shares = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(before, -1).sqrt()
        return (shares.log1p() - (-shares).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), -2)
        of_tanh = -2 * (x + F.softplus(-2 * x) - math.log(2)).sum(-1)
        return left.log().sum(-1) / 2 + of_tanh

    def forward_shape(self, shape: Any) -> Any:
        side = round(0.5 + math.sqrt(0.25 + 2 * shape[-1]))
        if side * (side - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], side, side))

    def inverse_shape(self, shape: Any) -> Any:
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LKJCholesky(Distribution):
    """Cholesky factors of `dim` by `dim` correlation matrices M with density det(M)^(concentration - 1).

    1 is the uniform distribution; above, matrices near the identity are more likely. ValueError if `dim` is below 2.
    """

    arg_constraints = {"concentration": constraints.positive}
    parameter_event_dims = {"concentration": 0}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch = self.concentration.shape
        # The squared length of what lies left of the diagonal, row by row, follows a beta distribution.
        where = self.concentration.device
        rows = ops.arange(dim - 1, device=where).to(self.concentration.dtype)
        offset = ops.cat([ops.zeros(1, device=where), rows])
        first = (offset + 0.5).expand((*batch, dim))
        second = (self.concentration + (dim - 2) / 2).unsqueeze(-1) - offset / 2
        self._beta = Beta(first, second, validate_args=False)
        super().__init__(batch, Size((dim, dim)), validate_args)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        return vars(LKJCholesky(self.dim, self.concentration.expand(batch), validate_args=False))

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        length = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = ops.randn(tuple(self._extended_shape(sample_shape)), device=length.device).tril(-1)
        norm = ops.linalg_vector_norm(normal, 2, -1, True)
        left = length.sqrt() * ops.where(norm > 0, normal / ops.where(norm > 0, norm, 1.0), 0.0)
        diagonal = (1 - (left**2).sum(-1)).clamp(min=finfo(left.dtype).tiny).sqrt()
        return left + ops.diag_embed(diagonal)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        n, c = self.dim, self.concentration
        diagonal = ops.diagonal(value, 0, -2, -1)[..., 1:]
        order = 2 * (c - 1).unsqueeze(-1) + n - ops.arange(2, n + 1, device=c.device)
        alpha = c + (n - 1) / 2
        normalizer = (n - 1) / 2 * math.log(math.pi) + ops.mvlgamma(alpha - 0.5, n - 1) - ops.lgamma(alpha) * (n - 1)
        return (order * diagonal.log()).sum(-1) - normalizer
