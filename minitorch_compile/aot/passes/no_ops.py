"""Operations that give back what they got: x * 1, x - 0, copies, conversions to the same dtype, cat of one tensor, ...

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> program = lambda x: (-(-(x.clone() * 1 - 0.0))).pow(1).exp() + ops.cat([x.float() / 1.0])
>>> print(remove_no_ops(trace(program, [empty_fake((2, 3))]).graph).compact())
x -> add(exp(x), x)

Only what is exact for every input counts, NaN and the sign of zero included: x - 0.0 is x, but x + 0.0 is not, since
-0.0 + 0.0 is 0.0. And nothing may change that the caller sees: dtype and layout stay, and a result of the graph stays
a tensor of its own.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.aot.passes.node_facts import (
    CONVERSIONS,
    are_alike,
    has_known_sizes,
    is_prim,
    name_of,
    number_of,
    op_named,
    seen_by_caller,
    tensor_of,
)
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.memory.strides import is_contiguous
from minitorch_compile.tensor.numerics.dtype import FLOATING, INTEGER, dtype

Same = Callable[[Node], Any]  # the argument whose value the node has, whatever that is; None if there is none


def remove_no_ops(graph: Graph) -> Graph:
    """Users of an operation that changes nothing read its argument; sums over a single element become views."""
    result = copy.deepcopy(graph)
    results = seen_by_caller(result)
    for node in result.nodes:
        same = RULES.get(name_of(node))
        if same is None or node in results:
            continue
        source = same(node)
        if source is not None and are_alike(source, node):
            node.replace_all_uses_with(source)
        elif name_of(node) in SINGLE_ELEMENT and _reduces_single_elements(node):
            _replace_reduction(node)
    result.eliminate_dead_code()
    return result


# ---------------------------------------------------------------------------------------------- rules


def _first(node: Node) -> Any:
    return node.args[0]


def _factor(node: Node) -> Any:
    """x * 1 and 1 * x."""
    a, b = node.args[:2]
    return a if _is(b, 1) else b if _is(a, 1) else None


def _dividend(node: Node) -> Any:
    """x / 1, with no rounding asked for."""
    return node.args[0] if _is(node.args[1], 1) and len(node.args) == 2 else None


def _summand(node: Node) -> Any:
    """x + 0 for whole numbers; for others x + -0.0, in either order."""
    a, b = node.args[:2]
    if len(node.args) > 2:  # alpha
        return None
    return a if _is_zero(b, node, sign=-1) else b if _is_zero(a, node, sign=-1) else None


def _minuend(node: Node) -> Any:
    """x - 0."""
    return node.args[0] if len(node.args) == 2 and _is_zero(node.args[1], node, sign=1) else None


def _base(node: Node) -> Any:
    """x to the power of 1."""
    return node.args[0] if _is(node.args[1], 1) else None


def _argument_of_argument(node: Node) -> Any:
    """An operation that undoes itself, done twice."""
    inner = node.args[0]
    return inner.args[0] if name_of(inner) == name_of(node) else None


def _original(node: Node) -> Any:
    """A conversion to the same dtype; or back, from one that holds every value of the first."""
    source = node.args[0]
    inner = source.args[0] if name_of(source) in CONVERSIONS else None
    before, between, after = tensor_of(inner), tensor_of(source), tensor_of(node)
    if before is not None and between is not None and after is not None:
        if before.dtype is after.dtype and _holds(between.dtype, before.dtype):
            return inner
    return source


def _holds(wide: dtype, narrow: dtype) -> bool:
    """Whether each value of `narrow` comes back from a conversion to `wide`: both floats, or both signed integers."""
    same_kind = wide.category == narrow.category and wide.category in (INTEGER, FLOATING)
    signed = not any(str(each).endswith(("uint8", "bfloat16")) for each in (wide, narrow))
    return same_kind and signed and wide.itemsize >= narrow.itemsize


def _only_tensor(node: Node) -> Any:
    """cat of a single tensor."""
    return node.args[0][0] if len(node.args[0]) == 1 else None


def _either_way(node: Node) -> Any:
    """where(condition, x, x), maximum(x, x)."""
    a, b = node.args[-2:]
    return a if a is b else None


def _is(argument: object, value: int) -> bool:
    return number_of(argument) == value


def _is_zero(argument: object, node: Node, sign: int) -> bool:
    """Whether adding the number (or, for sign 1, subtracting it) leaves every value of the node's dtype as it was."""
    number, val = number_of(argument), tensor_of(node)
    if number is None or number != 0 or val is None:
        return False
    return val.dtype.category == INTEGER or math.copysign(1, number) == sign


RULES: dict[str, Same] = {
    "mul": _factor,
    "div": _dividend,
    "add": _summand,
    "sub": _minuend,
    "pow": _base,
    "neg": _argument_of_argument,
    "bitwise_not": _argument_of_argument,
    "logical_not": _argument_of_argument,
    "to_copy": _original,
    "convert_element_type": _original,
    "clone": _first,
    "contiguous_copy": _first,
    "cat": _only_tensor,
    "where": _either_way,
    "maximum": _either_way,
    "minimum": _either_way,
    **dict.fromkeys(("sum", "prod", "amax", "amin"), lambda node: None),
}


# ---------------------------------------------------------------------------------------------- reductions

SINGLE_ELEMENT = ("sum", "prod", "amax", "amin")


def _reduces_single_elements(node: Node) -> bool:
    """Whether each result is made from exactly one element of the same dtype."""
    before, after = tensor_of(node.args[0]), tensor_of(node)
    if before is None or after is None or before.dtype is not after.dtype or not has_known_sizes(before):
        return False
    kept = lambda x: [n for n in x.sizes if n != 1]
    in_order = all(is_contiguous(x.sizes, x.strides) for x in (before, after))
    return kept(before) == kept(after) and (in_order or is_prim(node))


def _replace_reduction(node: Node) -> None:
    """The argument under the result's sizes. A sum begins with 0.0, and -0.0 + 0.0 is 0.0: that addition stays."""
    source, val = node.args[0], node.meta["val"]
    with node.graph.inserting_before(node):
        view = node.graph.call_function(
            op_named("reshape" if is_prim(node) else "view", node), (source, tuple(val.sizes))
        )
        view.meta = dict(node.meta)
        result = view
        if name_of(node) == "sum" and val.dtype.category == FLOATING:
            result = node.graph.call_function(op_named("add", node), (view, _zero(node)))
            result.meta = dict(node.meta)
    node.replace_all_uses_with(result)


def _zero(node: Node) -> Any:
    if not is_prim(node):
        return 0.0
    val = node.meta["val"]
    zero = node.graph.call_function(op_named("full", node), (tuple(val.sizes), 0.0, val.dtype))
    zero.meta = dict(node.meta)
    return zero
