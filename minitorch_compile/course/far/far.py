"""Objects of the other process. What is done to one is asked of that process; nothing of its class is here.

Two of them are equal if they are one object, or of one dataclass and equal in all fields: what the object's own class
says about equality is not asked, since it could say anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .link import Link

MEMORY = ("__array_interface__", "__array_struct__")
"""What NumPy asks of what it would make an array of: an address, which is of this process, whoever names it."""
NO_LOCALS = (object, int, float, complex)
"""Not even numbers derived from these are numbers here: NumPy takes such as they are, and lets them do the sums."""
OWN = ("_link", "_number", "_local", "_fields", "_kind", "_values")


class Far:
    """`_local` is the first of its classes that this process has, too; `_values` has what of it never changes."""

    __slots__ = OWN

    def __init__(self, link: Link, number: int, local: type, fields: tuple[str, ...]) -> None:
        own: tuple[Any, ...] = (link, number, local, fields, None, {})
        for name, value in zip(OWN, own, strict=True):
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # what isinstance asks
        local = object.__getattribute__(self, "_local")
        return local if local not in NO_LOCALS else Far

    def __getattr__(self, name: str) -> Any:
        if name in MEMORY:
            raise TypeError("expected an array or numbers, got an object of a class of your own")
        known = self._values
        return known[name] if name in known else self._link.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._link.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._link.ask("delete", self, name)

    def __eq__(self, other: object) -> Any:
        if type(other) not in (Far, FarCallable):
            return NotImplemented
        if self is other or not isinstance(other, Far):
            return self is other
        if self._fields and self._kind is other._kind:
            return all(getattr(self, name) == getattr(other, name) for name in self._fields)
        if self._link.ask("compares", self):  # element by element: that is no answer, and may be asked for
            return self._link.ask("op", "eq", self, other)
        return False

    def __hash__(self) -> int:
        return self._number

    def __bool__(self) -> bool:
        return self._link.ask("op", "truth", self) is True

    def __len__(self) -> int:
        return whole(self._link.ask("op", "len", self))

    def __repr__(self) -> str:
        return text(self._link.ask("op", "repr", self))

    def __str__(self) -> str:
        return text(self._link.ask("op", "str", self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __iter__(self) -> Any:
        return self._link.ask("op", "iter", self)

    def __next__(self) -> Any:
        return self._link.ask("op", "next", self)

    def __contains__(self, item: Any) -> bool:
        return self._link.ask("op", "contains", self, item) is True

    def __instancecheck__(self, value: Any) -> bool:
        return self._link.ask("op", "isinstance", value, self) is True

    def __subclasscheck__(self, value: Any) -> bool:
        return self._link.ask("op", "issubclass", value, self) is True

    def __enter__(self) -> Any:
        return self._link.ask("call", self._link.ask("get", self, "__enter__"), (), {})

    def __exit__(self, *error: Any) -> Any:
        return self._link.ask("call", self._link.ask("get", self, "__exit__"), error[:2] + (None,), {})

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type]:
        return (self._link.base_of(self),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("an object of the other process can't be copied")


class FarCallable(Far):
    """One that can be called."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._link.ask("call", self, args, kwargs)


def whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"a length is an int, not {type(value).__name__}")
    return value


def text(value: Any) -> str:
    return value if type(value) is str else f"<{type(value).__name__}>"


def _asking(name: str) -> Any:
    def method(self: Far, *others: Any) -> Any:
        return self._link.ask("op", name, self, *others)

    return method


def _reflected(name: str) -> Any:
    def method(self: Far, other: Any) -> Any:
        return self._link.ask("op", name, other, self)

    return method


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
UNARY = ("neg", "pos", "invert", "abs", "index", "int", "float")
for _name in OPERATORS:
    setattr(Far, f"__{_name}__", _asking(_name))
    setattr(Far, f"__r{_name}__", _reflected(_name))
for _name in (*UNARY, "lt", "le", "gt", "ge", "getitem", "setitem", "delitem"):
    setattr(Far, f"__{_name}__", _asking(_name))
