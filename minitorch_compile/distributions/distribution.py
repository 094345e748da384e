"""What a probability distribution is: batches of distributions, samples of them, and densities.

Shapes have three parts, from the left: `sample_shape`, how many were drawn; `batch_shape`, how many distributions there
are, with parameters of their own; `event_shape`, the shape of one outcome.

>>> from minitorch_compile import zeros, ones
>>> from minitorch_compile.distributions import Independent, Normal
>>> d = Independent(Normal(zeros(3, 2), ones(3, 2)), 1)
>>> d.batch_shape, d.event_shape, d.sample((5,)).shape, d.log_prob(zeros(3, 2)).shape
(torch.Size([3]), torch.Size([2]), torch.Size([5, 3, 2]), torch.Size([3]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from minitorch_compile.distributions.constraints import Constraint, is_dependent
from minitorch_compile.tensor import Size, Tensor, no_grad
from minitorch_compile.tensor.memory.strides import broadcast_sizes

ONE_SAMPLE = Size()  # the `sample_shape` of a single one


class Distribution:
    """The base of all. A subclass has `arg_constraints`, `support` and at least `log_prob` and `rsample` or `sample`.

    `batch_shape`: sizes of independent distributions in one; `event_shape`: those of a single draw.
    `parameter_event_dims` says how many dimensions on the right of each parameter belong to one distribution.
    `validate_args`: whether arguments are checked.

    >>> many = torch.distributions.Normal(torch.zeros(3), 1.0)
    >>> many.batch_shape, many.event_shape, many.sample((2,)).shape
    (torch.Size([3]), torch.Size([]), torch.Size([2, 3]))
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    parameter_event_dims: ClassVar[dict[str, int]] = {}
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked unless validate_args says otherwise."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected a bool, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = Size(),
        event_shape: Sequence[int] = Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if name not in self.__dict__ or is_dependent(constraint):
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution"
                    f" {self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    # ------------------------------------------------------------------------------------------------------- shapes

    @property
    def batch_shape(self) -> Size:
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        return self._event_shape

    @property
    def support(self) -> Constraint:
        """The values that a sample can have."""
        raise NotImplementedError(f"{type(self).__name__}: has no support")

    def _extended_shape(self, sample_shape: Any = ONE_SAMPLE) -> Size:
        """The shape of a sample."""
        return Size((*_sizes(sample_shape), *self._batch_shape, *self._event_shape))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to a larger batch.

        A subclass whose own `expand` calls this one gives the distribution that it has begun as `_instance`: what it
        lacks is added, what it has stays.
        """
        batch = Size(_sizes(batch_shape))
        new = object.__new__(type(self)) if _instance is None else _instance
        same = {"_batch_shape": batch, "_validate_args": self._validate_args}
        new.__dict__ = {**self.__dict__, **self._expanded(batch), **same, **new.__dict__}
        return new

    def _expanded(self, batch: Size) -> dict[str, Any]:
        """The attributes that are others in a larger batch."""
        given = {name: self.__dict__[name] for name in self.parameter_event_dims if name in self.__dict__}
        events = self.parameter_event_dims
        return {name: x.expand((*batch, *x.shape[x.ndim - events[name] :])) for name, x in given.items()}

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """What an `expand` of `cls` fills: `_instance`, or a new distribution of this one's class.

        NotImplementedError if that class has a constructor, so attributes, which the `expand` of `cls` doesn't know.
        """
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also"
                " define a custom .expand() method."
            )
        return object.__new__(type(self)) if _instance is None else _instance

    # ------------------------------------------------------------------------------------------------------ samples

    def sample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        """A sample through which no gradient passes."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ONE_SAMPLE) -> Any:
        """A sample that can be differentiated by the parameters. NotImplementedError if there is no such thing."""
        raise NotImplementedError(f"{type(self).__name__}: samples can't be differentiated; use sample()")

    def sample_n(self, n: int) -> Any:
        """n samples."""
        return self.sample((n,))

    def enumerate_support(self, expand: bool = True) -> Any:
        """Every value a sample can have, along a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__}: has no finite support to enumerate")

    # ------------------------------------------------------------------------------------------------- probabilities

    def log_prob(self, value: Tensor) -> Any:
        """The logarithm of the density, or of the probability, of a value."""
        raise NotImplementedError(f"{type(self).__name__}: has no density")

    def cdf(self, value: Tensor) -> Any:
        """The probability of at most `value`."""
        raise NotImplementedError(f"{type(self).__name__}: has no cumulative distribution function here")

    def icdf(self, value: Tensor) -> Any:
        """The inverse of cdf."""
        raise NotImplementedError(f"{type(self).__name__}: the inverse of its cdf isn't available")

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        raise NotImplementedError(f"{type(self).__name__}: its entropy has no closed form here; average -log_prob")

    def perplexity(self) -> Any:
        """e to the power of the entropy."""
        return self.entropy().exp()

    @property
    def mean(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: has no mean")

    @property
    def mode(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: has no mode")

    @property
    def variance(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: has no variance")

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    def _validate_sample(self, value: Any) -> None:
        """ValueError unless the value has a fitting shape and lies within the support."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if Size(value.shape[value.ndim - events :]) != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        expected = (*self._batch_shape, *self._event_shape)
        try:
            broadcast_sizes(value.shape, expected)
        except RuntimeError:
            raise ValueError(
                f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {Size(expected)}."
            ) from None
        support = self.support
        if not is_dependent(support) and not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the"
                f" support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = [name for name in self.arg_constraints if name in self.__dict__]
        texts = (f"{name}: {_short(self.__dict__[name])}" for name in shown)
        return f"{type(self).__name__}({', '.join(texts)})"


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _short(value: Any) -> Any:
    return value.item() if value.numel() == 1 else value.shape
