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

import inspect
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.op import Op

Rule = Callable[..., Any]

_table: dict[Op, Rule] = {}
_refusals: dict[Op, str] = {}
_partial_refusals: dict[Op, Callable[[Sequence[Any]], str | None]] = {}


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


def register_decomposition(
    op: Op | Collection[Op], registry: MutableMapping[Op, Rule] | None = None
) -> Callable[[Rule], Rule]:
    """Declares the decorated function to be the decomposition of an op, or of each of several, from outside of this
    package. It replaces the one that there was.

    `registry`: another table than that of the package, to be given to `decompose(graph, decompositions=registry)`.
    TypeError for what is not an op, or for a function that can't take the op's parameters; ValueError for an op that
    never reaches a graph.

    >>> from minitorch_compile.tensor import ops
    >>> mine = {}
    >>> @register_decomposition([ops.relu], mine)
    ... def _(x):
    ...     return (x + abs(x)) / 2
    >>> list(mine)
    [ops.relu]

    Source: `torch._decomp.register_decomposition`.
    """
    of: list[Any] = list(op) if isinstance(op, (list, tuple, set, frozenset)) else [op]

    def declare(rule: Rule) -> Rule:
        for each in of:
            check_may_decompose("register_decomposition", each, rule)
        (_table if registry is None else registry).update(dict.fromkeys(of, rule))
        return rule

    return declare


def check_may_decompose(caller: str, op: Any, rule: Any) -> None:
    """TypeError or ValueError unless the rule can be a decomposition of that op."""
    if not isinstance(op, Op):
        raise TypeError(f"{caller}: op must be an Op such as torch.relu, but got {op!r}")
    if op.kind in ("composite", "inplace"):
        raise ValueError(f"{caller}: {op!r} is {op.kind}, so it never reaches a graph of ops; register its parts")
    if "prims" in op.namespaces:
        raise ValueError(f"{caller}: {op!r} is a prim, which is not decomposed any further")
    if not callable(rule):
        raise TypeError(f"{caller}: the decomposition of {op!r} must be a function, but got {rule!r}")
    takes = inspect.signature(getattr(rule, "kernel", rule))  # of an op, what it takes by position
    try:
        takes.bind(*op.parameters)
    except TypeError:
        raise TypeError(
            f"{caller}: the decomposition of {op!r} gets all its parameters in order, ({', '.join(op.parameters)}),"
            f" but takes {takes}"
        ) from None


def refuses(*of: Op, because: str) -> None:
    """Declares that these ops have no decomposition, and why."""
    for op in of:
        _refusals[op] = because


def refuses_if(op: Op, reason_of: Callable[[Sequence[Any]], str | None]) -> None:
    """Declares that some calls of an op have no decomposition: those for whose parameters the function has a reason."""
    _partial_refusals[op] = reason_of


def complex_numbers_have_no_order(bound: Sequence[Any]) -> str | None:
    """A reason for ops that compare elements, which their kernels in main memory do part by part."""
    is_complex = any(getattr(getattr(x, "dtype", None), "is_complex", False) for x in bound)
    return "kernels put no complex numbers in order" if is_complex else None


def refusal_of_call(op: Op, bound: Sequence[Any]) -> str | None:
    """Why this call, given by all parameters of the op, can't be decomposed, if it can't."""
    return _partial_refusals[op](bound) if op in _partial_refusals else refusal_of(op)


def beyond_prims(op: Op, args: Sequence[Any]) -> bool:
    """Whether a call can't be written in prims, for a reason that the table gives.

    A backend that keeps such calls runs them as they are, between what it compiles.
    """
    return refusal_of_call(op, args) is not None


def refuses_some(op: Op) -> bool:
    """Whether some calls of the op have no decomposition, though others have."""
    return op in _partial_refusals


def has_rule(op: Op) -> bool:
    return op in _table


def refusal_of(op: Op) -> str | None:
    """Why the op has no decomposition, if that was declared."""
    return None if op in _table else _refusals.get(op)


def rule_of(op: Op, bound: Sequence[Any] = (), instead: Mapping[Op, Rule] | None = None) -> Rule:
    """The decomposition of a call: that of `instead`, or of the table. NotImplementedError, with the reason, if it has
    none."""
    if instead and op in instead:
        return instead[op]
    reason = refusal_of_call(op, bound) if bound else refusal_of(op)
    if reason or op not in _table:
        reason = reason or "declare one with @register_decomposition(op)"
        raise NotImplementedError(f"decompose: {op!r} has no decomposition: {reason}")
    return _table[op]
