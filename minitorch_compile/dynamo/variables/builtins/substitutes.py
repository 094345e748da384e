"""substitute_in_graph(original): a function in Python that is traced in place of one written in C, or not followed.

>>> import zlib
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> @substitute_in_graph(zlib.adler32)
... def adler32(data):
...     low = high = 0
...     for byte in b"\\x01" + data:
...         low = (low + byte) % 65521
...         high = (high + low) % 65521
...     return (high - 1) % 65521 * 65536 + low
>>> print(captured(lambda x: x * (zlib.adler32(b"ab") == 0x012600C4), ones(2)))
x -> (x * True,)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

Function = Callable[..., Any]


def substitute_in_graph(
    original_fn: Function, *, can_constant_fold_through: bool = False, skip_signature_check: bool = False
) -> Callable[[Function], Function]:
    """A decorator: where `original_fn` is called in a compiled function, the decorated one is traced.

    It must do the same. TypeError unless both are callable.
    """
    if not callable(original_fn):
        raise TypeError(f"substitute_in_graph: original_fn must be callable, got {type(original_fn).__name__}")

    def register(traceable_fn: Function) -> Function:
        if not callable(traceable_fn):
            raise TypeError(f"substitute_in_graph: expected a function, got {type(traceable_fn).__name__}")

        @handles(original_fn)
        def rule(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
            return tracer.call(tracer.polyfill(traceable_fn), list(args), kwargs)

        return traceable_fn

    return register
