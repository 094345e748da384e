"""The table of functions that the tracer knows: what a call of each means, as a decorated rule.

    @handles(len)
    def _(tracer, value):
        return ConstantVariable(tracer.length(value))

It lies below the rooms, since each room states rules of its own; those of Python's functions and of this package's are
in `builtins/`. A function with a rule, or written in C, is a `BuiltinVariable` (`builtins/builtin_variable.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.dynamo.variables.base import Value

Rule = Callable[..., Value]
_rules: dict[int, tuple[Any, Rule]] = {}  # by identity: some of the functions can't be hashed


def handles(*functions: Any) -> Callable[[Rule], Rule]:
    """Registers the rule for calls of these functions or classes: (tracer, *args, **kwargs) -> value."""

    def register(rule: Rule) -> Rule:
        for function in functions:
            _rules[id(function)] = function, rule
        return rule

    return register


def handler_of(function: Any) -> Rule | None:
    """The rule for a function, None if there is none."""
    entry = _rules.get(id(function))
    return None if entry is None else entry[1]
