"""From all real numbers to where a parameter may lie: `transform_to(constraint)` gives the transform.

Optimizers move in all directions; so a positive parameter is kept as an unconstrained one and transformed when used.
`biject_to` promises an inverse as well, `transform_to` only that every value can be reached.

>>> from minitorch_compile.distributions import constraints
>>> from minitorch_compile.tensor import tensor
>>> transform_to(constraints.positive)(tensor(0.0)), biject_to(constraints.interval(2.0, 4.0))(tensor(0.0))
(tensor(1.), tensor(3.))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.distributions import constraints, transforms
from minitorch_compile.distributions.constraints import Constraint
from minitorch_compile.distributions.joined_transforms import CatTransform, StackTransform
from minitorch_compile.distributions.lkj_cholesky import CorrCholeskyTransform
from minitorch_compile.distributions.transforms import Transform

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """A table from kinds of constraints to functions that make the transform for one of that kind. Called with a
    `constraint`, it gives the transform to it from all real numbers.

    >>> torch.distributions.transform_to(torch.distributions.constraints.positive)(torch.tensor(-1.0))
    tensor(0.3679)
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Enters a factory for a class of constraints, or for that of a given one; without it, a decorator."""
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform to a constraint. NotImplementedError for one that nothing was registered for."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints: register a factory")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _in_both(constraint: type) -> Callable[[Factory], Factory]:
    def register(factory: Factory) -> Factory:
        return transform_to.register(constraint, biject_to.register(constraint, factory))

    return register


@_in_both(constraints.Real)
def _to_real(constraint: Any) -> Transform:
    return transforms.identity_transform


@_in_both(constraints.GreaterThan)
@_in_both(constraints.GreaterThanEq)
def _to_above(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


@_in_both(constraints.LessThan)
def _to_below(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


@_in_both(constraints.Interval)
@_in_both(constraints.HalfOpenInterval)
def _to_interval(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@biject_to.register(constraints.Simplex)
def _onto_simplex(constraint: Any) -> Transform:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.Simplex)
def _to_simplex(constraint: Any) -> Transform:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.LowerCholesky)
def _to_lower_cholesky(constraint: Any) -> Transform:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.PositiveDefinite)
def _to_positive_definite(constraint: Any) -> Transform:
    return transforms.PositiveDefiniteTransform()


@_in_both(constraints.CorrCholesky)
def _to_corr_cholesky(constraint: Any) -> Transform:
    return CorrCholeskyTransform()


@biject_to.register(constraints.Cat)
def _onto_pieces(constraint: Any) -> Transform:
    return CatTransform([biject_to(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


@transform_to.register(constraints.Cat)
def _to_pieces(constraint: Any) -> Transform:
    return CatTransform([transform_to(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


@biject_to.register(constraints.Stack)
def _onto_slices(constraint: Any) -> Transform:
    return StackTransform([biject_to(c) for c in constraint.cseq], constraint.dim)


@transform_to.register(constraints.Stack)
def _to_slices(constraint: Any) -> Transform:
    return StackTransform([transform_to(c) for c in constraint.cseq], constraint.dim)


@biject_to.register(constraints.IndependentConstraint)
def _onto_independent(constraint: Any) -> Transform:
    return _of_each(biject_to(constraint.base_constraint), constraint)


@transform_to.register(constraints.IndependentConstraint)
def _to_independent(constraint: Any) -> Transform:
    return _of_each(transform_to(constraint.base_constraint), constraint)


def _of_each(base: Transform, constraint: Any) -> Transform:
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)
