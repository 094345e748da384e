"""What an operation is, and the families that give it its shape rule.

An `Op` is declared once, by decorating its NumPy kernel; the `torch.*` function, the `Tensor` method, the in-place form
and the `nn.functional` name all are, or are made from, that one object. The decorator names the family; the family
knows how sizes, strides and dtype of the result follow from the arguments, so the row says only what is particular:

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

from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dtype import (
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGER,
    bool_,
    dtype,
    dtype_of_scalar,
    get_default_dtype,
    int64,
    result_dtype,
)
from minitorch_compile.tensor.strides import broadcast_sizes, elementwise_strides, wrap_dims
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, wrap

Array = np.ndarray
Tensor = Any  # the class comes later, with methods made from the table: nothing a type checker can see
Scalar = bool | int | float

TENSOR_ANNOTATION = re.compile(r"Array|Tensor")
SCALAR_CATEGORY = {bool: BOOL, int: INTEGER, float: FLOATING}

# How the dtype of a pointwise result follows from the common dtype of the arguments (PyTorch's promotion kinds).
DEFAULT, INT_TO_FLOAT, ALWAYS_BOOL, BOOL_TO_LONG = "default", "int-to-float", "always-bool", "bool-to-long"

table: dict[str, Op] = {}


class Op:
    """A named operation.

    Attributes: `name`; `kind`, its family; `kernel`, the decorated function; `parameters`, their names;
    `tensor_parameters`, the positions of those that are tensors; `namespaces`, where it appears ("torch", "method",
    "functional"). `recorded` is False for composite ops, which interpreters never see: they see the ops of the body.
    """

    kind = "op"
    recorded = True

    def __init__(
        self, kernel: Callable[..., Any], *, namespaces: Sequence[str], name: str = "", gather_dims: bool = False
    ) -> None:
        self.name = name or kernel.__name__
        self.kernel = kernel
        self.__name__ = self.name
        self.__doc__ = kernel.__doc__
        self.__module__ = kernel.__module__
        self.namespaces = frozenset(namespaces)
        self.gather_dims = gather_dims  # the method accepts x.view(2, 3) for x.view((2, 3))
        self.__signature__ = inspect.signature(kernel)
        parameters = self.__signature__.parameters
        self.parameters = tuple(parameters)
        self.defaults = tuple(p.default for p in parameters.values())
        self.required = sum(p.default is inspect.Parameter.empty for p in parameters.values())
        self.tensor_parameters = tuple(
            i for i, p in enumerate(parameters.values()) if TENSOR_ANNOTATION.search(str(p.annotation))
        )
        self._position = {name: i for i, name in enumerate(self.parameters)}

    def __repr__(self) -> str:
        return f"ops.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return find, (self.name,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return dispatch(self, args, kwargs)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All parameters in order, defaults filled in. TypeError for one too many, missing or unknown."""
        given = len(args)
        if not kwargs and self.required <= given <= len(self.parameters):
            return args if given == len(self.parameters) else args + self.defaults[given:]
        if given > len(self.parameters):
            raise TypeError(
                f"{self.name}() takes {len(self.parameters)} arguments {self.parameters} but {len(args)} were given"
            )
        values = [*args, *self.defaults[len(args) :]]
        for name, value in kwargs.items():
            position = self._position.get(name)
            if position is None:
                raise TypeError(
                    f"{self.name}() got an unexpected keyword argument '{name}'; it takes {', '.join(self.parameters)}"
                )
            if position < len(args):
                raise TypeError(f"{self.name}() got multiple values for argument '{name}'")
            values[position] = value
        for position, value in enumerate(values):
            if value is inspect.Parameter.empty:
                raise TypeError(f"{self.name}() missing 1 required argument: '{self.parameters[position]}'")
        return tuple(values)

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operation itself, below every interpreter."""
        bound = self.bind(args, kwargs)
        for position in self.tensor_parameters:
            if _holds_fake(bound[position]):
                return self.meta(*bound)
        return self.eager(*bound)

    def eager(self, *args: Any) -> Any:
        """The result on real data; `args` are all parameters in order."""
        raise NotImplementedError

    def meta(self, *args: Any, **kwargs: Any) -> Any:
        """The result as a fake tensor: its sizes, strides and dtype, without touching data."""
        return self.meta_rule(*self.bind(args, kwargs))

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


def _holds_fake(value: Any) -> bool:
    if isinstance(value, TensorBase):
        return value.storage.buffer is None
    return isinstance(value, (list, tuple)) and any(_holds_fake(item) for item in value)


# ---------------------------------------------------------------------------------------------------- pointwise


class PointwiseOp(Op):
    """Element by element: arguments broadcast, dtypes promote, the result is dense in the arguments' order of"
    " dimensions."""

    kind = "pointwise"

    def __init__(self, kernel: Callable[..., Any], *, promotion: str = DEFAULT, **row: Any) -> None:
        super().__init__(kernel, **row)
        self.promotion = promotion

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        """The dtype in which the kernel computes."""
        operands = [bound[i] for i in self.tensor_parameters if bound[i] is not None]
        common = common_dtype(operands, self.name)
        if self.promotion == INT_TO_FLOAT and common.category < FLOATING:
            return get_default_dtype()
        if self.promotion == BOOL_TO_LONG and common.category == BOOL:
            return int64
        return common

    def result_dtype(self, bound: Sequence[Any]) -> dtype:
        return bool_ if self.promotion == ALWAYS_BOOL else self.common_dtype(bound)

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """As Op.run; the frequent case, one dtype and row-major order, goes straight to the kernel."""
        bound = self.bind(args, kwargs)
        arrays = list(bound)
        first: dtype | None = None
        for position in self.tensor_parameters:
            value = bound[position]
            if not isinstance(value, TensorBase):
                if value is not None and (first is None or SCALAR_CATEGORY.get(type(value), COMPLEX) > first.category):
                    return super().run(args, kwargs)
                continue
            array = value._array
            if array is None or (value.dtype is not first and first is not None) or not array.flags.c_contiguous:
                return super().run(args, kwargs)
            first = value.dtype
            arrays[position] = array
        if first is None or (first.category < FLOATING and self.promotion != DEFAULT):
            return super().run(args, kwargs)
        with np.errstate(all="ignore"):
            return wrap(np.asarray(self.kernel(*arrays)))

    def eager(self, *bound: Any) -> TensorBase:
        arrays = list(bound)
        target = self.common_dtype(bound).numpy
        layouts = []
        for i in self.tensor_parameters:
            value = bound[i]
            if isinstance(value, TensorBase):
                array = value.array
                if not array.flags.c_contiguous:
                    layouts.append(i)
                arrays[i] = array if array.dtype == target else self._convert(array, target)
            elif value is not None:
                arrays[i] = target.type(value)
        with np.errstate(all="ignore"):
            result = np.asarray(self.kernel(*arrays))
        return wrap(result) if not layouts else self._in_layout_of(bound, result)

    def _convert(self, array: Array, target: np.dtype) -> Array:
        return array.astype(target)

    def _in_layout_of(self, bound: Sequence[Any], result: Array) -> TensorBase:
        return wrap_as(result, elementwise_strides(result.shape, self._layouts(bound)))

    def _layouts(self, bound: Sequence[Any]) -> list[tuple[Sequence[int], Sequence[int]]]:
        return [(bound[i].sizes, bound[i].strides) for i in self.tensor_parameters if isinstance(bound[i], TensorBase)]

    def meta_rule(self, *bound: Any) -> TensorBase:
        layouts = self._layouts(bound)
        sizes = broadcast_sizes(*(shape for shape, _ in layouts))
        return empty_fake(sizes, elementwise_strides(sizes, layouts), self.result_dtype(bound))


class WherePointwiseOp(PointwiseOp):
    """A pointwise op whose first tensor is a condition: it keeps its bool dtype and has no say in the result's."""

    run = Op.run

    def common_dtype(self, bound: Sequence[Any]) -> dtype:
        return common_dtype([bound[i] for i in self.tensor_parameters[1:] if bound[i] is not None], self.name)

    def eager(self, *bound: Any) -> TensorBase:
        condition = self.tensor_argument(bound, self.tensor_parameters[0])
        if condition.dtype is not bool_:
            raise RuntimeError(
                f"{self.name}: expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}"
            )
        return super().eager(*bound)

    def _convert(self, array: Array, target: np.dtype) -> Array:
        return array if array.dtype == np.bool_ else array.astype(target)


def common_dtype(operands: Sequence[Any], name: str) -> dtype:
    """The dtype that PyTorch computes `operands` in: tensors and Python numbers, at least one a tensor."""
    first: dtype | None = None
    for value in operands:
        if isinstance(value, TensorBase):
            if first is None:
                first = value.dtype
            elif value.dtype is not first:
                break
        elif first is None or dtype_of_scalar(value).category > first.category:
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
        elif isinstance(value, (bool, int, float, np.generic)):
            scalars.append(dtype_of_scalar(value))
        else:
            raise TypeError(f"{name}(): expected a Tensor or a number, got {type(value).__name__}")
    return result_dtype(dims, zeros, scalars)


def wrap_as(result: Array, strides: Sequence[int]) -> TensorBase:
    """A tensor of these values with just these strides (in elements): copied only if they lie otherwise in memory.

    The strides of size-1 dimensions make no difference to memory, but programs can read them, so they are kept as
    asked.
    """
    itemsize = result.itemsize
    lies_so = all(n == 1 or s * itemsize == b for n, s, b in zip(result.shape, strides, result.strides, strict=True))
    if not lies_so and result.size:
        ordered = empty_like_strides(result.shape, strides, result.dtype)
        np.copyto(ordered, result)
        result = ordered
    tensor = wrap(result)
    tensor.strides = tuple(strides)
    return tensor


def empty_like_strides(sizes: Sequence[int], strides: Sequence[int], element: np.dtype) -> Array:
    """An uninitialised array whose dimensions lie in memory in the order that `strides` (in elements) ask for."""
    order = sorted(range(len(sizes)), key=lambda d: (-strides[d], d))
    base = np.empty([sizes[d] for d in order], element)
    return base.transpose(np.argsort(order)) if order else base


# ---------------------------------------------------------------------------------------------------- reductions


class ReductionOp(Op):
    """Collapses dimensions. The row's parameters start with `input, dim, keepdim`; the kernel gets `dim` as a tuple.

    `dtype_rule` maps the input's dtype (and the `dtype` argument, if the op has one) to the result's.
    """

    kind = "reduction"

    def __init__(
        self, kernel: Callable[..., Any], *, dtype_rule: Callable[[dtype], dtype], empty: bool = True, **row: Any
    ) -> None:
        super().__init__(kernel, **row)
        self.dtype_rule = dtype_rule
        self.empty = empty  # whether the reduction of no elements has a value
        self._dtype_at = self._position.get("dtype")

    def _result_dtype(self, bound: Sequence[Any]) -> dtype:
        asked = bound[self._dtype_at] if self._dtype_at is not None else None
        return asked or self.dtype_rule(bound[0].dtype)

    def _dims(self, bound: Sequence[Any]) -> tuple[int, ...]:
        input = self.tensor_argument(bound, 0)
        dims = wrap_dims(bound[1], len(input.sizes))
        if not self.empty and any(input.sizes[d] == 0 for d in dims):
            raise IndexError(
                f"{self.name}(): Expected reduction dim to have non-zero size, got sizes {list(input.sizes)} and dim"
                f" {bound[1]}"
            )
        return dims

    def eager(self, *bound: Any) -> TensorBase:
        dims, result = self._dims(bound), self._result_dtype(bound)
        array = bound[0].array
        with np.errstate(all="ignore"):
            value = (
                self.kernel(array, dims, *bound[2:])
                if self._dtype_at is None
                else self.kernel(array.astype(result.numpy, copy=False), dims, *bound[2:])
            )
        return wrap(np.ascontiguousarray(np.asarray(value, dtype=result.numpy)).reshape(np.shape(value)))

    def meta_rule(self, *bound: Any) -> TensorBase:
        dims, keepdim = self._dims(bound), bound[self._position["keepdim"]]
        sizes = tuple(1 if d in dims else n for d, n in enumerate(bound[0].sizes) if keepdim or d not in dims)
        return empty_fake(sizes, None, self._result_dtype(bound))


# ---------------------------------------------------------------------------------------------------- views


class ViewOp(Op):
    """Looks at the same storage in another way. The decorated rule maps (input, ...) to (sizes, strides, offset)."""

    kind = "view"

    def eager(self, *bound: Any) -> TensorBase:
        input = self.tensor_argument(bound, 0)
        return input.as_view(*self.kernel(*bound))

    def meta_rule(self, *bound: Any) -> TensorBase:
        return self.eager(*bound)


# ---------------------------------------------------------------------------------------------------- the others


class KernelOp(Op):
    """Any other op with a kernel; its shape rule is written beside it: `@matmul.shape_rule`.

    The kernel's tensors are NumPy arrays (a list of arrays for a list of tensors); it returns an array or a tuple of
    arrays.
    """

    def __init__(self, kernel: Callable[..., Any], *, kind: str, **row: Any) -> None:
        super().__init__(kernel, **row)
        self.kind = kind
        self.shape_depends_on_data = False  # such an op can't be traced; its rule only checks the arguments
        self._rule: Callable[..., Any] | None = None

    def shape_rule(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the rule: parameters as the kernel's, tensors in, one fake tensor or a tuple of them out."""
        self._rule = rule
        return rule

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = self.bind(args, kwargs)
        promised = self.meta_rule(*bound)  # the rule also checks the arguments, for real tensors too
        arrays = list(bound)
        for i in self.tensor_parameters:
            if _holds_fake(bound[i]):
                return promised
            arrays[i] = _to_arrays(bound[i], self, i)
        with np.errstate(all="ignore"):
            result = self.kernel(*arrays)
        if isinstance(result, tuple):
            return tuple(wrap_as(np.asarray(r), p.strides) for r, p in zip(result, promised, strict=True))
        return wrap(result) if self.shape_depends_on_data else wrap_as(np.asarray(result), promised.strides)

    def meta_rule(self, *bound: Any) -> Any:
        if self._rule is None:
            raise NotImplementedError(f"{self.name}: declare its @{self.name}.shape_rule")
        return self._rule(*bound)


def _to_arrays(value: Any, op: Op, position: int) -> Any:
    if isinstance(value, TensorBase):
        return value.array
    if isinstance(value, (list, tuple)):
        return [_to_arrays(item, op, position) for item in value]
    if value is None:
        return None
    raise TypeError(
        f"{op.name}(): argument '{op.parameters[position]}' (position {position + 1}) must be Tensor, not"
        f" {type(value).__name__}"
    )


class FactoryOp(Op):
    """Makes a tensor out of no tensor. The kernel returns an array; the rule gives (sizes, dtype) from the same"
    " parameters."""

    kind = "creation"

    def __init__(self, kernel: Callable[..., Any], *, kind: str = "creation", **row: Any) -> None:
        super().__init__(kernel, **row)
        self.kind = kind
        self._rule: Callable[..., tuple[tuple[int, ...], dtype]] | None = None

    def shape_rule(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the rule: the kernel's parameters in, (sizes, dtype) out."""
        self._rule = rule
        return rule

    def eager(self, *bound: Any) -> TensorBase:
        return wrap(np.asarray(self.kernel(*bound)))

    def meta_rule(self, *bound: Any) -> TensorBase:
        assert self._rule is not None
        sizes, element = self._rule(*bound)
        return empty_fake(sizes, None, element)


class CompositeOp(Op):
    """Written in other ops. It has no kernel, derivative or lowering of its own: its body has them."""

    kind = "composite"
    recorded = False

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.kernel(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.kernel(*args, **kwargs)

    def meta_rule(self, *bound: Any) -> Any:
        return self.kernel(*bound)


class InplaceOp(Op):
    """`x.add_(y)`: stores the result of the functional op in its first argument, and counts the storage's version"
    " up."""

    kind = "inplace"

    def __init__(self, functional: Op, **row: Any) -> None:
        super().__init__(functional.kernel, name=f"{functional.name}_", **row)
        self.functional = functional
        self.gather_dims = functional.gather_dims

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        target = self.tensor_argument(args, 0)
        result = self.functional.run(args, kwargs)
        check_storable(self.name, target, result)
        if result.storage.buffer is not None and target.storage.buffer is not None:
            np.copyto(target.array, result.array, casting="unsafe")
        target.storage.version += 1
        return target

    def meta_rule(self, *bound: Any) -> TensorBase:
        check_storable(self.name, bound[0], self.functional.meta_rule(*bound))
        return bound[0]


def check_storable(name: str, target: TensorBase, result: TensorBase) -> None:
    """RuntimeError, in PyTorch's words, unless `result` may be written into `target` in place."""
    if result.sizes != target.sizes:
        raise RuntimeError(
            f"{name}: output with shape {list(target.sizes)} doesn't match the broadcast shape {list(result.sizes)}"
        )
    if result.dtype.category > target.dtype.category:
        raise RuntimeError(
            f"{name}: result type {result.dtype} can't be cast to the desired output type {target.dtype}"
        )
    if 0 in target.strides and any(n > 1 and s == 0 for n, s in zip(target.sizes, target.strides, strict=True)):
        raise RuntimeError(
            f"{name}: unsupported operation: more than one element of the written-to tensor refers to a single"
            " memory location. Please clone() it first."
        )
