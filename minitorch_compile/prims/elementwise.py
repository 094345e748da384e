"""What the prims leave to the decompositions: broadcasting, type promotion and Python numbers, made explicit.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, int64, ops
>>> program = lambda x: prims.add(*operands(ops.add, (x, 2.5, 1))[:2])
>>> print(trace(program, [empty_fake((3,), dtype=int64)]).graph.compact())
x -> add(convert_element_type(x, torch.float32), full((3,), 2.5, torch.float32))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import Rule, decomposes
from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.op import Scalar
from minitorch_compile.tensor.dispatch.pointwise_op import PointwiseOp, WherePointwiseOp, number_as
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, dtype, float64
from minitorch_compile.tensor.tensor_base import TensorBase


def elementwise(*of: PointwiseOp) -> Callable[[Rule], Rule]:
    """Declares the decomposition of pointwise ops by a rule for tensors of one dtype and equal sizes.

    Numbers in the place of tensors arrive as tensors; other parameters as they are; an argument left out as None.
    """

    def declare(rule: Rule) -> Rule:
        for op in of:
            decomposes(op)(_on_operands(op, rule))
        return rule

    return declare


def _on_operands(op: PointwiseOp, rule: Rule) -> Rule:
    @wraps(rule)  # so that the rule is found again from the table
    def decomposition(*bound: Any) -> Any:
        return rule(*operands(op, bound))

    return decomposition


def operands(op: PointwiseOp, bound: Sequence[Any]) -> list[Any]:
    """The arguments with every tensor parameter in the common dtype and sizes."""
    arguments = list(bound)
    sizes = broadcast_sizes(*(bound[i].sizes for i in op.tensor_parameters if isinstance(bound[i], TensorBase)))
    element = op.common_dtype(bound)
    for i in op.tensor_parameters:
        is_condition = isinstance(op, WherePointwiseOp) and i == op.tensor_parameters[0]
        if is_condition:
            arguments[i] = broadcast_to(bound[i], sizes)
        elif bound[i] is not None:
            arguments[i] = _operand(bound[i], sizes, element)
    return arguments


def _operand(value: Any, sizes: tuple[int, ...], element: dtype) -> Tensor:
    if not isinstance(value, Tensor):
        return constant(sizes, value, element)
    return broadcast_to(converted(value, element), sizes)


def converted(x: Tensor, element: dtype) -> Tensor:
    """x in that dtype: itself if it has it."""
    return x if x.dtype is element else prims.convert_element_type(x, element)


def copied(x: Tensor) -> Tensor:
    """A new tensor of the same value: free between prims, but a program that returns it doesn't return x itself."""
    return prims.convert_element_type(x, x.dtype)


def broadcast_to(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """x expanded to `sizes`: its dimensions are the last ones. Itself if it has these sizes."""
    if tuple(x.sizes) == tuple(sizes):
        return x
    lead = len(sizes) - len(x.sizes)
    return prims.broadcast_in_dim(x, tuple(sizes), tuple(range(lead, len(sizes))))


def constant(sizes: Sequence[int], value: Scalar, element: dtype) -> Tensor:
    """One value everywhere, given as the Python number that an element of the dtype is."""
    if isinstance(value, SymFloat) and element.category >= FLOATING:
        return broadcast_to(converted(unknown_float(value), element), sizes)
    if isinstance(value, SymInt):  # a count of elements that is not known yet
        number: Any = value
    else:
        number = float(value) if element.category == FLOATING else number_as(value, element.numpy).item()
    return prims.full(tuple(sizes), number, element)


def unknown_float(number: SymFloat) -> Tensor:
    """A float that is not known, as a 0-d tensor of float64."""
    if number.made_by is None:
        given: Tensor = number.origin
        return given
    function, *operands = number.made_by
    computed = prims.table[function.__name__.removeprefix("true")]
    return computed(*(unknown_float(x) if isinstance(x, SymFloat) else constant((), x, float64) for x in operands))


def number_like(x: Tensor, value: Scalar) -> Tensor:
    """A tensor like x with one value everywhere."""
    return constant(x.sizes, value, x.dtype)


def reshaped(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """x under other sizes: itself if it has them."""
    return x if tuple(x.sizes) == tuple(sizes) else prims.reshape(x, tuple(sizes))


def kept(reduced: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """The result of a reduction, with dimensions of size 1 where it collapsed `dims` if they are to be kept."""
    if not keepdim:
        return reduced
    sizes = list(reduced.sizes)
    for dim in dims:  # ascending, so that each is inserted where it stood
        sizes.insert(dim, 1)
    return reshaped(reduced, sizes)


def as_mask(x: Tensor) -> Tensor:
    """Where x is not 0, as a bool tensor."""
    return x if x.dtype is bool_ else prims.ne(x, number_like(x, 0))
