"""What to call a callable: the name by which a reader knows it.

>>> import math, operator
>>> [target_name(f) for f in (len, operator.add, math.sqrt, "relu", lambda x: x)]
['len', 'operator.add', 'math.sqrt', 'relu', 'lambda']

An object whose repr is a dotted name, such as an Op, goes by it: `ops.add`.
"""

from __future__ import annotations

import builtins
import sys
from typing import Any

from minitorch_compile.fx.names import identifier, is_dotted_name


def target_name(target: Any) -> str:
    """A dotted name for a callable (or a string, which names itself)."""
    if isinstance(target, str):
        return target
    name = getattr(target, "__name__", type(target).__name__)
    if getattr(builtins, name, None) is target:
        return name
    if is_dotted_name(repr(target)):
        return repr(target)
    module, qualified = getattr(target, "__module__", None), getattr(target, "__qualname__", name)
    if module in (None, "__main__") or not is_dotted_name(qualified):
        return identifier(name).strip("_")
    return f"{module.rpartition('.')[2].lstrip('_')}.{qualified}"


def short_name(target: Any) -> str:
    """The last part of a callable's `target_name`: `ops.add` -> `add`. A string is a name already."""
    return target if isinstance(target, str) else target_name(target).rpartition(".")[2]


def home_module(target: Any) -> Any:
    """The module that really holds `target` under its name; None for lambdas, local functions and objects."""
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    found = getattr(module, getattr(target, "__qualname__", ""), None)
    return module if module is not None and found is target else None
