"""Numbers of two bytes: a decomposition computes with them in float32, and rounds its result once.

float16 has 11 significant bits, bfloat16 has 8. A formula of five steps that rounds to them at each would lose what it
gains by being careful; the kernels of the ops round once, and so do PyTorch's.

>>> from minitorch_compile.prims import decomposed
>>> from minitorch_compile.tensor import empty_fake, float16, ops
>>> for node in decomposed(ops.softmax, empty_fake((3,), None, float16), 0).find_nodes(op="call_function"):
...     if node.target.name == "convert_element_type":
...         print(node, node.args)
convert_element_type (x, torch.float32)
convert_element_type_1 (div, torch.float16)

Source: `elementwise_type_promotion_wrapper` in `torch/_prims_common/wrappers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.prims.pointwise import convert_element_type
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.symbolic import SymFloat
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.pointwise_op import PointwiseOp, is_wider
from minitorch_compile.tensor.numerics.dtype import dtype, float32
from minitorch_compile.tensor.numerics.rounding import (
    EXACT_NUMBERS,
    HALF,
    ROUNDS_ONCE,
    WITH_ALPHA,
    half_number,
    takes_as_it_is,
)
from minitorch_compile.tensor.tensor_base import TensorBase

# Ops of these kinds compute; the others move numbers, or are one prim, which rounds once anyway.
COMPUTING_KINDS = ("pointwise", "reduction", "scan", "normalization", "loss")


def is_half(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.dtype in HALF


def computes_wider(op: Op, bound: Sequence[Any]) -> bool:
    """Whether the decomposition of this call is to be computed in float32 though it has half-precision arguments."""
    if op.kind not in COMPUTING_KINDS or not any(is_half(leaf) for leaf in tree_leaves(list(bound))):
        return False
    if op.name in WITH_ALPHA:
        return bool(bound[2] != 1)
    if op.name in EXACT_NUMBERS and isinstance(op, PointwiseOp):
        common = op.common_dtype(bound)
        return common in HALF and any(
            takes_as_it_is(op.name, i, x) and _would_lose_digits(x, common) for i, x in enumerate(bound)
        )
    return op.name not in ROUNDS_ONCE


def _would_lose_digits(operand: Any, element: dtype) -> bool:
    if is_wider(operand) or isinstance(operand, SymFloat):
        return True
    return isinstance(operand, (int, float)) and half_number(operand, element) != operand


def in_float32(op: Op, rule: Callable[..., Any], bound: Sequence[Any]) -> Any:
    """What the rule makes of the arguments in float32, in the dtypes that the op's results have."""
    if isinstance(op, PointwiseOp) and (common := op.common_dtype(bound)) in HALF:
        bound = op.half_operands(bound, common, convert_element_type)
    widened = map_aggregate(tuple(bound), lambda x: convert_element_type(x, float32) if is_half(x) else x)
    result, meant = rule(*widened), op.meta(*bound)
    if isinstance(result, TensorBase):
        return _in_dtype_of(meant, result)
    return tuple(map(_in_dtype_of, meant, result))


def _in_dtype_of(meant: TensorBase, result: TensorBase) -> Any:
    return result if result.dtype is meant.dtype else convert_element_type(result, meant.dtype)
