"""Where a value of the traced frame came from: the path that reads it again at the next call.

A source is a small expression. Its text appears in guards, in the generated code and in messages, always the same:

>>> weight = ItemSource(AttrSource(LocalSource("self"), "_parameters"), "weight")
>>> weight.name()
"self._parameters['weight']"

Reading a source never runs user code: a guard on the type of `weight.base` is checked before it is read.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """The base of all paths. `base` is the source that this one is read from, None for a root."""

    def __init_subclass__(cls) -> None:
        cls.__hash__ = Source.__hash__  # type: ignore[method-assign]  # a dataclass's own walks the whole path each time

    def __hash__(self) -> int:
        """Worked out once: paths are long, and keys of many dictionaries."""
        known = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = hash((type(self), *self.__dict__.values()))
        return known

    @property
    def base(self) -> Source | None:
        return None

    def __str__(self) -> str:
        return self.name()

    def name(self) -> str:
        """The expression, as a reader sees it."""
        base = self.base
        return self.read("" if base is None else base.name())

    def read(self, base: str) -> str:
        """The expression, given the text (or the variable) of its base."""
        raise NotImplementedError

    @property
    def root(self) -> Source:
        """Where the path starts: an argument, a cell, or an object that the generated code holds."""
        source = self
        while (base := source.base) is not None:
            source = base
        return source


@dataclass(frozen=True)
class LocalSource(Source):
    """An argument of the traced function."""

    local: str

    def read(self, base: str) -> str:
        return self.local


@dataclass(frozen=True)
class ConstantSource(Source):
    """An object that the generated code holds on to under a name: a class, a module, a function."""

    constant: str

    def read(self, base: str) -> str:
        return self.constant


@dataclass(frozen=True)
class CellSource(Source):
    """A cell of the traced function's closure (the cell itself, not its content)."""

    variable: str

    def read(self, base: str) -> str:
        return f"cell_{self.variable}"


@dataclass(frozen=True)
class ChainedSource(Source):
    """Whatever is read from another source."""

    origin: Source

    @property
    def base(self) -> Source:
        return self.origin


@dataclass(frozen=True)
class AttrSource(ChainedSource):
    """origin.attribute"""

    attribute: str

    def read(self, base: str) -> str:
        if self.attribute.isidentifier() and not keyword.iskeyword(self.attribute):
            return f"{base}.{self.attribute}"
        return f"getattr({base}, {self.attribute!r})"


@dataclass(frozen=True)
class ElementsSource(ChainedSource):
    """origin.attribute as a plain tuple: items of a Size take five times as long to read.

    >>> sizes = ElementsSource(LocalSource("x"), "sizes")
    >>> sizes.name(), sizes.read("x")
    ('x.sizes', '(*x.sizes,)')
    """

    attribute: str

    def name(self) -> str:
        return f"{self.origin.name()}.{self.attribute}"

    def read(self, base: str) -> str:
        return f"(*{base}.{self.attribute},)"


@dataclass(frozen=True)
class InstanceDictSource(ChainedSource):
    """origin.__dict__"""

    def read(self, base: str) -> str:
        return f"{base}.__dict__"


@dataclass(frozen=True)
class PastClassDictSource(InstanceDictSource):
    """origin.__dict__, past the `__getattribute__` that its class has in Python; `reader` is the name of object's.

    >>> InstanceAttrSource(PastClassDictSource(LocalSource("config"), "read"), "size").name()
    "read(config, '__dict__')['size']"
    """

    reader: str

    def read(self, base: str) -> str:
        return f"{self.reader}({base}, '__dict__')"


@dataclass(frozen=True)
class InstanceAttrSource(ChainedSource):
    """origin.attribute, read from the instance's dictionary: three times as fast where the class has a `__getattr__`.

    >>> hooks = InstanceAttrSource(InstanceDictSource(LocalSource("module")), "_hooks")
    >>> hooks.name(), hooks.read("t_0")
    ('module._hooks', "t_0['_hooks']")
    """

    attribute: str

    def name(self) -> str:
        owner = self.origin.base
        if isinstance(self.origin, PastClassDictSource):
            return super().name()
        assert owner is not None
        return AttrSource(owner, self.attribute).name()

    def read(self, base: str) -> str:
        return f"{base}[{self.attribute!r}]"


@dataclass(frozen=True)
class SlotSource(ChainedSource):
    """An attribute declared in `__slots__`, read through its descriptor: an empty slot does not ask `__getattr__`.

    >>> SlotSource(LocalSource("box"), "size", "slot_size").name()
    'slot_size.__get__(box)'
    """

    attribute: str
    descriptor: str

    def read(self, base: str) -> str:
        return f"{self.descriptor}.__get__({base})"


@dataclass(frozen=True)
class ItemSource(ChainedSource):
    """origin[key], the key a literal."""

    key: object

    def read(self, base: str) -> str:
        return f"{base}[{self.key!r}]"

    def __eq__(self, other: object) -> bool:
        # 1, 1.0 and True are equal keys in Python but different texts
        return (
            isinstance(other, ItemSource)
            and self.origin == other.origin
            and type(self.key) is type(other.key)
            and self.key == other.key
        )


@dataclass(frozen=True)
class NamedItemSource(ChainedSource):
    """origin[constant], the key an object that the generated code holds under a name (an enum member, a dtype, a
    class)."""

    constant: str

    def read(self, base: str) -> str:
        return f"{base}[{self.constant}]"


@dataclass(frozen=True)
class DictKeySource(ChainedSource):
    """The key at a position of a dict, when the key is an object without a literal: a parameter in an optimizer's
    state."""

    position: int

    def read(self, base: str) -> str:
        return f"list({base})[{self.position}]"


@dataclass(frozen=True)
class SourceItemSource(ChainedSource):
    """origin[key], the key itself read from a source."""

    key: Source

    def read(self, base: str) -> str:
        return f"{base}[{self.key.name()}]"
