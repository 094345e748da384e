"""Values as plain data, and back. Their types are known exactly, and what comes back is of the type that was sent.

What can't be told in plain data stays where it is and is named by a number: it is `Far` for the other process. Lists,
dictionaries, sets and arrays are mirrored: both processes have one each, under one number, and each message brings
along what has changed in them. So what is one object here is one object there.
"""

from __future__ import annotations

import base64
import dataclasses
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from minitorch_compile import Size, Tensor
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import from_parts

from .copies import Rebuilding, copied, scope_of
from .far import Far, FarCallable
from .known_names import module_name, name_of, named

if TYPE_CHECKING:
    from .link import Link

ATOMS = (type(None), bool, int, str)
MUTABLE = (list, dict, set)
CONSTANTS = (float, complex, tuple, bytes, frozenset, slice, range, np.generic)  # what has no number where it was made
SINGLE: dict[str, Any] = {"...": ..., "NotImplemented": NotImplemented}
NUMPY_KINDS = "biufcSUmM"
MOST_BITS = 10_000  # of an int in decimal digits: Python writes and reads no longer ones


class Refused(TypeError):
    """What the other process sent is nothing that it may send."""


class Codec:
    """`trusted`: whether the other process may send code, and any name of a library."""

    def __init__(self, link: Link, trusted: bool, first: int) -> None:
        self.link, self.trusted = link, trusted
        self.next_number, self.own_numbers = first, range(first, 10**12, 2)
        self.objects: dict[int, Any] = {}  # by number: mine, and those of which I have the mirror or the Far
        self.numbers: dict[int, int] = {}  # by id; the objects stay alive in `objects`
        self.seen: dict[int, Any] = {}  # of what is mirrored: as the other process has it
        self.rebuilding = Rebuilding(self)
        self.strict = False  # whether what is read will be given to a function of the judge's
        self.borrowed: set[int] = set()  # Far objects of the other process
        self.lent: set[int] = set()  # of mine, what is Far for the other process

    # ---- numbers

    def register(self, value: Any, number: int | None = None) -> int:
        if number is None:
            number, self.next_number = self.next_number, self.next_number + 2
        self.objects[number] = value
        self.numbers[id(value)] = number
        return number

    def mirror(self, number: int) -> None:
        """From now on what changes in it is told."""
        self.seen[number] = _noted(self.objects[number])

    def number_of(self, value: Any) -> int | None:
        return self.numbers.get(id(value))

    def state(self) -> tuple[int, dict[int, Any]]:
        return self.next_number, dict(self.seen)

    def restore(self, before: tuple[int, dict[int, Any]]) -> None:
        """As if nothing had been encoded since: the other process has not been told."""
        first, seen = before
        for number in [each for each in range(first, self.next_number, 2) if each in self.objects]:
            self.forget(number)
        self.seen.update(seen)

    # ---- there

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if kind is int and value.bit_length() > MOST_BITS:
            return {"i": hex(value)}
        if kind is str:
            return self._encode_text(value)
        if kind in ATOMS:
            return value
        if kind in (Far, FarCallable):
            return {"#": value._number}
        if (number := self.numbers.get(id(value))) is not None:
            return {"#": number}
        if (told := self._encode_constant(value, kind)) is not None:
            # What the judge gives keeps its identity, also where it can't change: tracers ask for it.
            return told if self.trusted else told | {"id": self.register(value)}
        if kind in MUTABLE:
            if kind is dict and not self.trusted and (name := scope_of(value)) is not None:
                return {"scope": self.register(value), "of": name}
            return self._new_container(value)
        return self._encode_other(value, kind)

    def _encode_text(self, value: str) -> Any:
        """What the judge gives keeps its identity; what the learner's process makes has none."""
        if (number := self.numbers.get(id(value))) is not None:
            return {"#": number}
        return value if self.trusted else {"u": value, "id": self.register(value)}

    def _encode_constant(self, value: Any, kind: type) -> dict[str, Any] | None:
        """What never changes, and is told whole; None for all else."""
        if kind is float:
            return {"f": value.hex()}
        if kind is tuple:
            return {"t": [self.encode(each) for each in value]}
        if kind is complex:
            return {"c": [value.real.hex(), value.imag.hex()]}
        if kind is bytes:
            return {"b": base64.b64encode(value).decode()}
        if kind is frozenset:
            return {"fs": [self.encode(each) for each in value]}
        if kind is slice:
            return {"s": [self.encode(each) for each in (value.start, value.stop, value.step)]}
        if kind is range:
            return {"r": [value.start, value.stop, value.step]}
        if kind is Size:
            return {"z": list(value)}
        return None

    def _encode_other(self, value: Any, kind: type) -> Any:
        if value is ... or value is NotImplemented:
            return {"1": "..." if value is ... else "NotImplemented"}
        if isinstance(value, np.dtype) and value.kind in NUMPY_KINDS + "V" and value.names is None:
            return {"dt": value.name if value.kind == "V" else value.str}
        if isinstance(value, np.generic) and (value.dtype.kind in NUMPY_KINDS or value.dtype.isbuiltin == 2):
            return {"n": [self.encode(value.dtype), base64.b64encode(value.tobytes()).decode()]}
        if kind is np.ndarray and not value.dtype.hasobject and value.dtype.names is None:
            return self._encode_array(value)
        if kind is Tensor and self._is_plain(value):
            return self._encode_tensor(value)
        if (name := name_of(value)) is not None and self._takes(*name, value):
            return {"g": list(name)}
        if isinstance(value, BaseException):
            return {"error": self.link.encoded_error(value)}
        if not self.trusted:
            if isinstance(value, ModuleType):
                return {"m": module_name(value)}
            if (told := copied(self, value)) is not None:
                return told
        return self._far(value)

    def _takes(self, module: str, name: str, value: Any) -> bool:
        """Whether the other process takes it by its name."""
        if not self.trusted:
            return True
        try:
            named(module, name, harmless=True)
        except LookupError:
            return False
        return True

    def _far(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        bases = value.__mro__ if isinstance(value, type) else kind.__mro__
        names = [name for base in bases if base is not object and (name := name_of(base)) and self._takes(*name, base)]
        local = list(names[0]) if names else None
        fields = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        plain = kind if dataclasses.is_dataclass(kind) else None
        number = self.register(value)
        self.lent.add(number)
        told = {"far": number, "as": local, "call": callable(value), "class": isinstance(value, type)}
        if isinstance(value, type):
            return told | {"name": [value.__module__, value.__name__]}
        if plain is None:
            return told
        told |= {"fields": fields, "kind": self.encode(plain)}
        if kind.__dataclass_params__.frozen and all(name in vars(value) for name in fields):
            told["values"] = [self.encode(vars(value)[name]) for name in fields]  # they never change
        return told

    def _new_container(self, value: Any) -> dict[str, Any]:
        number = self.register(value)
        told = {"new": number, "type": type(value).__name__, "has": self.contents(value)}
        self.seen[number] = _noted(value)
        return told

    def _encode_array(self, value: np.ndarray) -> dict[str, Any]:
        base = value
        while isinstance(base.base, np.ndarray):
            base = base.base
        number = self.number_of(base)
        told: dict[str, Any] = {}
        if number is None:
            number = self.register(base)
            self.seen[number] = base.tobytes(order="A")
            told = {"base": self._array_description(base) + [base64.b64encode(self.seen[number]).decode()]}
        if value is base:
            return told | {"array": number}
        offset = _address(value) - _address(base)
        return told | {"array": number, "view": [*self._array_description(value), offset]}

    def _array_description(self, value: np.ndarray) -> list[Any]:
        return [self.encode(value.dtype), list(value.shape), list(value.strides), bool(value.flags.writeable)]

    def _is_plain(self, value: Tensor) -> bool:
        """Whether a tensor is no more than numbers, or sizes: it has no history."""
        return (
            value.grad_fn is None
            and type(value.storage) is Storage
            and (value.storage.buffer is None or not value.requires_grad)
            and all(type(number) is int for number in (*value.sizes, *value.strides, value.offset))
            and value.device.type == "cpu"
        )

    def _encode_tensor(self, value: Tensor) -> dict[str, Any]:
        told = {"x": [*map(list, (value.sizes, value.strides)), value.offset, value.dtype.name, value.requires_grad]}
        storage = value.storage
        if (number := self.number_of(storage)) is None:
            return told | {"storage": self.register(storage), "of": self.encode(storage.buffer)}
        return told | {"storage": number}

    # ---- and back

    def decode(self, data: Any) -> Any:
        if type(data) in ATOMS:
            return data
        if type(data) is not dict or not data:
            raise Refused(f"this stands for nothing: {str(data)[:60]!r}")
        kind, what = next(iter(data.items()))
        if kind == "#":
            return self.objects[what]
        value = getattr(self, DECODERS[kind])(what, data)
        if self.trusted and (number := data.get("id")) is not None:
            self.register(value, number)
            self.borrowed.add(number)
        return value

    def _float(self, what: Any, data: Any) -> float:
        return float.fromhex(what)

    def _text(self, what: Any, data: Any) -> str:
        return str(what)

    def _long(self, what: Any, data: Any) -> int:
        return int(what, 16)

    def _complex(self, what: Any, data: Any) -> complex:
        return complex(*map(float.fromhex, what))

    def _tuple(self, what: Any, data: Any) -> tuple[Any, ...]:
        return tuple(self.decode(each) for each in what)

    def _frozenset(self, what: Any, data: Any) -> frozenset[Any]:
        return frozenset(self.decode(each) for each in what)

    def _slice(self, what: Any, data: Any) -> slice:
        start, stop, step = what
        return slice(self.decode(start), self.decode(stop), self.decode(step))

    def _range(self, what: Any, data: Any) -> range:
        return range(*map(int, what))

    def _bytes(self, what: Any, data: Any) -> bytes:
        return base64.b64decode(what)

    def _single(self, what: Any, data: Any) -> Any:
        return SINGLE[what]

    def _size(self, what: Any, data: Any) -> Size:
        return Size(self.decode(each) for each in what)

    def _dtype(self, what: Any, data: Any) -> np.dtype:
        found = np.dtype(getattr(ml_dtypes, what)) if what.isidentifier() and hasattr(ml_dtypes, what) else None
        found = found if found is not None else np.dtype(what)
        if found.hasobject:
            raise Refused("an array of objects")
        return found

    def _scalar(self, what: Any, data: Any) -> Any:
        return np.frombuffer(base64.b64decode(what[1]), self.decode(what[0]))[0]

    def _base(self, what: Any, data: Any) -> np.ndarray:
        dtype, shape, strides, writeable, content = what
        raw = bytearray(base64.b64decode(content))
        dtype = self.decode(dtype)
        array = np.empty(shape, dtype)
        if array.size > 1 and list(array.strides) != strides:  # sizes of 0 and 1 have strides that say nothing
            array = np.empty(shape, dtype, order="F")
        if array.nbytes != len(raw):
            raise Refused("an array of another length")
        if array.nbytes:
            array.reshape(-1, order="A")[...] = np.frombuffer(raw, dtype)
        array.flags.writeable = bool(writeable)
        self.register(array, self._foreign(data["array"]))
        self.seen[data["array"]] = bytes(raw)
        return self._array(data["array"], data)

    def _array(self, what: Any, data: Any) -> np.ndarray:
        base = self.objects[what]
        if not isinstance(base, np.ndarray):
            raise Refused("this is no array")
        if "view" not in data:
            return base
        dtype, shape, strides, writeable, offset = data["view"]
        view = np.ndarray(tuple(shape), self.decode(dtype), base, offset, tuple(strides))
        view.flags.writeable = bool(writeable) and base.flags.writeable
        return view

    def _tensor(self, what: Any, data: Any) -> Tensor:
        sizes, strides, offset, name, requires_grad = what
        number = data["storage"]
        if "of" in data:
            self.register(Storage(self.decode(data["of"])), self._foreign(number))
        storage, dtype = self.objects[number], named("minitorch_compile", name, harmless=True)
        if type(storage) is not Storage or not within(storage.buffer, sizes, strides, offset):
            raise Refused("a tensor that reaches beyond its memory")
        made = from_parts(storage, offset, Size(sizes), tuple(strides), dtype, CPU)
        made.requires_grad = requires_grad is True
        return made

    def _named(self, what: Any, data: Any) -> Any:
        module, name = what
        return named(module, name, harmless=not self.trusted, pure=self.strict)

    def _module(self, what: Any, data: Any) -> ModuleType:
        if not self.trusted:
            raise Refused("a module")
        return __import__(what, fromlist=["_"])

    def _rebuilt(self, what: Any, data: Any) -> Any:
        if not self.trusted:
            raise Refused("code")
        kind = next(iter(data))
        getattr(self.rebuilding, kind if kind != "class" else "class_")(what, data)
        return self.objects[what]

    def _scope(self, what: Any, data: Any) -> Any:
        if not self.trusted:
            raise Refused("globals")
        self.register(self.rebuilding.scope(data["of"]), what)
        return self.objects[what]

    def _error(self, what: Any, data: Any) -> BaseException:
        return self.link.decoded_error(what)

    def _container(self, what: Any, data: Any) -> Any:
        value = {"list": list, "dict": dict, "set": set}[data["type"]]()
        self.register(value, self._foreign(what))
        self.fill(value, data["has"])
        self.seen[what] = _noted(value)
        return value

    def _far_object(self, what: Any, data: Any) -> Any:
        local = self._named(data["as"], data) if data["as"] else object
        if not isinstance(local, type):
            raise Refused("this is no class")
        number = self._foreign(what)
        if data["class"]:
            if issubclass(local, BaseException):
                found = self.link.exception_class(number, str(data["name"][1]), local)
                self.register(found, number)
                return found
            local = type
        kind = data.get("kind")
        fields = tuple(str(each) for each in data.get("fields", ()))
        far = (FarCallable if data["call"] is True else Far)(self.link, number, local, fields)
        self.register(far, number)
        self.borrowed.add(number)
        if kind is not None:
            object.__setattr__(far, "_kind", self.decode(kind))
        for name, each in zip(fields, data.get("values", ()), strict=False):
            far._values[name] = self.decode(each)
        return far

    def _foreign(self, number: Any) -> int:
        """A number that the other process has given, and that stands for nothing yet."""
        if type(number) is not int or number in self.own_numbers or number in self.objects or number < 1:
            raise Refused(f"the number {number!r} is not free")
        return number

    # ---- what has changed

    def changes(self) -> list[Any]:
        """The contents of what is mirrored and is no more as the other process has it."""
        told: list[Any] = []
        for number in list(self.seen):
            value = self.objects[number]
            if isinstance(value, np.ndarray):
                now: Any = value.tobytes(order="A")
                if now != self.seen[number]:
                    told.append([number, base64.b64encode(now).decode()])
                    self.seen[number] = now
            elif _shallow(value) != self.seen[number][0]:
                self.seen[number] = _noted(value)
                told.append([number, self.contents(value)])
        return told

    def unused(self) -> list[int]:
        """What nobody here holds any more: both processes forget its number."""
        objects = self.objects
        found = [number for number in (*self.seen, *self.borrowed) if sys.getrefcount(objects[number]) <= ALONE]
        for number in found:
            self.forget(number)
        return found

    def forget(self, number: int) -> None:
        value = self.objects.pop(number)
        if self.numbers.get(id(value)) == number:  # of what Python has only one, such as b"", several may be known
            del self.numbers[id(value)]
        self.seen.pop(number, None)
        self.borrowed.discard(number)
        self.lent.discard(number)

    def contents(self, value: Any) -> list[Any]:
        """The parts of a container; of an object its attributes."""
        value = value if type(value) in MUTABLE else vars(value)
        if isinstance(value, dict):
            return [[self.encode(key), self.encode(each)] for key, each in value.items()]
        return [self.encode(each) for each in value]

    def fill(self, value: Any, contents: list[Any]) -> None:
        value = value if type(value) in MUTABLE else vars(value)
        if isinstance(value, list):
            value[:] = [self.decode(each) for each in contents]
        elif isinstance(value, dict):
            items = [(self.decode(key), self.decode(each)) for key, each in contents]
            value.clear()
            value.update(items)
        else:
            parts = [self.decode(each) for each in contents]
            value.clear()
            value.update(parts)

    def apply(self, changes: list[Any]) -> None:
        """Takes over what the other process has changed."""
        for number, contents in changes:
            value = self.objects[number]
            if number not in self.seen:
                raise Refused("this is not mirrored")
            if not isinstance(value, np.ndarray):
                self.fill(value, contents)
                self.seen[number] = _noted(value)
                continue
            raw = base64.b64decode(contents)
            if len(raw) != value.nbytes or not value.flags.writeable:
                raise Refused("an array of another length, or one that can't be written to")
            value.reshape(-1, order="A")[...] = np.frombuffer(raw, value.dtype)
            self.seen[number] = raw


DECODERS = {
    "i": "_long",
    "u": "_text",
    "f": "_float",
    "c": "_complex",
    "t": "_tuple",
    "fs": "_frozenset",
    "s": "_slice",
    "r": "_range",
    "b": "_bytes",
    "1": "_single",
    "z": "_size",
    "dt": "_dtype",
    "n": "_scalar",
    "base": "_base",
    "array": "_array",
    "x": "_tensor",
    "g": "_named",
    "m": "_module",
    **dict.fromkeys(("fn", "code", "cell", "method", "builtin", "class", "object", "made"), "_rebuilt"),
    "scope": "_scope",
    "error": "_error",
    "new": "_container",
    "far": "_far_object",
}


_TABLE = {1: object()}
ALONE = sys.getrefcount(_TABLE[1])  # what is counted where only the table holds it


def _shallow(value: Any) -> list[Any]:
    """What tells whether a container still has the same things in it, in the same order.

    Asked of all that is mirrored, for each message: a text stands for itself, a number for a tuple, and all else is
    known by its address, which no number is mistaken for.
    """
    value = value if type(value) in MUTABLE else vars(value)
    parts = (*value, *value.values()) if isinstance(value, dict) else value
    return [each if type(each) is str else (each,) if type(each) is int else id(each) for each in parts]


def _noted(value: Any) -> tuple[list[Any], list[Any]]:
    """`_shallow`, and what has no number: it is kept alive, since another at its address would look like it."""
    parts = value if type(value) in MUTABLE else vars(value)
    parts = (*parts, *parts.values()) if isinstance(parts, dict) else parts
    return _shallow(value), [each for each in parts if issubclass(type(each), CONSTANTS)]


def within(buffer: np.ndarray | None, sizes: list[int], strides: list[int], offset: int) -> bool:
    """Whether all elements lie in the buffer; a fake has none."""
    numbers = [*sizes, *strides, offset]
    if any(type(number) is not int or number < 0 for number in numbers) or len(sizes) != len(strides):
        return False
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return buffer is None or 0 in sizes or last < buffer.size


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
