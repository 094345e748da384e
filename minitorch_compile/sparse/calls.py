"""How a call of an op with a sparse tensor finds its meaning: a table by the op's name, asked before the dispatcher.

From the first sparse tensor on the table stands before every call (`tensor/functions/before_calls.py`); a program that
has none never meets it.

>>> from minitorch_compile import exp, sparse_coo_tensor
>>> s = sparse_coo_tensor([[0]], [1.0], (2,))
>>> "mm" in HANDLERS
True
>>> exp(s)
Traceback (most recent call last):
NotImplementedError: Could not run 'aten::exp' with arguments from the 'SparseCPU' backend. ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.functions import before_calls
from minitorch_compile.tensor.tensor_base import TensorBase

HANDLERS: dict[str, Callable[..., Any]] = {}
_standing: list[bool] = []


def handles(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: what the ops of these names do where a sparse tensor is among the arguments."""

    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


def unsupported(name: str, x: Any) -> NotImplementedError:
    """The error for an op that sparse tensors don't have."""
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{x.backend}' backend. Sparse tensors have no such"
        " operation here; to_dense() makes an ordinary tensor, and values() has the entries."
    )


def stand_there() -> None:
    """From now on calls are looked at: there is a sparse tensor."""
    if not _standing:
        _standing.append(True)
        before_calls.enter(_before, before_calls.LAYOUTS)


def _before(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Callable[..., Any]) -> Any:
    found = _first_sparse(args) or (_first_sparse(tuple(kwargs.values())) if kwargs else None)
    if found is None:
        return call(*args, **kwargs)
    name = op.name.removeprefix("F.")
    if name not in HANDLERS:
        raise unsupported(name, found[0])
    return HANDLERS[name](*args, **kwargs)


def _first_sparse(values: tuple[Any, ...] | list[Any]) -> tuple[Any] | None:
    for value in values:
        if isinstance(value, TensorBase):
            if value.is_sparse_layout:
                return (value,)
        elif type(value) in (list, tuple):
            found = _first_sparse(value)
            if found is not None:
                return found
    return None
