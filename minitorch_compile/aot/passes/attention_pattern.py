"""Attention, recognised in a graph of ops: which products, scale and mask a softmax belongs to.

People write attention in many ways; as a graph of ops they differ little. From a softmax over the last dimension one
goes up, through views that regroup the leading dimensions,

    softmax <- a mask (where, add) <- a scale (mul, div) <- bmm(query, key^T)

and down, through views, to the `bmm` with the values. `find_attention` follows this path and says what it met, or
raises `NoAttention` with the reason why a softmax is something else.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> def program(q, k, v):
...     return ops.softmax(ops.masked_fill(q @ k.transpose(-2, -1) / 2, ops.tril(ops.ones(3, 3)) == 0, -100.0), -1) @ v
>>> graph = trace(program, [empty_fake((2, 4, 3, 4))] * 3).graph
>>> found = find_attention(graph.find_nodes(op="call_function", target=ops.softmax)[0])
>>> found.scale, found.fill, found.is_causal, found.leading, found.result.name
(0.5, -100.0, False, (2, 4), 'bmm_1')

Nothing in between may have another reader, for then the scores are needed all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.aot.aliasing.overwritten_values import KEY
from minitorch_compile.aot.passes.node_facts import has_known_sizes, is_view, name_of, number_of, tensor_of
from minitorch_compile.aot.passes.triangle_facts import hides_later_places, shows_earlier_places
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.memory.strides import is_contiguous, numel
from minitorch_compile.tensor.numerics.dtype import bool_, float32, float64

NOTHING = -math.inf


class NoAttention(Exception):
    """Why a softmax isn't one of attention."""


@dataclass
class Attention:
    """What was found. `leading` are the sizes (N, H) before those of the matrices; `mask` may have fewer dimensions
    than the scores, which have `mask_ndim` where it is put. `covered` are the nodes that are not needed any more."""

    result: Node
    product: Node
    leading: tuple[int, int] = (1, 1)
    mask: Node | None = None
    mask_ndim: int = 4
    hides: bool = False  # the bool mask is True where a score is hidden
    scale: float = 1.0
    fill: float = NOTHING
    is_causal: bool = False
    zero_rows: bool = False
    covered: list[Node] = field(default_factory=list)


def find_attention(softmax: Node) -> Attention:
    """The attention around a softmax. NoAttention if there is none."""
    value = tensor_of(softmax)
    if value is None or value.dtype not in (float32, float64) or not has_known_sizes(value):
        raise NoAttention("its sizes or its dtype are not known, or not those of a kernel")
    ndim = len(value.sizes)
    if softmax.args[1] not in (-1, ndim - 1) or ndim < 3 or numel(value.sizes) == 0 or len(softmax.args) > 2:
        raise NoAttention("it is not over the last dimension of a batch of matrices")
    weights, scores = _around_blind_rows(softmax)
    found = Attention(result=softmax, product=softmax, zero_rows=weights is not softmax, covered=[softmax])
    if found.zero_rows:
        found.covered.append(weights)
    _follow_down(found, weights)
    _follow_up(found, scores)
    _check_alike(found)
    return found


def value_of(node: Any) -> Any:
    """The fake of a node whose value is a tensor. NoAttention for anything else."""
    value = tensor_of(node)
    if value is None:
        raise NoAttention("one of its arguments is no tensor")
    return value


def _around_blind_rows(softmax: Node) -> tuple[Node, Any]:
    """The weights and the scores: `scaled_dot_product_attention` has zeros in rows in which all scores are -inf."""
    inner: Any = softmax.args[0]
    if name_of(inner) != "where" or number_of(inner.args[1]) != 0:
        return softmax, inner
    blind, _, scores = inner.args
    outer: Any = next(iter(softmax.users))
    top: Any = blind.args[0] if name_of(blind) == "eq" and number_of(blind.args[1]) == NOTHING else None
    is_maximum = name_of(top) == "amax" and (top.args[0] is scores) and top.args[1:] in ((-1, True), ((-1,), True))
    gives_zeros = name_of(outer) == "where" and outer.args[0] is blind and number_of(outer.args[1]) == 0
    if not is_maximum or not gives_zeros or outer.args[2] is not softmax:
        return softmax, inner
    readers = {scores: {top, inner}, top: {blind}, blind: {inner, outer}, inner: {softmax}, softmax: {outer}}
    if any(set(node.users) != users for node, users in readers.items()):
        raise NoAttention("the scores are used elsewhere, too")
    return outer, scores


def _follow_down(found: Attention, weights: Node) -> None:
    """From the weights to their product with the values."""
    last = weights
    while True:
        if len(last.users) != 1:
            raise NoAttention("the weights are used elsewhere, too")
        (user,) = last.users
        if name_of(user) == "bmm" and user.args[0] is last and user.args[1] is not last:
            break
        if not _is_plain_view(user):
            raise NoAttention(f"the weights go into {user.target}, not into a batch of matrix products")
        found.covered.append(user)
        last = user
    _check_regroups(weights, last)
    found.result = user
    found.covered.append(user)


def _follow_up(found: Attention, scores: Any) -> None:
    """From the scores to the product that makes them."""
    expected = 2 if found.zero_rows else 1
    while True:
        sizes = value_of(scores).sizes
        if scores.op != "call_function":
            raise NoAttention("the scores are no product")
        if len(scores.users) != expected:
            raise NoAttention("the scores are used elsewhere, too")
        expected = 1
        found.covered.append(scores)
        if len(sizes) == 4:
            found.leading = (sizes[0], sizes[1])
        if name_of(scores) == "bmm":
            found.product = scores
            return
        scores = _above(found, scores)


def _above(found: Attention, node: Node) -> Any:
    """What a step was applied to, after it has been noted."""
    name, numbers = name_of(node), [number_of(argument) for argument in node.args]
    if _is_plain_view(node):
        return _base(found, node)
    if name in ("mul", "div") and len(node.args) == 2 and (numbers[1] is not None or (name == "mul" and numbers[0])):
        place = 1 if numbers[1] is not None else 0
        return _scaled(found, node, node.args[1 - place], numbers[place])
    if name == "where" and (numbers[1] is not None or numbers[2] is not None):
        return _hidden(found, node, numbers)
    if name == "add" and len(node.args) == 2:
        return _added(found, node)
    raise NoAttention(f"between the product and the softmax is {node.target}")


def _is_plain_view(node: Any) -> bool:
    return isinstance(node, Node) and is_view(node) and name_of(node) != "detach"


def _base(found: Attention, node: Node) -> Node:
    """What a chain of views shows, if that is all of it, in the same order."""
    base: Any = node.args[0]
    while _is_plain_view(base):
        if len(base.users) != 1:
            raise NoAttention("the scores are used elsewhere, too")
        found.covered.append(base)
        base = base.args[0]
    _check_regroups(base, node)
    return base


def _check_regroups(before: Any, after: Any) -> None:
    """NoAttention unless views leave the matrices, the last two dimensions, as they are: then both are row-major."""
    x, y = value_of(before), value_of(after)
    in_order = x is y or (is_contiguous(x.sizes, x.strides) and is_contiguous(y.sizes, y.strides))
    if not in_order or numel(x.sizes) != numel(y.sizes) or x.sizes[-2:] != y.sizes[-2:]:
        raise NoAttention("views turn the scores around, or leave some of them out")


def _scaled(found: Attention, node: Node, scores: Any, number: Any) -> Any:
    """scores * number, or divided by it. What was met below, a mask or a fill, is not scaled: it came later."""
    if not math.isfinite(number) or number == 0:
        raise NoAttention(f"the scores are scaled by {number}")
    found.scale = found.scale / number if name_of(node) == "div" else found.scale * number
    return scores


def _hidden(found: Attention, node: Node, numbers: list[Any]) -> Any:
    """where(shown, scores, number) or where(hidden, number, scores)."""
    condition = node.args[0]
    place = 1 if numbers[1] is not None else 2
    scores, fill = node.args[3 - place], float(numbers[place])
    _check_size(node, scores)
    if found.mask is not None or found.is_causal or found.scale != 1.0 or math.isnan(fill):
        raise NoAttention("a mask is followed by another one or by a scale")
    if value_of(condition).dtype is not bool_:
        raise NoAttention("the condition of a mask is not bool")
    rows, columns = value_of(scores).sizes[-2:]
    causal = (
        hides_later_places(condition, rows, columns) if place == 1 else shows_earlier_places(condition, rows, columns)
    )
    if causal and fill == NOTHING:
        found.is_causal = True
    else:
        found.mask, found.hides, found.fill = condition, place == 1, fill
        found.mask_ndim = len(value_of(scores).sizes)
    return scores


def _added(found: Attention, node: Node) -> Any:
    """scores + mask, in either order: the scores are what has a product above it."""
    if found.mask is not None or found.scale != 1.0:
        raise NoAttention("a mask is followed by another one or by a scale")
    for scores, mask in (node.args, node.args[::-1]):
        if _comes_from_product(scores) and tensor_of(mask) is not None:
            _check_size(node, scores)
            if value_of(mask).dtype is not value_of(node).dtype:
                raise NoAttention("the mask has another dtype")
            if may_require_grad(mask):
                raise NoAttention("the mask is trained: its gradient is as large as the scores")
            found.mask, found.mask_ndim = mask, len(value_of(scores).sizes)
            return scores
    raise NoAttention("the scores are no product")


def _comes_from_product(node: Any) -> bool:
    while isinstance(node, Node) and (_is_plain_view(node) or name_of(node) in ("mul", "div", "where")):
        places = (2, 1) if name_of(node) == "where" else (0, 1)
        node = next((node.args[i] for i in places if number_of(node.args[i]) is None), None)
    return name_of(node) == "bmm"


def _check_size(node: Node, scores: Any) -> None:
    before, after = tensor_of(scores), tensor_of(node)
    if before is None or after is None or before.sizes != after.sizes or before.dtype is not after.dtype:
        raise NoAttention("a mask makes more of the scores than there were")


def may_require_grad(node: Any) -> bool:
    """Whether a gradient may be wanted for the value: it depends on an argument that requires grad."""
    waiting, seen = [node], set()
    while waiting:
        source = waiting.pop()
        if source in seen:
            continue
        seen.add(source)
        if source.op == "placeholder" and getattr(source.meta.get("val"), "requires_grad", False):
            return True
        waiting += source.all_input_nodes
    return False


def _check_alike(found: Attention) -> None:
    """All of it must be recorded for gradients or none of it, and belong to one checkpointed region."""
    sides = {("no_grad" in node.meta, node.meta.get("checkpoint_region")) for node in found.covered}
    if len(sides) > 1:
        raise NoAttention("part of it runs under no_grad, or in another checkpointed region")
    if any(KEY in node.meta for node in found.covered) and may_require_grad(found.result):
        raise NoAttention("a value in between, which its gradient may need, is overwritten later")
    if numel(found.leading) != value_of(found.product).sizes[0]:
        found.leading = (value_of(found.product).sizes[0], 1)
