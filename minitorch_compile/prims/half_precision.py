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
from minitorch_compile.tensor.dtype import bfloat16, float16, float32
from minitorch_compile.tensor.op import Op
from minitorch_compile.tensor.tensor_base import TensorBase

HALF = (float16, bfloat16)

# Ops of these kinds compute; the others move numbers, or are one prim, which rounds once anyway.
COMPUTING_KINDS = ("pointwise", "reduction", "scan", "normalization", "loss")
ROUNDS_ONCE = """
    abs add all amax amin any argmax argmin atan2 ceil clamp copysign cos div eq erf exp expm1 floor fmax fmin
    fmod ge gt isfinite isinf isnan isreal le log log1p logical_and logical_not logical_or logical_xor lt maximum
    minimum mul ne neg nextafter reciprocal relu remainder round rsqrt sign signbit sin sqrt square sub tanh trunc
    where running_extreme_indices
"""


def is_half(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.dtype in HALF


def computes_wider(op: Op, bound: Sequence[Any]) -> bool:
    """Whether the decomposition of this call is to be computed in float32 though it has half-precision arguments."""
    computes = op.kind in COMPUTING_KINDS and op.name not in ROUNDS_ONCE.split()
    return computes and any(is_half(leaf) for leaf in tree_leaves(list(bound)))


def in_float32(op: Op, rule: Callable[..., Any], bound: Sequence[Any]) -> Any:
    """What the rule makes of the arguments in float32, in the dtypes that the op's results have."""
    widened = map_aggregate(tuple(bound), lambda x: convert_element_type(x, float32) if is_half(x) else x)
    result, meant = rule(*widened), op.meta(*bound)
    if isinstance(result, TensorBase):
        return _in_dtype_of(meant, result)
    return tuple(map(_in_dtype_of, meant, result))


def _in_dtype_of(meant: TensorBase, result: TensorBase) -> Any:
    return result if result.dtype is meant.dtype else convert_element_type(result, meant.dtype)
