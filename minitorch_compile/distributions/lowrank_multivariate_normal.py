"""A normal distribution of vectors with covariance W W^T + diag(D): a few common causes, and noise of one's own.

>>> from minitorch_compile.tensor import ones, tensor, zeros
>>> d = LowRankMultivariateNormal(zeros(2), tensor([[1.0], [0.0]]), ones(2))
>>> d.covariance_matrix, d.variance
(tensor([[2., 0.],
        [0., 1.]]), tensor([2., 1.]))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.multivariate_normal import half_log_det
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.strides import broadcast_sizes


class LowRankMultivariateNormal(Distribution):
    """`cov_factor` is W, [..., n, rank], and `cov_diag` is D, [..., n].

    Densities need only the small matrix 1 + W^T D^-1 W (the Woodbury identity), never one of n by n.
    """

    has_rsample = True
    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    parameter_event_dims = {"loc": 1, "cov_factor": 2, "cov_diag": 1}
    support = constraints.real_vector

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.ndim < 2 or cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1:] != (n,):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {(n,)}")
        batch = broadcast_sizes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand((*batch, n)), cov_diag.expand((*batch, n))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        super().__init__(batch, (n,), validate_args)

    def _small_factor(self) -> tuple[Any, Any]:
        """W^T D^-1 and the Cholesky factor of 1 + W^T D^-1 W."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        identity = ops.eye(self.cov_factor.shape[-1], dtype=self.loc.dtype, device=self.loc.device)
        return scaled, ops.linalg_cholesky(scaled @ self.cov_factor + identity)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self.cov_factor**2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Any:
        identity = ops.eye(self._event_shape[0], dtype=self.loc.dtype, device=self.loc.device)
        return self.cov_factor @ self.cov_factor.mT + identity * self.cov_diag.unsqueeze(-1)

    @property
    def precision_matrix(self) -> Any:
        return ops.linalg_inv(self.covariance_matrix)

    @property
    def scale_tril(self) -> Any:
        return ops.linalg_cholesky(self.covariance_matrix)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        shape = self._extended_shape(sample_shape)
        common = ops.randn((*shape[:-1], self.cov_factor.shape[-1]), dtype=self.loc.dtype, device=self.loc.device)
        own = ops.randn(tuple(shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.cov_factor @ common.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * own

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        offset = value - self.loc
        scaled, factor = self._small_factor()
        explained = ops.linalg_solve_triangular(factor, scaled @ offset.unsqueeze(-1), upper=False).squeeze(-1)
        distance = (offset**2 / self.cov_diag).sum(-1) - (explained**2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def _half_log_det(self) -> Any:
        return half_log_det(self._small_factor()[1]) + 0.5 * self.cov_diag.log().sum(-1)

    def entropy(self) -> Any:
        half = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (half + self._half_log_det()).expand(tuple(self._batch_shape))
