"""Which values a parameter may take, or a sample has: `constraint.check(value)` is a bool tensor.

`event_dim` is how many dimensions on the right belong to one value: 0 for numbers, 1 for vectors, 2 for matrices.

>>> from minitorch_compile.tensor import tensor
>>> positive, positive.check(tensor([-1.0, 2.0]))
(GreaterThan(lower_bound=0.0), tensor([False,  True]))
>>> simplex.check(tensor([[0.5, 0.5], [0.5, 0.6]]))
tensor([ True, False])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.numeric_limits import finfo
from minitorch_compile.tensor.ops.matrix_kernels import LinAlgError


class Constraint:
    """A region. `is_discrete`: whether it has whole numbers only."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Any:
        """Where the value lies inside, one bool for each event."""
        raise NotImplementedError(f"{type(self).__name__}: a constraint must define check(value)")

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


class _Bounded(Constraint):
    """A constraint with named bounds."""

    def __init__(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={_plain(value)}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({bounds})"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


class _Dependent(Constraint):
    """A region that depends on other parameters: not checked. What of it is known beforehand can be said."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> Any:  # type: ignore[override]
        """Whether its values are apart from each other. NotImplementedError if that wasn't said."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> Any:  # type: ignore[override]
        """How many dimensions one value has. NotImplementedError if that wasn't said."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same with more said: `constraints.dependent(is_discrete=True, event_dim=1)`."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property of a distribution, and on its class a constraint of which some is known.

    >>> from minitorch_compile import distributions
    >>> distributions.Uniform.support.event_dim, distributions.Uniform(0.0, 2.0).support
    (0, Interval(lower_bound=0.0, upper_bound=2.0))
    """

    def __init__(self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> _DependentProperty:  # type: ignore[override]
        """`@constraints.dependent_property(is_discrete=False, event_dim=0)` above the method."""
        return type(self)(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether the constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class Real(Constraint):
    def check(self, value: Tensor) -> Any:
        return value == value  # false for nan


class Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value == 0) | (value == 1)


class Interval(_Bounded):
    """lower_bound <= x <= upper_bound."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Tensor) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)  # type: ignore[attr-defined]


class HalfOpenInterval(Interval):
    """lower_bound <= x < upper_bound."""

    def check(self, value: Tensor) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)  # type: ignore[attr-defined]


class IntegerInterval(Interval):
    """Whole numbers, both bounds included."""

    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value % 1 == 0) & super().check(value)


class GreaterThan(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Tensor) -> Any:
        return value > self.lower_bound  # type: ignore[attr-defined]


class GreaterThanEq(GreaterThan):
    def check(self, value: Tensor) -> Any:
        return value >= self.lower_bound  # type: ignore[attr-defined]


class IntegerGreaterThan(GreaterThan):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)  # type: ignore[attr-defined]


class LessThan(_Bounded):
    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value: Tensor) -> Any:
        return value < self.upper_bound  # type: ignore[attr-defined]


class IndependentConstraint(Constraint):
    """A constraint on each of several values that make one event."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Any:
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        inside = self.base_constraint.check(value)
        return (
            inside.all(tuple(range(-self.reinterpreted_batch_ndims, 0))) if self.reinterpreted_batch_ndims else inside
        )

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What the components of a mixture may give: the dimension along which they lie is put back for the check."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Tensor) -> Any:
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape(*result.shape[: value.dim() - self.event_dim], -1).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class Simplex(Constraint):
    """Vectors of numbers >= 0 that add up to 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class OneHot(Constraint):
    """Vectors with a 1 in one place, 0 elsewhere."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class Multinomial(Constraint):
    """Vectors of counts that add up to at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Tensor) -> Any:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return (ops.tril(value) == value).all((-2, -1))


class LowerCholesky(LowerTriangular):
    """Lower triangular with a positive diagonal."""

    def check(self, value: Tensor) -> Any:
        diagonal = (value * ops.eye(value.shape[-1], dtype=value.dtype, device=value.device)).sum(-1)
        return super().check(value) & (diagonal > 0).all(-1)


class PositiveDefinite(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        symmetric = ops.isclose(value, value.mT, atol=1e-6).all((-2, -1))
        try:
            ops.linalg_cholesky(value)
        except LinAlgError:
            return symmetric & (ops.linalg_eigvalsh(value) > 0).all(-1)
        return symmetric


class Square(Constraint):
    """Matrices with as many rows as columns."""

    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return ops.full(tuple(value.shape[:-2]), value.shape[-2] == value.shape[-1], device=value.device)


class Symmetric(Square):
    def check(self, value: Tensor) -> Any:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return ops.isclose(value, value.mT, atol=1e-6).all((-2, -1))


class PositiveSemidefinite(Symmetric):
    """Symmetric, without negative eigenvalues."""

    def check(self, value: Tensor) -> Any:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return (ops.linalg_eigvalsh(value) >= 0).all(-1)


class CorrCholesky(Constraint):
    """Cholesky factors of correlation matrices: rows of length 1, a positive diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Any:
        tolerance = finfo(value.dtype).eps * value.shape[-1] * 10
        lengths = (value**2).sum(-1).sqrt()
        return lower_cholesky.check(value) & ((lengths - 1).abs() < tolerance).all(-1)


class Cat(Constraint):
    """A constraint for each of consecutive pieces of a dimension."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Any:
        pieces = ops.split_with_sizes(value, self.lengths, self.dim)
        return ops.cat([c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim)


class Stack(Constraint):
    """A constraint for each slice of a dimension."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        dim_of_events = max(c.event_dim for c in self.cseq)
        self.event_dim = dim_of_events + (1 if self.dim + dim_of_events < 0 else 0)

    def check(self, value: Tensor) -> Any:
        slices = ops.unbind(value, self.dim)
        return ops.stack([c.check(part) for c, part in zip(self.cseq, slices, strict=True)], self.dim)


real = Real()
real_vector = IndependentConstraint(real, 1)
boolean = Boolean()
one_hot = OneHot()
nonnegative_integer = IntegerGreaterThan(0)
positive_integer = IntegerGreaterThan(1)
integer_interval = IntegerInterval
positive = GreaterThan(0.0)
nonnegative = GreaterThanEq(0.0)
greater_than = GreaterThan
greater_than_eq = GreaterThanEq
less_than = LessThan
multinomial = Multinomial
unit_interval = Interval(0.0, 1.0)
interval = Interval
half_open_interval = HalfOpenInterval
simplex = Simplex()
lower_triangular = LowerTriangular()
lower_cholesky = LowerCholesky()
positive_definite = PositiveDefinite()
positive_semidefinite = PositiveSemidefinite()
square = Square()
symmetric = Symmetric()
corr_cholesky = CorrCholesky()
cat = Cat
stack = Stack
independent = IndependentConstraint
dependent = _Dependent()
dependent_property = _DependentProperty
