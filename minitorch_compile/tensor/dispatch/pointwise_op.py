"""The pointwise family: arguments broadcast, dtypes promote, the result is dense in the arguments' order of dimensions.

>>> from minitorch_compile.tensor import ops, tensor
>>> ops.add(tensor([[1], [2]]), tensor([10, 20])), ops.add.result_dtype((tensor([1]), 0.5, 1))
(tensor([[11, 21],
        [12, 22]]), torch.float32)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor.cpu.numpy_errstate import quietly, silence
from minitorch_compile.tensor.dispatch import complex_support
from minitorch_compile.tensor.dispatch.argument_devices import is_elsewhere
from minitorch_compile.tensor.dispatch.mixed_layouts import run_mixed
from minitorch_compile.tensor.dispatch.op import Array, Op, find
from minitorch_compile.tensor.dispatch.stored_only import refuse_stored
from minitorch_compile.tensor.dispatch.strided_results import wrap_as
from minitorch_compile.tensor.memory.elementwise_strides import elementwise_strides
from minitorch_compile.tensor.memory.strides import broadcast_sizes, contiguous_strides
from minitorch_compile.tensor.numerics.dtype import (
    BOOL,
    COMPLEX,
    FLOATING,
    FROM_NUMPY,
    INTEGER,
    bool_,
    dtype,
    dtype_of_scalar,
    float16,
    get_default_dtype,
    int64,
    result_dtype,
)
from minitorch_compile.tensor.numerics.rounding import (
    COUNTS_STEPS,
    EXACT_NUMBERS,
    HALF,
    NARROW,
    ROUNDS_ONCE,
    WIDE,
    WITH_ALPHA,
    computes_in,
    half_number,
    rounded,
    takes_as_it_is,
)
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, wrap

# Ops in which PyTorch takes a number as a constant of the formula, and not as a 0-d operand.
CONSTANT_NUMBERS = frozenset(("clamp", "pow"))
NUMBERS = (bool, int, float, complex, np.generic, SymInt, SymFloat)
SCALAR_CATEGORY = {bool: BOOL, int: INTEGER, float: FLOATING, complex: COMPLEX}
UNKNOWN = COMPLEX + 1
_ABSENT: Any = object()
_KEPT_BY_ALL = frozenset(d for d in FROM_NUMPY.values() if d.by_numpy and d.category != COMPLEX)
_FLOATS = frozenset(d for d in FROM_NUMPY.values() if d.category == FLOATING)
OPTIONS = (type(None), bool, str)  # of which each value may make a kernel refuse; of numbers, their type does

# How the dtype of a pointwise result follows from the common dtype of the arguments (PyTorch's promotion kinds).
DEFAULT, INT_TO_FLOAT, ALWAYS_BOOL, BOOL_TO_LONG = "default", "int-to-float", "always-bool", "bool-to-long"


class PointwiseOp(Op):
    """Element by element: arguments broadcast, dtypes promote, the result is dense in the arguments' order of
    dimensions."""

    kind = "pointwise"

    def __init__(self, kernel: Callable[..., Any], *, promotion: str = DEFAULT, **row: Any) -> None:
        super().__init__(kernel, **row)
        self.promotion = promotion
        self.of_tensors = kernel  # or what it comes to for one or two tensors alone, if that is a function of NumPy's
        annotations = [str(p.annotation) for p in self.own_signature.parameters.values()]
        self._tensors_only = [i for i, annotation in enumerate(annotations) if annotation == "Array"]  # and no number
        self._second_may_be_number = 1 not in self._tensors_only
        self._straightforward = _KEPT_BY_ALL if promotion is DEFAULT else _KEPT_BY_ALL & _FLOATS
        self._accepted: set[tuple[Any, ...]] = set()  # dtypes and numbers for which the kernel is known not to raise

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        """The dtype in which the kernel computes. TypeError for a number where only a tensor may stand."""
        for position in self._tensors_only:
            if bound[position] is not None or self.defaults[position] is not None:  # an optional one may be left out
                self.tensor_argument(bound, position)
        operands = [bound[i] for i in self.tensor_parameters if bound[i] is not None or self.defaults[i] is not None]
        common = common_dtype(operands, self.name)
        if not common.by_numpy:
            refuse_stored(self.name, common, operands)
        if self.promotion == INT_TO_FLOAT and common.category < FLOATING:
            return get_default_dtype()
        if self.promotion == BOOL_TO_LONG and common.category == BOOL:
            return int64
        if common.category == COMPLEX and self.name not in complex_support.POINTWISE:
            raise complex_support.unsupported(self.name, common)
        return common

    def result_dtype(self, bound: Sequence[Any]) -> dtype:
        common = self.common_dtype(bound)
        if self.promotion == ALWAYS_BOOL:
            return bool_
        return common.to_real() if self.name in complex_support.REAL_RESULTS else common

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """As Op.run; without keywords, the frequent case first."""
        return super().run(args, kwargs) if kwargs else self.run_plain(args)

    def run_plain(self, args: tuple[Any, ...]) -> Any:
        """Row-major tensors of one size and dtype, or one tensor and a number that doesn't widen it, go straight to the
        kernel; another call is run at length. This is what small programs spend their time in, so each line counts.
        """
        input, other = args if len(args) == 2 else (*args, _ABSENT) if len(args) == 1 else (None, _ABSENT)
        if not isinstance(input, TensorBase):
            return self._run_mixed(args)
        array = known_array(input) if input._array is None else input._array
        if array is None or not array.flags.c_contiguous:
            return self._run_mixed(args)
        element = input.dtype
        if element not in self._straightforward and (element is not float16 or not self._is_one_step(other)):
            return super().run_plain(args)
        try:
            if other is _ABSENT:
                value = silence.run(self.of_tensors, array)
            elif isinstance(other, TensorBase):
                operand = known_array(other) if other._array is None else other._array
                if operand is None or other.sizes != input.sizes or other.strides != input.strides:
                    return self._run_mixed(args)
                if other.dtype is not element:
                    return super().run_plain(args)
                value = silence.run(self.of_tensors, array, operand)
            elif self._second_may_be_number and SCALAR_CATEGORY.get(type(other), UNKNOWN) <= element.category:
                value = silence.run(self.kernel, array, other)
            else:
                return super().run_plain(args)
        except (OverflowError, TypeError):  # a number beyond a small integer dtype, or too many arguments
            return super().run_plain(args)
        if type(value) is not np.ndarray or value is array:
            value = np.array(value)  # NumPy makes a scalar of what is 0-d; a kernel such as floor may return its input
        result = object.__new__(TensorBase.concrete)  # as wrap_row_major does
        sizes = input.sizes
        result._array, result.sizes = value, sizes
        result.strides = self._row_major_strides(input, other) if 1 in sizes or 0 in sizes else input.strides
        result.dtype = element if value.dtype is array.dtype else FROM_NUMPY[value.dtype]
        return result

    def _run_mixed(self, args: tuple[Any, ...]) -> Any:
        """One or two tensors of one dtype go to the kernel at once, however they lie; another call is run at length."""
        if len(args) <= 2 and all(isinstance(x, TensorBase) and x.dtype is args[0].dtype for x in args):
            if args and args[0].dtype in self._straightforward and not any(map(is_elsewhere, args)):
                try:
                    return run_mixed(self.of_tensors, *args)
                except (TypeError, RuntimeError):  # no kernel for booleans, other arguments, sizes that don't fit
                    pass
        return super().run_plain(args)

    def _row_major_strides(self, input: TensorBase, other: Any) -> Sequence[int]:
        """The result's strides where sizes 0 or 1 leave them open: row-major, but a number lets odd ones be."""
        if other is _ABSENT or isinstance(other, TensorBase):
            return contiguous_strides(input.sizes)
        return elementwise_strides(input.sizes, self._layouts((input, other)))

    def eager(self, *bound: Any) -> TensorBase:
        common = self.common_dtype(bound)
        if common in HALF:
            return self._eager_in_float32(bound, common)
        if common in NARROW:
            return self._eager_in(computes_in(common), bound, common)
        return self._eager_in(common.numpy, bound, common)

    def _eager_in(self, target: np.dtype, bound: Sequence[Any], common: dtype) -> TensorBase:
        arrays, layouts = list(bound), []
        for i in self.tensor_parameters:
            value = bound[i]
            if isinstance(value, TensorBase):
                array = value.array
                if not array.flags.c_contiguous or value.strides != contiguous_strides(value.sizes):
                    layouts.append(i)
                arrays[i] = array if array.dtype == target else self._convert(array, target)
            elif value is not None:
                arrays[i] = number_as(value, target)
        result = np.asarray(self._run_kernel(bound, arrays))
        if common in NARROW:
            result = rounded(result, self.result_dtype(bound))
        if any(result is a for a in arrays):
            result = result.copy()
        return wrap(result) if not layouts else self._in_layout_of(bound, result)

    def _is_one_step(self, other: Any) -> bool:
        """Whether NumPy's arithmetic on float16 rounds once, and a number `other` may be a float16."""
        return self.name in ROUNDS_ONCE and not (self.name in EXACT_NUMBERS and type(other) in (int, float))

    def _eager_in_float32(self, bound: Sequence[Any], common: dtype) -> TensorBase:
        """On tensors of two bytes: numbers are first rounded to these, unless the op takes them as they are."""
        operands = self.half_operands(bound, common, _converted)
        as_they_are = self.name in COUNTS_STEPS or (self.name in ROUNDS_ONCE and common is float16)
        if as_they_are and all(is_of(x, common) for x in operands):
            return self._eager_in(common.numpy, operands, common)
        return self._eager_in(WIDE, operands, common)

    def half_operands(self, bound: Sequence[Any], common: dtype, convert: Callable[[Any, dtype], Any]) -> list[Any]:
        """The arguments, with numbers and 0-d tensors as tensors of two bytes hold them, if the op takes them so."""
        result = list(bound)
        if self.name in WITH_ALPHA and isinstance(bound[2], (int, float)) and bound[2] != 1:
            result[2] = half_number(bound[2], common)
        for i in self.tensor_parameters:
            if takes_as_it_is(self.name, i, bound[i]):
                continue
            if isinstance(bound[i], NUMBERS) and not isinstance(bound[i], SymInt):
                result[i] = half_number(bound[i], common)
            elif is_wider(bound[i]) or (self.name in COUNTS_STEPS and not is_of(bound[i], common)):
                result[i] = convert(bound[i], common)
        return result

    def _run_kernel(self, bound: Sequence[Any], arrays: Sequence[Any]) -> Any:
        try:
            return quietly(self.kernel, *arrays)
        except ValueError:
            broadcast_sizes(*(sizes for sizes, _ in self._layouts(bound)))  # says so in PyTorch's words if that is why
            raise

    def _convert(self, array: Array, target: np.dtype) -> Array:
        return array.astype(target)

    def _in_layout_of(self, bound: Sequence[Any], result: Array) -> TensorBase:
        return wrap_as(result, elementwise_strides(result.shape, self._layouts(bound)))

    def _layouts(self, bound: Sequence[Any]) -> list[tuple[Sequence[int], Sequence[int]]]:
        """The (sizes, strides) of the operands. A number is a 0-d one, except where PyTorch takes it as a constant."""
        layouts: list[tuple[Sequence[int], Sequence[int]]] = []
        for i in self.tensor_parameters[: len(bound)]:
            if isinstance(bound[i], TensorBase):
                layouts.append((bound[i].sizes, bound[i].strides))
            elif bound[i] is not None and self.name not in CONSTANT_NUMBERS:
                layouts.append(((), ()))
        return layouts

    def _check_kernel(self, bound: Sequence[Any]) -> None:
        """Raises what the kernel raises for arguments of these dtypes and for these options: tried on no elements."""
        key = tuple(x.dtype if isinstance(x, TensorBase) else (type(x), x if type(x) in OPTIONS else 0) for x in bound)
        if key in self._accepted or any(isinstance(x, SymInt) for x in bound):
            return
        self.eager(*(wrap(np.empty(0, x.dtype.numpy)) if isinstance(x, TensorBase) else x for x in bound))
        self._accepted.add(key)

    def meta_rule(self, *bound: Any) -> TensorBase:
        self._check_kernel([1.0 if isinstance(x, SymFloat) else x for x in bound])
        layouts = self._layouts(bound)
        sizes = broadcast_sizes(*(shape for shape, _ in layouts))
        return empty_fake(sizes, elementwise_strides(sizes, layouts), self.result_dtype(bound))


class WherePointwiseOp(PointwiseOp):
    """A pointwise op whose first tensor is a condition: it keeps its bool dtype and has no say in the result's."""

    run = Op.run
    run_plain = Op.run_plain

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """where(condition) alone asks for the places where it holds: nonzero(condition, as_tuple=True)."""
        if len(args) + len(kwargs) == 1:
            return find("nonzero")(*args, *kwargs.values(), as_tuple=True)
        return super().__call__(*args, **kwargs)

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        return common_dtype([bound[i] for i in self.tensor_parameters[1:]], self.name)

    def eager(self, *bound: Any) -> TensorBase:
        condition = self.tensor_argument(bound, self.tensor_parameters[0])
        if condition.dtype is not bool_:
            raise RuntimeError(
                f"{self.name}: expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}"
            )
        return super().eager(*bound)

    def _convert(self, array: Array, target: np.dtype) -> Array:
        return array if array.dtype == np.bool_ else array.astype(target)


def known_array(x: TensorBase) -> Array | None:
    """The window that a view keeps once somebody has looked through it; None if its elements are elsewhere, or read
    with other signs."""
    if not is_elsewhere(x):
        _ = x.array
    return x._array


def _converted(x: TensorBase, element: dtype) -> TensorBase:
    return wrap(x.array.astype(element.numpy))


def is_wider(value: Any) -> bool:
    """Whether an argument is a tensor of floats of more than two bytes."""
    return isinstance(value, TensorBase) and value.dtype.category == FLOATING and value.dtype not in HALF


def is_of(value: Any, element: dtype) -> bool:
    """Whether an argument is a tensor of that dtype, or none."""
    return value.dtype is element if isinstance(value, TensorBase) else value is None


def number_as(value: Any, target: np.dtype) -> np.generic:
    """A Python number as an element of that dtype. Integers outside its range wrap around, as in PyTorch.

    >>> number_as(-2, np.dtype(np.uint8))
    np.uint8(254)
    """
    try:
        return target.type(value)
    except OverflowError:
        wrapped: Any = np.asarray(value).astype(target)[()]
        return wrapped


def common_dtype(operands: Sequence[Any], name: str) -> dtype:
    """The dtype that PyTorch computes `operands` in: tensors and Python numbers, at least one a tensor."""
    first: dtype | None = None
    for value in operands:
        if isinstance(value, TensorBase):
            if first is None:
                first = value.dtype
            elif value.dtype is not first:
                break
        elif not isinstance(value, NUMBERS) or first is None or dtype_of_scalar(value).category > first.category:
            break
    else:
        if first is not None:
            return first
    return _promote(operands, name)


def _promote(operands: Sequence[Any], name: str) -> dtype:
    dims: list[dtype] = []
    zeros: list[dtype] = []
    scalars: list[dtype] = []
    for value in operands:
        if isinstance(value, TensorBase):
            (dims if value.sizes else zeros).append(value.dtype)
        elif isinstance(value, NUMBERS):
            scalars.append(dtype_of_scalar(value))
        else:
            raise TypeError(f"{name}(): expected a Tensor or a number, got {type(value).__name__}")
    return result_dtype(dims, zeros, scalars)
