"""What a graph depends on in a tensor, as guards.

>>> from minitorch_compile.dynamo.guards.source import LocalSource
>>> from minitorch_compile.tensor import ones
>>> for guard in tensor_match(LocalSource("x"), ones(2, 3), Namespace())[:4]:
...     print(guard.code)
type(x) is Tensor
x.sizes == (2, 3)
x.strides == (3, 1)
x.dtype is float32
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.dynamo.guards.guards import About, Guard
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.tensor.dispatch.overrides import PLAIN
from minitorch_compile.tensor.tensor_base import TensorBase

# What autograd knows of a tensor. A view whose base was overwritten learns only when it is used that it has a history.
REQUIRES_GRAD = "({0}._requires_grad or {0}.requires_grad)"
# Which writes autograd allows depends on the tensor that a view shows: it is asked about where there is one.
NO_GRAD = "{0}._requires_grad is False"
REQUIRES_NO_GRAD = f"{NO_GRAD} and ({{0}}.base is None or not ({{0}}.is_outdated or {{0}}.base._requires_grad))"
# A view that was there before its base required grad: operations on it are recorded, but no gradient arrives there.
BASE_REQUIRES_GRAD = f"{NO_GRAD} and {{0}}.base is not None and {{0}}.base._requires_grad"
LEAF = "{0}.grad_fn is None and {0}.base is None"
VIEW_LEAF = "{0}.grad_fn is None and {0}.base is not None and not {0}.is_outdated"
NO_LEAF = "({0}.grad_fn is not None or {0}.is_outdated)"


def tensor_match(source: Source, x: TensorBase, names: Namespace, layout: Any = None) -> list[Guard]:
    """Everything a graph depends on: class, sizes, strides, dtype, device, requires_grad. Most often failing first.

    `layout` has the sizes and strides if some are not known; those are guarded when the frame has been traced.
    """
    dtype = names.install(x.dtype, x.dtype.name)
    device = names.install(x.device, str(x.device))
    checks = [
        (f"type({{0}}) is {names.install(type(x), type(x).__name__)}", "", type(x).__name__),
        *(_known_checks(x, layout) if layout is not None else _layout_checks(x, names)),
        (f"{{0}}.dtype is {dtype}", "dtype", repr(x.dtype)),
        (_gradient_check(x), "requires_grad", str(bool(x.requires_grad))),
        (f"({{0}}.device is {device} or {{0}}.device == {device})", "device", str(x.device)),
    ]
    if x.requires_grad and not _is_parameter(x):  # a parameter is always a leaf
        leaf = LEAF if x.base is None else VIEW_LEAF
        checks.append((leaf if x.is_leaf else NO_LEAF, "is_leaf", str(x.is_leaf)))
    return [
        Guard(source, "TENSOR_MATCH", check, expected, actual=_property_text(field), about=About.OBJECT)
        for check, field, expected in checks
    ]


def _gradient_check(x: TensorBase) -> str:
    if not x.requires_grad:
        return REQUIRES_NO_GRAD
    if x.base is None or not x.is_leaf:
        return REQUIRES_GRAD
    return "{0}._requires_grad" if x._requires_grad else BASE_REQUIRES_GRAD


def _property_text(field: str) -> str:
    return f"{{0}}.{field}" if field else "type({0})"


def _is_parameter(x: TensorBase) -> bool:
    return type(x) is not TensorBase.concrete and type(x) in PLAIN


def _layout_checks(x: TensorBase, names: Namespace) -> list[tuple[str, str, str]]:
    return [(_layout_check(x, field, names), field, str(tuple(getattr(x, field)))) for field in ("sizes", "strides")]


def _known_checks(x: TensorBase, layout: Any) -> list[tuple[str, str, str]]:
    """The number of dimensions, and those sizes and strides that are known."""
    checks = [(f"len({{0}}.sizes) == {len(x.sizes)}", "sizes", f"{len(x.sizes)} dimensions")]
    for field, values in (("sizes", layout.sizes), ("strides", layout.strides)):
        known = [(dim, value) for dim, value in enumerate(values) if type(value) is int]
        checks += [(f"{{0}}.{field}[{dim}] == {value}", f"{field}[{dim}]", str(value)) for dim, value in known]
    return checks


def _layout_check(x: TensorBase, field: str, names: Namespace) -> str:
    """Equal sizes or strides. Those of a parameter stay the same object, which is quicker to see."""
    value = getattr(x, field)
    equal = f"{{0}}.{field} == {tuple(value)}"
    return f"({{0}}.{field} is {names.install(value, field)} or {equal})" if _is_parameter(x) else equal
