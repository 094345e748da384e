"""What an operation is: a name, a kernel, a rule for the shape of its result, and one way to be called.

An `Op` is declared once, by decorating its NumPy kernel; the `torch.*` function, the `Tensor` method, the in-place form
and the `nn.functional` name all are, or are made from, that one object. The decorator names the family; the family
knows how sizes, strides and dtype of the result follow from the arguments, so the row says only what is particular
(`pointwise_op.py`, `op_families.py`):

    @pointwise(promotion=INT_TO_FLOAT)
    def exp(input: Array) -> Array:
        \"\"\"e to the power of each element.\"\"\"
        return np.exp(input)

Parameters annotated `Array` are tensors (or, in pointwise ops, Python numbers); kernels get them as NumPy arrays.

>>> from minitorch_compile.tensor import ops, tensor
>>> ops.exp, ops.exp.kind, ops.exp(tensor([0.0]))
(ops.exp, 'pointwise', tensor([1.]))
>>> ops.add.bind((1,), {"other": 2})
(1, 2, 1)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.accelerators import accelerators, in_use, run_again
from minitorch_compile.tensor.dispatch.argument_devices import (
    all_tensors,
    device_of,
    following,
    is_elsewhere,
    place_of,
    refuse_mixed,
)
from minitorch_compile.tensor.dispatch.dispatch import dispatch
from minitorch_compile.tensor.dispatch.keyword_arguments import filled_in
from minitorch_compile.tensor.dispatch.number_arguments import LOOSE, NEVER, plain, readers
from minitorch_compile.tensor.dispatch.out_argument import call_with_out
from minitorch_compile.tensor.dispatch.public_signature import as_function
from minitorch_compile.tensor.dispatch.wrong_arguments import MISTAKEN, answered
from minitorch_compile.tensor.tensor_base import TensorBase

Array = np.ndarray
Tensor = Any  # the class comes later, with methods made from the table: nothing a type checker can see
Scalar = bool | int | float

TENSOR_ANNOTATION = re.compile(r"Array|Tensor|ndarray")

table: dict[str, Op] = {}


class Op:
    """A named operation.

    Attributes: `name`; `kind`, its family; `kernel`, the decorated function; `parameters`, their names;
    `tensor_parameters`, the positions of those that are tensors; `namespaces`, where it appears ("torch", "method",
    "functional"); `declared_at`, file and line. `recorded` is False for composite ops, which interpreters never
    see: they see the ops of the body.
    """

    kind = "op"
    recorded = True
    gives_views = False
    declared_at: tuple[str, int] | None = None
    __signature__ = property(as_function)  # what its user may give: `help` and editors ask

    def __init__(
        self, kernel: Callable[..., Any], *, namespaces: Sequence[str], name: str = "", gather_dims: bool = False
    ) -> None:
        self.name = name or kernel.__name__
        self.kernel = kernel
        self.__name__ = self.name.rpartition(".")[2]
        self.__doc__ = kernel.__doc__
        self.__module__ = kernel.__module__
        self.namespaces = frozenset(namespaces)
        self.gather_dims = gather_dims  # the method accepts x.view(2, 3) for x.view((2, 3))
        self.own_signature = inspect.signature(kernel)
        parameters = self.own_signature.parameters
        self.parameters = tuple(parameters)
        self.defaults = tuple(p.default for p in parameters.values())
        self.required = sum(p.default is inspect.Parameter.empty for p in parameters.values())
        self.tensor_parameters = tuple(
            i for i, p in enumerate(parameters.values()) if TENSOR_ANNOTATION.search(str(p.annotation))
        )
        self.positions = {name: i for i, name in enumerate(self.parameters)}
        self.annotations = tuple(str(p.annotation) for p in parameters.values())
        functional = self.name.startswith("F.")
        self.numbers = readers(self.annotations, [functional and name in LOOSE for name in self.parameters])
        self.fine_keywords = {self.parameters[position]: types for position, _, types in self.numbers}
        several = [i for i, p in enumerate(parameters.values()) if p.kind is p.VAR_POSITIONAL]
        self.positional_numbers = tuple(row for row in self.numbers if not several or row[0] <= several[0])
        self.first_number = self.numbers[0][0] if self.numbers else NEVER

    def __repr__(self) -> str:
        return self.name if "." in self.name else f"ops.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return find, (self.name,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs and "out" in kwargs:
            return call_with_out(self, args, kwargs, kwargs.pop("out"))
        try:
            return dispatch(self, args, kwargs)
        except MISTAKEN as error:
            return answered(self, args, kwargs, error)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All parameters in order, numbers as numbers, defaults filled in. TypeError for one too many, missing or
        unknown."""
        given = len(args)
        if not kwargs and self.required <= given <= len(self.parameters):
            for position, _, fine in self.numbers:
                if position >= given:
                    break
                kind = type(value := args[position])
                if kind not in fine and not (kind is tuple and fine.issuperset(map(type, value))):
                    args = plain(args, self.numbers, self.name, self.parameters)
                    break
            return args if given == len(self.parameters) else args + self.defaults[given:]
        return plain(filled_in(self, args, kwargs), self.numbers, self.name, self.parameters)

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operation itself, below every interpreter."""
        return self.run_bound(self.bind(args, kwargs))

    def run_plain(self, args: tuple[Any, ...]) -> Any:
        """`run` without keyword arguments: a family may have a shorter way."""
        known = run_again(self, args + self.defaults[len(args) :]) if in_use else None
        return self.run_bound(self.bind(args, {})) if known is None else known

    def run_bound(self, bound: tuple[Any, ...]) -> Any:
        """`run` for somebody who has bound the arguments already."""
        for position in self.tensor_parameters:
            value = bound[position]
            if getattr(value, "_array", None) is None and is_elsewhere(value):  # what has an array is here
                return self.run_elsewhere(bound)
        return self.eager(*bound)

    def run_elsewhere(self, bound: tuple[Any, ...], promised: Any = None) -> Any:
        """The call if some of its tensors' elements are on a device, or nowhere. `promised`: what its rule gave."""
        if promised is None and (known := run_again(self, bound)) is not None:
            return known
        tensors = all_tensors(bound)
        where = place_of(self, tensors)
        if where is not None:
            if self.gives_views:  # which are the same in any memory
                return self.eager(*bound)
            return accelerators[device_of(tensors).type].run(self, bound, tensors, where)
        refuse_mixed(self, bound)
        return self.meta(*bound) if promised is None else following(self, bound, promised)

    def eager(self, *args: Any) -> Any:
        """The result on real data; `args` are all parameters in order."""
        raise NotImplementedError

    def meta(self, *args: Any, **kwargs: Any) -> Any:
        """The result as a fake tensor: its sizes, strides and dtype, without touching data."""
        bound = self.bind(args, kwargs)
        return following(self, bound, self.meta_rule(*bound))

    def meta_rule(self, *args: Any) -> Any:
        raise NotImplementedError

    def tensor_argument(self, bound: Sequence[Any], position: int) -> TensorBase:
        """The tensor at a position, or a TypeError that names the parameter."""
        value = bound[position]
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"{self.name}(): argument '{self.parameters[position]}' (position {position + 1}) must be Tensor,"
                f" not {type(value).__name__}"
            )
        return value


def find(name: str) -> Op:
    """The op of that name. AttributeError if there is none."""
    if name not in table:
        raise AttributeError(f"ops: there is no op named {name!r}")
    return table[name]
