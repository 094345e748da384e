"""`torch.fx.experimental.symbolic_shapes`: questions about sizes that may be expressions.

Comparing sizes gives a bool here: what is not known is decided by the sizes that are seen, and guarded. So a comparison
that is passed on is known by then.

>>> from minitorch_compile.symbolic import ShapeEnv
>>> env = ShapeEnv()
>>> n = env.create(8)
>>> [str(symbol) for symbol in free_symbols([n * 2, 3])], is_concrete_int(n), is_concrete_int(3)
(['s0'], False, True)
>>> statically_known_true(3 > 2), guard_or_false(3 > 4)
(True, False)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.pytree import tree_leaves
from minitorch_compile.symbolic import GuardOnDataDependentSymNode, SymInt, is_unbacked
from minitorch_compile.tensor.tensor_base import TensorBase


def _numbers(value: Any) -> list[Any]:
    """All sizes, strides and numbers in a value."""
    leaves = tree_leaves(value)
    found = [leaf for leaf in leaves if not isinstance(leaf, TensorBase)]
    return found + [n for leaf in leaves if isinstance(leaf, TensorBase) for n in (*leaf.sizes, *leaf.strides)]


def free_symbols(val: Any) -> set[Any]:
    """The unknown sizes that occur in numbers, tensors and containers of them."""
    return {symbol for number in _numbers(val) if isinstance(number, SymInt) for symbol in number.expression.symbols}


def free_unbacked_symbols(x: Any) -> set[Any]:
    """Those of them that the data decide."""
    numbers = [number for number in _numbers(x) if isinstance(number, SymInt) and is_unbacked(number)]
    return free_symbols(numbers)


def has_free_symbols(val: Any) -> bool:
    """Whether there is any unknown size."""
    return bool(free_symbols(val))


def has_free_unbacked_symbols(x: Any) -> bool:
    """Whether there is one that the data decide."""
    return bool(free_unbacked_symbols(x))


def is_concrete_int(a: Any) -> bool:
    """Whether it is a number, and no expression."""
    return not isinstance(a, SymInt)


def has_static_value(a: Any) -> bool:
    """The same."""
    return is_concrete_int(a)


def guard_int(a: Any) -> int:
    """The number that is seen; what is compiled is for that number only."""
    return int(a)


def guard_bool(a: Any) -> bool:
    """The truth value that is seen."""
    return bool(a)


def guard_or_false(a: Any) -> bool:
    """The truth value; False where it can't be told."""
    return _told(a, False)


def guard_or_true(a: Any) -> bool:
    """The truth value; True where it can't be told."""
    return _told(a, True)


def _told(a: Any, otherwise: bool) -> bool:
    try:
        return bool(a)
    except GuardOnDataDependentSymNode:
        return otherwise


def guard_size_oblivious(expr: Any) -> bool:
    """The truth value; False where it can't be told."""
    return _told(expr, False)


def statically_known_true(x: Any) -> bool:
    """Whether it is known that it is so."""
    return _told(x, False)


def statically_known_false(x: Any) -> bool:
    """Whether it is known that it isn't so."""
    return not guard_or_true(x)


def sym_eq(x: Any, y: Any) -> bool:
    """Whether two numbers, or sequences of numbers, are equal."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(sym_eq(a, b) for a, b in zip(x, y))
    return bool(x == y)


def sym_and(x: Any, *others: Any) -> bool:
    """Whether all hold."""
    return all((x, *others))


def sym_or(x: Any, *others: Any) -> bool:
    """Whether any holds."""
    return any((x, *others))


__all__ = [
    "GuardOnDataDependentSymNode",
    "free_symbols",
    "free_unbacked_symbols",
    "guard_bool",
    "guard_int",
    "guard_or_false",
    "guard_or_true",
    "guard_size_oblivious",
    "has_free_symbols",
    "has_free_unbacked_symbols",
    "has_static_value",
    "is_concrete_int",
    "statically_known_false",
    "statically_known_true",
    "sym_and",
    "sym_eq",
    "sym_or",
]
