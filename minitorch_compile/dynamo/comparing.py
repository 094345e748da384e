"""Compare a compiled program with the plain one: results, everything reachable from them, printed text, exceptions.

>>> def program(scale, history):
...     history.append(scale)
...     return scale * 2
>>> behaviour(program, (3, [1]))
Behaviour(value=(('int', '6'), ('tuple', 0, (('int', '3'), ('list', 1, (('int', '1'), ('int', '3'))))), ()), printed='')

`picture` turns a value into nested tuples, with a number for each object, so that equal pictures mean equal values
with the same sharing between them.
"""

from __future__ import annotations

import contextlib
import enum
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from minitorch_compile.tensor.tensor_base import TensorBase

ATOMS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)


@dataclass(frozen=True)
class Behaviour:
    """What a call did: the picture of (result, arguments, more state), and what was printed."""

    value: tuple[Any, ...]
    printed: str


def behaviour(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, state: Iterable[Any] = ()
) -> Behaviour:
    """Calls the function and looks at everything. `state`: what else the program can reach (globals, objects)."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*args, **(kwargs or {}))
        except Exception as error:  # noqa: BLE001  exceptions are behaviour, too
            text = "" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
            result = (type(error).__name__, text)
    artist = _Artist()
    pictures = (
        artist.draw(result),
        artist.draw((*args, *(kwargs or {}).values())),
        tuple(artist.draw(item) for item in state),
    )
    return Behaviour(pictures, printed.getvalue())


def _is_atom(value: Any) -> bool:
    """Values whose identity Python leaves open: it may fold equal constants, and tuples of them, into one object."""
    return type(value) in ATOMS or type(value) is tuple and all(map(_is_atom, value))


class _Artist:
    """Draws pictures; an object seen before is drawn as its number."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []

    def draw(self, value: Any) -> Any:
        if _is_atom(value):
            return type(value).__name__, repr(value)
        if isinstance(value, (type, ModuleType, enum.Enum)):
            return "named", repr(value)
        if id(value) in self._numbers:
            return "again", self._numbers[id(value)]
        number = self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        return type(value).__name__, number, self._contents(value)

    def _contents(self, value: Any) -> Any:
        if isinstance(value, TensorBase):
            return self._tensor(value)
        if isinstance(value, (list, tuple)):
            return tuple(self.draw(item) for item in value)
        if isinstance(value, dict):
            return tuple((self.draw(key), self.draw(item)) for key, item in value.items())
        if isinstance(value, (set, frozenset)):
            return tuple(sorted(repr(item) for item in value))
        if isinstance(value, FunctionType):
            return (
                value.__code__.co_qualname,
                self.draw(value.__defaults__),
                self.draw(value.__closure__),
                self.draw(value.__dict__),
            )
        if isinstance(value, MethodType):
            return self.draw(value.__func__), self.draw(value.__self__)
        if isinstance(value, CellType):
            try:
                return self.draw(value.cell_contents)
            except ValueError:
                return "empty"
        if isinstance(value, BaseException):
            return self.draw(value.args), self.draw(value.__dict__)
        return self.draw(getattr(value, "__dict__", None))

    def _tensor(self, x: TensorBase) -> Any:
        storage = self._numbers.setdefault(id(x.storage.memory), len(self._numbers))
        self._alive.append(x.storage)
        layout = tuple(x.sizes), tuple(x.strides), x.offset, repr(x.dtype), x.requires_grad, x.grad_fn is None
        return storage, layout, x.array.tobytes(), self.draw(x.grad)
