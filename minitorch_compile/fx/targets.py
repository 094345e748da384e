"""What to call a callable: the name by which a reader knows it.

>>> import math, operator
>>> [target_name(f) for f in (len, operator.add, math.sqrt, "relu", lambda x: x)]
['len', 'operator.add', 'math.sqrt', 'relu', 'lambda']

An object whose repr is a dotted name, such as an Op, goes by it: `ops.add`. PyTorch knows it by another:

>>> from minitorch_compile.tensor import ops
>>> [qualified_name(f) for f in (ops.add, getattr, operator.add, math.sqrt)]
['torch.add', 'getattr', '_operator.add', 'math.sqrt']
"""

from __future__ import annotations

import builtins
import importlib
import sys
from typing import Any

from minitorch_compile.fx.names import identifier, is_dotted_name
from minitorch_compile.fx.op_names import qualified_op_name
from minitorch_compile.tensor.dispatch.op import Op

PACKAGE = __name__.partition(".")[0]


def target_name(target: Any) -> str:
    """A dotted name for a callable (or a string, which names itself)."""
    if isinstance(target, str):
        return target
    if isinstance(target, Op):  # most targets are; its repr is such a name
        return repr(target)
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


def qualified_name(target: Any) -> str:
    """The dotted name that PyTorch's listings and generated code have for a callable."""
    if isinstance(target, Op):
        return qualified_op_name(target)
    name = getattr(target, "__name__", type(target).__name__)
    if getattr(builtins, name, None) is target:
        return name
    if getattr(sys.modules[PACKAGE], name, None) is target:
        return f"torch.{name}"
    if name == "<lambda>":  # of which there may be many
        name = "_lambda_"
    module = getattr(target, "__module__", None) or ""
    return f"{torch_name(module)}.{name}" if module else name


def torch_name(module: str) -> str:
    """The name of a module of this package as a PyTorch program has it; others as they are."""
    return f"torch{module.removeprefix(PACKAGE)}" if module.partition(".")[0] == PACKAGE else module


def listed_name(target: Any) -> str:
    """The name of a node's target in a listing: `operator.add`, `builtins.getattr`, `torch.relu`, `layers.0`."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    if module in ("builtins", "_operator") and hasattr(target, "__name__"):
        return f"{module.lstrip('_')}.{target.__name__}"
    return qualified_name(target)


def package(name: str = "torch") -> Any:
    """What PyTorch's names begin with: this package itself, or its `fx._pytree`."""
    return sys.modules[PACKAGE] if name == "torch" else importlib.import_module(f"{PACKAGE}.fx._pytree")


def reachable(name: str) -> Any:
    """What a program finds under a dotted name that begins with `torch`; None if nothing."""
    value: Any = sys.modules[PACKAGE]
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value
