"""Type annotations for values of traced programs.

>>> from minitorch_compile.fx import symbolic_trace
>>> module = symbolic_trace(lambda x: annotate(x + 1, int))
>>> print(module.code.strip())
def forward(self, x):
    add : int = x + 1;  x = None
    return add
"""

from __future__ import annotations

from typing import Any, TypeVar

from minitorch_compile.fx.proxy import Proxy

Value = TypeVar("Value")


def annotate(val: Value, type: Any) -> Value:
    """The value itself; of a proxy, the node is annotated. RuntimeError if it is already."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                f"Tried to annotate a value that already had a type on it! Existing type is {val.node.type} and new"
                f" type is {type}. This could happen if you tried to annotate a function parameter value (in which case"
                " you should use the type slot on the function signature) or you called annotate on the same value"
                " twice"
            )
        val.node.type = type
    return val
