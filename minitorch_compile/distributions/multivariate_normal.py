"""The normal distribution of vectors whose elements depend on each other.

>>> from minitorch_compile.tensor import tensor, zeros
>>> d = MultivariateNormal(zeros(2), tensor([[4.0, 0.0], [0.0, 1.0]]))
>>> d.scale_tril, d.log_prob(zeros(2)), d.variance
(tensor([[2., 0.],
        [0., 1.]]), tensor(-2.5310), tensor([4., 1.]))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.strides import broadcast_sizes


class MultivariateNormal(Distribution):
    """Vectors around `loc`, given one of the covariance matrix (`covariance_matrix`), its inverse (`precision_matrix`),
    or its Cholesky factor (`scale_tril`). `validate_args`: whether arguments are checked.

    >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).sample((3,)).shape
    torch.Size([3, 2])
    """

    has_rsample = True
    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    parameter_event_dims = {
        "loc": 1,
        "covariance_matrix": 2,
        "precision_matrix": 2,
        "scale_tril": 2,
        "_unbroadcasted_scale_tril": 2,
    }
    support = constraints.real_vector

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        named = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(named) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = named
        if matrix.ndim < 2:
            raise ValueError(f"{name} matrix must be at least two-dimensional, with optional leading batch dimensions")
        batch = broadcast_sizes(matrix.shape[:-2], loc.shape[:-1])
        n = loc.shape[-1]
        self.loc = loc.expand((*batch, n))
        self.__dict__[name] = matrix.expand((*batch, *matrix.shape[-2:]))
        super().__init__(batch, (n,), validate_args)
        self._unbroadcasted_scale_tril = self._factor()

    def _factor(self) -> Any:
        """The Cholesky factor of the covariance, from the matrix that was given."""
        known = self.__dict__
        if "scale_tril" in known:
            return known["scale_tril"]
        if "covariance_matrix" in known:
            return ops.linalg_cholesky(known["covariance_matrix"])
        return ops.linalg_cholesky(ops.linalg_inv(known["precision_matrix"]))

    def __getattr__(self, name: str) -> Any:
        """The two matrices that were not given."""
        if "_unbroadcasted_scale_tril" not in self.__dict__ or name not in self.arg_constraints:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        factor = self._unbroadcasted_scale_tril
        if name == "scale_tril":
            return factor
        if name == "covariance_matrix":
            return factor @ factor.mT
        return ops.cholesky_inverse(factor)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self._unbroadcasted_scale_tril**2).sum(-1)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        noise = ops.randn(tuple(self._extended_shape(sample_shape)), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        factor, offset = self._unbroadcasted_scale_tril, (value - self.loc).unsqueeze(-1)
        white = ops.linalg_solve_triangular(factor, offset, upper=False).squeeze(-1)
        count = self._event_shape[0]
        return -0.5 * (count * math.log(2 * math.pi) + (white**2).sum(-1)) - half_log_det(factor)

    def entropy(self) -> Any:
        half = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (half + half_log_det(self._unbroadcasted_scale_tril)).expand(tuple(self._batch_shape))


def half_log_det(factor: Tensor) -> Any:
    """Half the logarithm of the determinant of a matrix, from its Cholesky factor."""
    identity = ops.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return (factor * identity).sum(-1).log().sum(-1)
