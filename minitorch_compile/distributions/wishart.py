"""The Wishart distribution: covariance matrices as samples of normal vectors give them.

>>> from minitorch_compile.tensor import Size, eye
>>> d = Wishart(3.0, covariance_matrix=eye(2))
>>> d.mean, d.log_prob(eye(2))
(tensor([[3., 0.],
        [0., 3.]]), tensor(-3.5310))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.distribution import ONE_SAMPLE, Distribution
from minitorch_compile.distributions.gamma import Chi2
from minitorch_compile.distributions.parameters import broadcast_all
from minitorch_compile.tensor import Size, Tensor, ops
from minitorch_compile.tensor.memory.strides import broadcast_sizes


class Wishart(Distribution):
    """X X^T for `df` columns X that are normal with the given covariance, also for a `df` that is no whole number.

    Given by one of the covariance matrix, its inverse, or its Cholesky factor. AssertionError for none or several,
    ValueError for a `df` of at most the matrices' rows - 1.
    """

    has_rsample = True
    arg_constraints = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    parameter_event_dims = {"covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2, "df": 0, "_factor": 2}
    support = constraints.positive_definite

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        named = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if len(named) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = named
        if matrix.ndim < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        (degrees,) = broadcast_all(df)
        batch = broadcast_sizes(degrees.shape, matrix.shape[:-2])
        rows = matrix.shape[-1]
        if (degrees <= rows - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {rows - 1}.")
        self.df = degrees.expand(batch)
        self.__dict__[name] = matrix.expand((*batch, rows, rows))
        super().__init__(batch, (rows, rows), validate_args)
        self._factor = self._factor_of(name, self.__dict__[name])
        self._chi2 = Chi2(
            self.df.unsqueeze(-1) - ops.arange(rows, device=self.df.device).to(self.df.dtype), validate_args=False
        )

    @staticmethod
    def _factor_of(name: str, matrix: Any) -> Any:
        """The Cholesky factor of the covariance, from the matrix that was given."""
        if name == "scale_tril":
            return matrix
        return ops.linalg_cholesky(matrix if name == "covariance_matrix" else ops.linalg_inv(matrix))

    def __getattr__(self, name: str) -> Any:
        """The two matrices that were not given."""
        if "_factor" not in self.__dict__ or name not in self.arg_constraints:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name == "scale_tril":
            return self._factor
        if name == "covariance_matrix":
            return self._factor @ self._factor.mT
        return ops.cholesky_inverse(self._factor)

    def _expanded(self, batch: Size) -> dict[str, Any]:
        rows = self._event_shape[0]
        given = [name for name in ("_factor", *self.arg_constraints) if name != "df" and name in self.__dict__]
        matrices = {name: self.__dict__[name].expand((*batch, rows, rows)) for name in given}
        return {"df": self.df.expand(batch), "_chi2": self._chi2.expand((*batch, rows)), **matrices}

    @property
    def mean(self) -> Any:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self._event_shape[0] - 1
        return ops.where(factor <= 0, math.nan, factor)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Any:
        V = self.covariance_matrix
        diagonal = ops.diagonal(V, 0, -2, -1)
        return self.df[..., None, None] * (V**2 + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = ONE_SAMPLE, max_try_correction: Any = None) -> Any:
        """By Bartlett's decomposition: below the diagonal normal numbers, on it roots of chi-squared ones."""
        diagonal = self._chi2.rsample(sample_shape).clamp(min=1e-30).sqrt()
        below = ops.randn(
            tuple(self._extended_shape(sample_shape)), dtype=self._factor.dtype, device=self._factor.device
        ).tril(-1)
        half = self._factor @ (below + ops.diag_embed(diagonal))
        return half @ half.mT

    def _log_det(self) -> Any:
        """Of the Cholesky factor."""
        return ops.diagonal(self._factor, 0, -2, -1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Any:
        self._validate_sample(value)
        n, df = self._event_shape[0], self.df
        trace = ops.diagonal(ops.cholesky_solve(value, self._factor), 0, -2, -1).sum(-1)
        log_det = ops.linalg_slogdet(value)[1]
        normalizer = df * (self._log_det() + n / 2 * math.log(2)) + ops.mvlgamma(df / 2, n)
        return (df - n - 1) / 2 * log_det - trace / 2 - normalizer

    def entropy(self) -> Any:
        n, df = self._event_shape[0], self.df
        digammas = ops.digamma((df.unsqueeze(-1) - ops.arange(n, device=df.device).to(df.dtype)) / 2).sum(-1)
        log_det = (n + 1) * self._log_det()
        constant = n * (n + 1) / 2 * math.log(2)
        return log_det + constant + ops.mvlgamma(df / 2, n) - (df - n - 1) / 2 * digammas + n * df / 2
