"""The table of decompositions: for each op, a function that says the same in simpler ops.

>>> from minitorch_compile.prims import decompositions
>>> from minitorch_compile.tensor import ops
>>> rule_of(ops.softmax).__doc__
'exp(x - max) / sum, where the maximum keeps exp from overflowing.'
>>> rule_of(ops.argwhere)
Traceback (most recent call last):
NotImplementedError: decompose: ops.argwhere has no decomposition: the size of its result depends on the data; ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.op import Op

Rule = Callable[..., Any]

_table: dict[Op, Rule] = {}
_refusals: dict[Op, str] = {}


def decomposes(*of: Op) -> Callable[[Rule], Rule]:
    """Declares the decorated function to be the decomposition of these ops.

    It gets all parameters of the op in order, with defaults filled in, and is written in other ops or in prims.
    """

    def declare(rule: Rule) -> Rule:
        for op in of:
            if op in _table:
                raise ValueError(f"decomposes: {op!r} already has a decomposition; register_decomposition replaces it")
            _table[op] = rule
        return rule

    return declare


def register_decomposition(op: Op, rule: Rule) -> None:
    """Sets or replaces the decomposition of an op, from outside of this package."""
    if not isinstance(op, Op):
        raise TypeError(f"register_decomposition: op must be an Op such as ops.softmax, but got {op!r}")
    if op.kind in ("composite", "inplace"):
        raise ValueError(
            f"register_decomposition: {op!r} is {op.kind}, so it never reaches a graph of ops; register its parts"
        )
    _table[op] = rule


def refuses(*of: Op, because: str) -> None:
    """Declares that these ops have no decomposition, and why."""
    for op in of:
        _refusals[op] = because


def has_rule(op: Op) -> bool:
    return op in _table


def refusal_of(op: Op) -> str | None:
    """Why the op has no decomposition, if that was declared."""
    return _refusals.get(op)


def rule_of(op: Op) -> Rule:
    """The decomposition of an op. NotImplementedError, with the reason, if it has none."""
    if op not in _table:
        reason = _refusals.get(op, "declare one with @decomposes, or register_decomposition(op, rule)")
        raise NotImplementedError(f"decompose: {op!r} has no decomposition: {reason}")
    return _table[op]
