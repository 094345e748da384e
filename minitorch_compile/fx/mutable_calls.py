"""Calls that write into an argument, which a tracer may be told to refuse (`Tracer.check_mutable_operations`).

>>> from minitorch_compile.tensor import ops
>>> refuse_mutation(ops.relu_, (), {})
Traceback (most recent call last):
RuntimeError: Tried to trace mutable operation ops.relu_. FX only supports functional code, so operations that mutate
operands in-place (e.g. via `out` arguments) are not supported
"""

from __future__ import annotations

from typing import Any


def refuse_mutation(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """RuntimeError if the call of an op writes into one of its arguments."""
    if getattr(target, "kind", None) == "inplace" or (hasattr(target, "kind") and kwargs.get("out") is not None):
        raise RuntimeError(
            f"Tried to trace mutable operation {target}. FX only supports functional code, so operations that mutate "
            "operands in-place (e.g. via `out` arguments) are not supported"
        )
