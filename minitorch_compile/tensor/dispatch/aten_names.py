"""torch.ops.aten: the ops of the table under PyTorch's names, overload by overload.

PyTorch has a function for each combination of arguments, `aten.add.Tensor`, `aten.sum.dim_IntList`. Here an op is one
function, so an overload is the op and a word for the arguments that it was called with. Programs tell by it what a
`__torch_dispatch__` is asked about.

>>> from minitorch_compile.tensor import ones, ops
>>> aten = AtenNamespace("aten")
>>> aten.add.Tensor, aten.add.Tensor is overload_of(ops.add, (ones(2), 1), {}), aten.mm.default(ones(1, 2), ones(2, 1))
(<OpOverload(op='aten.add', overload='Tensor')>, True, tensor([[2.]]))
>>> aten.add.Complex
Traceback (most recent call last):
AttributeError: The underlying op of 'aten.add' has no overload name 'Complex'
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from minitorch_compile.tensor.dispatch.op import Op, table
from minitorch_compile.tensor.tensor_base import TensorBase

# The table's own names, where PyTorch has another.
ATEN_NAMES = {
    "to_copy": "_to_copy",
    "softmax": "_softmax",
    "log_softmax": "_log_softmax",
    "scatter_src": "scatter",
    "log_sigmoid": "log_sigmoid_forward",
}
TABLE_NAMES = {aten: name for name, aten in ATEN_NAMES.items()}
FUNCTIONS: dict[str, Callable[..., Any]] = {}  # those that are no ops of the table: tensor/functions/foreach.py

Overload = Callable[[tuple[Any, ...], dict[str, Any]], str]


def _words(text: str) -> list[str]:
    return text.split()


def _second_is_tensor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return isinstance(args[1] if len(args) > 1 else kwargs.get("other"), TensorBase)


def _compared(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return "Tensor" if _second_is_tensor(args, kwargs) else "Scalar"


def _raised(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    if not isinstance(args[0], TensorBase):
        return "Scalar"
    return f"Tensor_{'Tensor' if isinstance(args[1] if len(args) > 1 else None, TensorBase) else 'Scalar'}"


def _along(with_dim: str) -> Overload:
    def overload(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        return "default" if dim is None else with_dim

    return overload


def _always(name: str) -> Overload:
    return lambda args, kwargs: name


# Which overload a call of an op is. Of all other ops it is `default`.
OVERLOADS: dict[str, Overload] = {
    **dict.fromkeys(_words("add sub mul div remainder fmod"), _always("Tensor")),
    **dict.fromkeys(_words("eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor"), _compared),
    "pow": _raised,
    "sum": _along("dim_IntList"),
    "mean": _along("dim"),
    "any": _along("dim"),
    "all": _along("dim"),
    "prod": _along("dim_int"),
    "squeeze": _along("dim"),
    "transpose": _always("int"),
    "select": _always("int"),
    "slice": _always("Tensor"),
    "index": _always("Tensor"),
    "where": _always("self"),
    "scatter": _always("src"),
}


class OpOverload:
    """An op under the name that PyTorch gives a call of it. Calling it calls the op."""

    namespace = "aten"

    def __init__(self, op: Any, packet: str, overload: str) -> None:
        self.op = op
        self._opname = packet
        self._overloadname = "" if overload == "default" else overload
        self.__name__ = f"{packet}.{overload}"
        self.__qualname__ = self.__name__
        self.__module__ = "torch._ops.aten"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and other.__name__ == self.__name__

    def __hash__(self) -> int:
        return hash(self.__name__)

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """All overloads of the name."""
        return _packet(self._opname)

    def name(self) -> str:
        """aten::add.Tensor"""
        return f"aten::{self._opname}" + (f".{self._overloadname}" if self._overloadname else "")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._opname}', overload='{self._overloadname or 'default'}')>"


class OpOverloadPacket:
    """The overloads of one name as attributes; called, it is the op."""

    def __init__(self, op: Any, name: str) -> None:
        self.op = op
        self.__name__ = name
        self._qualified_op_name = f"aten::{name}"

    def overloads(self) -> list[str]:
        """What they are called."""
        return list(_recorded().get(self.__name__, ("default",)))

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__") or name not in self.overloads():
            raise AttributeError(f"The underlying op of 'aten.{self.__name__}' has no overload name '{name}'")
        return _overload(self.op, self.__name__, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class AtenNamespace(ModuleType):
    """torch.ops.aten"""

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__") or _op_named(name) is None:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        return _packet(name)

    def __repr__(self) -> str:
        return "<module 'torch.ops.aten' from 'torch.ops'>"


def _plain(name: str) -> str:
    """The name of the op of which this is the in-place form; else its own."""
    return name if name.startswith("_") else name.removesuffix("_")


def _op_named(name: str) -> Any:
    """What PyTorch's name means here; None if nothing does."""
    ours = TABLE_NAMES.get(name, name)
    return table.get(ours) or table.get(f"F.{ours}") or FUNCTIONS.get(name)


@functools.cache
def _recorded() -> dict[str, list[str]]:
    """What PyTorch calls the overloads of each op that has others than `default` (tools/record_aten_overloads.py)."""
    found: dict[str, list[str]] = json.loads(Path(__file__).with_name("aten_overloads.json").read_text("utf-8"))
    return found


@functools.cache
def _packet(name: str) -> OpOverloadPacket:
    return OpOverloadPacket(_op_named(name), name)


@functools.cache
def _overload(op: Any, packet: str, overload: str) -> OpOverload:
    return OpOverload(op, packet, overload)


def overload_of(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OpOverload:
    """What PyTorch calls this call of an op."""
    name = ATEN_NAMES.get(op.name, op.name)
    known = OVERLOADS.get(_plain(name))
    return _overload(op, name, "default" if known is None else known(args, kwargs))
