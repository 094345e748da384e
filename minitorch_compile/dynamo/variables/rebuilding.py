"""How a value is made again after the graph has run: trackers describe it, `rewriting/codegen.py` writes it.

A description is a `Template`, text with holes. In a hole stands a value, which the writer makes before if need be, an
object that the generated code holds, or a path on which it reads something from outside:

>>> from minitorch_compile.dynamo.guards.source import AttrSource, LocalSource
>>> print(call(Held(slice, "slice"), "0", Read(AttrSource(LocalSource("box"), "size"))))
<slice>(0, <box.size>)

What must be there before it is filled, because what fills it may refer to it, is `Made` in steps; `IT` is its variable:

>>> print(Made("cell", call(Held(type, "CellType")), Template(IT, ".cell_contents = ", "3")))
cell = <CellType>()
cell.cell_contents = 3
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from minitorch_compile.dynamo.guards.source import Source

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.base import Value


@dataclass(frozen=True, eq=False)
class Held:
    """An object that the generated code holds, under a name like the hint."""

    value: Any
    hint: str

    def __str__(self) -> str:
        return f"<{self.hint}>"


@dataclass(frozen=True, eq=False)
class Read:
    """What a source reads, before anything is changed."""

    source: Source

    def __str__(self) -> str:
        return f"<{self.source.name()}>"


class _It:
    """The object that is being made."""


IT = _It()
Part: TypeAlias = Union[str, "Value", Held, Read, _It, "Template"]  # a str is written as it stands


class Template:
    """The text of an expression or a statement, part by part."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Part) -> None:
        self.parts = parts

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


class Made:
    """An object that gets a variable, named after the prefix, as soon as there is the object; then the statements come,
    and the attributes that the program stored on it."""

    __slots__ = ("prefix", "expression", "statements")

    def __init__(self, prefix: str, expression: Template, *statements: Template) -> None:
        self.prefix = prefix
        self.expression = expression
        self.statements = statements

    def __str__(self) -> str:
        lines = [Template(IT, " = ", self.expression), *self.statements]
        return "\n".join("".join(self.prefix if part is IT else str(part) for part in line.parts) for line in lines)


class Computed:
    """A tensor that the graph gives; the statements come right behind the call of the graph."""

    __slots__ = ("statements",)

    def __init__(self, *statements: Template) -> None:
        self.statements = statements


Description: TypeAlias = Template | Made | Computed


def commas(parts: Iterable[Part]) -> Template:
    """a, b, c"""
    return Template(*list(chain.from_iterable((", ", part) for part in parts))[1:])


def call(function: Part, *args: Part, **kwargs: Part) -> Template:
    """function(*args, **kwargs)"""
    named = (Template(f"{name}=", value) for name, value in kwargs.items())
    return Template(function, "(", commas((*args, *named)), ")")


def held_class(cls: type) -> Held:
    """The class under its own name."""
    return Held(cls, cls.__name__)


def new_object(cls: type) -> Template:
    """An instance, without calling its `__init__`."""
    return Template(Held(object, "object"), ".__new__(", held_class(cls), ")")
