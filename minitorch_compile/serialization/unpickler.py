"""A machine for pickles that knows only what it has decided: each opcode has a row here, or the file is refused.

A pickle is a little program for a machine with a stack and a memo. Pickled data needs three dozen of its instructions,
and these may act on data alone: items go into lists, dictionaries and sets; attributes only to what can bear them; and
the functions that it may call are those of `allowed_names`. What is on the stack but isn't data, the name of a function
(Global) or arguments with one among them (Arguments), can't be put into any container.

>>> import io, pickle
>>> loads(pickle.dumps({"a": [1, (2.5, None)]}, protocol=2))
{'a': [1, (2.5, None)]}
>>> loads(b"cos\\nsystem\\n(S'echo'\\ntR.")
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: the file wants to call os.system, ...

Source: Python's Lib/pickletools.py, which describes the opcodes.
"""

from __future__ import annotations

import io
import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, BinaryIO

from minitorch_compile.serialization.allowed_names import Global, find, is_added
from minitorch_compile.serialization.memory_budget import (
    CONTAINER,
    NUMBER,
    PER_ENTRY,
    PER_ITEM,
    TENSOR,
    TEXT,
    MemoryBudget,
)
from minitorch_compile.serialization.plain_data import check_key
from minitorch_compile.serialization.unreadable_file import MISFITS, UnreadableFileError, refuse

DICTIONARIES = (dict, OrderedDict, defaultdict, Counter)
LONGEST_NAME = 1000  # of a module or a class
NEWEST_PROTOCOL = 5
Lookup = Callable[[Any], Any]

_mark = object()


class Arguments(tuple[Any, ...]):
    """A tuple with a Global somewhere in it: the arguments of a call, and no data."""

    __slots__ = ()


class Unpickler:
    """Reads one pickle from where the file stands. `persistent(reference)` gives what the pickle refers to outside."""

    def __init__(self, file: BinaryIO, size: int, persistent: Lookup, budget: MemoryBudget) -> None:
        self.file = file
        self.end = file.tell() + size
        self.persistent = persistent
        self.budget = budget
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The object. UnreadableFileError for a pickle that is damaged, or asks for what isn't allowed."""
        read = self.file.read
        while (opcode := read(1)) != b".":
            step = OPCODES.get(opcode)
            if step is None:
                raise refuse(
                    f"the pickle has the opcode {opcode!r}, which files of tensors don't need"
                    if opcode
                    else "the file ends in the middle of a pickle"
                )
            step(self)
        if len(self.stack) != 1:
            raise refuse(f"the pickle ends with {len(self.stack)} objects on its stack, not one")
        return data(self.stack[0])

    # ------------------------------------------------------------------------------------------- reading

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count > self.end - self.file.tell():
            raise refuse(f"the pickle has an object of {count} bytes, more than the file has")
        self.budget.spend(count)
        return self.file.read(count)

    def number(self, layout: struct.Struct) -> int:
        """The next number."""
        raw = self.file.read(layout.size)
        if len(raw) != layout.size:
            raise refuse("the file ends in the middle of a pickle")
        return int(layout.unpack(raw)[0])

    def line(self) -> str:
        """The next line, a name."""
        raw = self.file.readline(LONGEST_NAME)
        if not raw.endswith(b"\n"):
            raise refuse("the pickle has a name without an end")
        return text_of(raw[:-1])

    # ------------------------------------------------------------------------------------------- the stack

    def push(self, value: Any, cost: int = 0) -> None:
        """Puts a value on the stack; `cost` is what it takes besides its place there."""
        self.budget.spend(PER_ITEM + cost)
        self.stack.append(value)

    def pop(self) -> Any:
        """The topmost value."""
        value = self.top()
        del self.stack[-1]
        return value

    def top(self) -> Any:
        """The topmost value, which stays."""
        if not self.stack or self.stack[-1] is _mark:
            raise refuse("the pickle takes more from its stack than it put there")
        return self.stack[-1]

    def pop_to_mark(self) -> list[Any]:
        """The values above the topmost mark."""
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is _mark:
                values = self.stack[at + 1 :]
                del self.stack[at:]
                return values
        raise refuse("the pickle goes back to a mark that is not there")

    # ------------------------------------------------------------------------------------------- containers

    def push_tuple(self, values: list[Any]) -> None:
        """A tuple; of arguments if a function is among them."""
        calls = any(type(value) in (Global, Arguments) for value in values)
        self.push(Arguments(values) if calls else tuple(values), CONTAINER + PER_ITEM * len(values))

    def extend(self, values: list[Any]) -> None:
        """Puts values at the end of the list that is on top."""
        target = self.top()
        if not (type(target) is list or (isinstance(target, list) and is_added(type(target)))):
            raise refuse(f"the pickle appends to a {type(target).__name__}")
        self.budget.spend(PER_ITEM * len(values))
        target.extend(map(data, values))

    def set_items(self, values: list[Any]) -> None:
        """Puts keys and values, in turns, into the dictionary that is on top."""
        target = self.top()
        if type(target) not in DICTIONARIES and not (isinstance(target, dict) and is_added(type(target))):
            raise refuse(f"the pickle sets items of a {type(target).__name__}")
        if len(values) % 2:
            raise refuse("the pickle has a key without a value")
        self.budget.spend(PER_ENTRY * (len(values) // 2))
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[check_key(data(key))] = data(value)

    def add_items(self, values: list[Any]) -> None:
        """Puts values into the set that is on top."""
        target = self.top()
        if type(target) is not set:
            raise refuse(f"the pickle adds items to a {type(target).__name__}")
        self.budget.spend(PER_ENTRY * len(values))
        target.update(check_key(data(value)) for value in values)

    # ------------------------------------------------------------------------------------------- names and calls

    def push_global(self, module: Any, name: Any) -> None:
        """What a name means: a value such as a dtype, or something that may be called."""
        if type(module) is not str or type(name) is not str:
            raise refuse("the pickle names a class by what is no string")
        self.push(find(module, name), CONTAINER)

    def call(self) -> None:
        """Calls an allowed function."""
        arguments, function = self.pop(), self.pop()
        if type(function) is not Global or function.call is None or not isinstance(arguments, tuple):
            raise refuse(f"the pickle calls {shown(function)} with {shown(arguments)}")
        counts = [len(a) for a in arguments if isinstance(a, (tuple, list, dict, set, frozenset))]
        self.budget.spend(PER_ENTRY * sum(counts))
        self.push(self.made(function, *arguments), TENSOR)

    def new_object(self) -> None:
        """Makes an instance of a class that the user added."""
        arguments, cls = self.pop(), self.pop()
        if type(cls) is not Global or not isinstance(cls.added, type) or type(arguments) is not tuple:
            raise refuse(
                f"the pickle makes an instance of {shown(cls)}; if you trust the file: add_safe_globals([...])"
            )
        self.push(self.made(cls, *arguments, new=True), TENSOR)

    def made(self, function: Global, *arguments: Any, new: bool = False) -> Any:
        """What an allowed function gives. UnreadableFileError if it doesn't take these arguments."""
        called: Any = function.added.__new__ if new else function.call
        if function.added is not None:  # what the user added may be given what the user added
            arguments = tuple(a.added if type(a) is Global and a.added is not None else a for a in arguments)
        try:
            return called(function.added, *arguments) if new else called(*arguments)
        except UnreadableFileError:
            raise
        except (*MISFITS, RuntimeError) as error:
            raise refuse(f"the pickle calls {function.name} with arguments that it does not take: {error}") from error

    def build(self) -> None:
        """Gives attributes to what can bear them: an OrderedDict, or an instance of a class that the user added."""
        state, target = data(self.pop()), self.top()
        if is_added(type(target)):
            set_state(target, state)
        elif type(target) is OrderedDict and type(state) is dict:
            for name, value in state.items():
                if type(name) is not str or hasattr(OrderedDict, name):
                    raise refuse(f"the pickle sets an attribute {name!r:.100} of an OrderedDict")
                self.budget.spend(PER_ENTRY)
                vars(target)[name] = value
        else:
            raise refuse(f"the pickle sets the state of a {type(target).__name__}")

    # ------------------------------------------------------------------------------------------- the memo

    def memoize(self, index: int) -> None:
        """Remembers the topmost value."""
        value = self.top()
        self.budget.spend(PER_ENTRY)
        self.memo[index] = value

    def recall(self, index: int) -> None:
        """Puts a remembered value on the stack."""
        if index not in self.memo:
            raise refuse(f"the pickle refers to an object {index} that it did not remember")
        self.push(self.memo[index])

    # ------------------------------------------------------------------------------------------- literals

    def push_bytes(self, layout: struct.Struct, kind: Callable[[bytes], Any]) -> None:
        """A string or bytes, after their length."""
        raw = self.take(self.number(layout))
        ascii_only = kind is not text_of or raw.isascii()
        self.budget.spend(0 if ascii_only else 4 * len(raw))  # a character may take four bytes
        self.push(kind(raw), TEXT)

    def push_long(self, layout: struct.Struct) -> None:
        """A whole number of any size."""
        self.push(int.from_bytes(self.take(self.number(layout)), "little", signed=True), NUMBER)

    def check_frame(self) -> None:
        """A frame says only how many bytes to read at once."""
        if self.number(U8) > self.end - self.file.tell():
            raise refuse("the pickle has a frame that is longer than the file")

    def check_protocol(self) -> None:
        """The first instruction of all."""
        version = self.number(U1)
        if version > NEWEST_PROTOCOL:
            raise refuse(f"the pickle is of protocol {version}; the newest is {NEWEST_PROTOCOL}")


def data(value: Any) -> Any:
    """The value, if it is data and not the name of a function."""
    if type(value) in (Global, Arguments) or value is _mark:
        raise refuse(f"the pickle uses {shown(value)} as data")
    return value


def shown(value: Any) -> str:
    """A value on the stack in an error."""
    return value.name if type(value) is Global else f"a {type(value).__name__}"


def text_of(raw: bytes) -> str:
    """The bytes of a string decoded; lone surrogates may be among them, as pickles have them."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise refuse(f"the pickle has a string that is not UTF-8 ({error.reason})") from None


def set_state(target: Any, state: Any) -> None:
    """What pickle does with the state of an object of a class that the user trusts."""
    try:
        if hasattr(target, "__setstate__"):
            target.__setstate__(state)
            return
        attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
        vars(target).update(attributes or {})
        for name, value in (slots or {}).items():
            setattr(target, name, value)
    except (*MISFITS, RuntimeError) as error:
        raise refuse(f"the state of a {type(target).__name__} can't be set: {error}") from error


def loads(pickled: bytes) -> Any:
    """The object that a pickle without references makes."""

    def nothing(reference: Any) -> Any:
        raise refuse("the pickle refers to a storage, and there is none")

    return Unpickler(io.BytesIO(pickled), len(pickled), nothing, MemoryBudget(len(pickled))).load()


U1, U2, U4, U8 = struct.Struct("<B"), struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
S4, DOUBLE = struct.Struct("<i"), struct.Struct(">d")


def _push_double(machine: Unpickler) -> None:
    raw = machine.take(8)
    if len(raw) != 8:
        raise refuse("the file ends in the middle of a pickle")
    machine.push(DOUBLE.unpack(raw)[0], NUMBER)


def _stack_global(machine: Unpickler) -> None:
    name, module = machine.pop(), machine.pop()
    machine.push_global(module, name)


def _set_item(machine: Unpickler) -> None:
    value, key = machine.pop(), machine.pop()
    machine.set_items([key, value])


def _tuple_of(count: int) -> Callable[[Unpickler], None]:
    def step(machine: Unpickler) -> None:
        machine.push_tuple([machine.pop() for _ in range(count)][::-1])

    return step


def _container(make: Callable[[], Any], cost: int) -> Callable[[Unpickler], None]:
    return lambda machine: machine.push(make(), cost)


def _constant(value: Any) -> Callable[[Unpickler], None]:
    return lambda machine: machine.push(value)


def _frozenset(machine: Unpickler) -> None:
    values = machine.pop_to_mark()
    machine.push(frozenset(check_key(data(value)) for value in values), CONTAINER + PER_ENTRY * (2 + len(values)))


# The instructions of protocols 2 to 5, less those that files of tensors have no use for.
OPCODES: dict[bytes, Callable[[Unpickler], Any]] = {
    b"\x80": Unpickler.check_protocol,
    b"\x95": lambda machine: machine.check_frame(),
    b"(": _constant(_mark),
    b"0": Unpickler.pop,
    b"1": Unpickler.pop_to_mark,
    b"N": _constant(None),
    b"\x88": _constant(True),
    b"\x89": _constant(False),
    b"K": lambda machine: machine.push(machine.number(U1)),
    b"M": lambda machine: machine.push(machine.number(U2), NUMBER),
    b"J": lambda machine: machine.push(machine.number(S4), NUMBER),
    b"\x8a": lambda machine: machine.push_long(U1),
    b"\x8b": lambda machine: machine.push_long(U4),
    b"G": _push_double,
    b"X": lambda machine: machine.push_bytes(U4, text_of),
    b"\x8c": lambda machine: machine.push_bytes(U1, text_of),
    b"\x8d": lambda machine: machine.push_bytes(U8, text_of),
    b"U": lambda machine: machine.push_bytes(U1, text_of),  # strings of Python 2
    b"T": lambda machine: machine.push_bytes(U4, text_of),
    b"C": lambda machine: machine.push_bytes(U1, bytes),
    b"B": lambda machine: machine.push_bytes(U4, bytes),
    b"\x8e": lambda machine: machine.push_bytes(U8, bytes),
    b"\x96": lambda machine: machine.push_bytes(U8, bytearray),
    b")": _constant(()),
    b"]": _container(list, CONTAINER),
    b"}": _container(dict, CONTAINER + PER_ENTRY),
    b"\x8f": _container(set, CONTAINER + PER_ENTRY),
    b"t": lambda machine: machine.push_tuple(machine.pop_to_mark()),
    b"\x85": _tuple_of(1),
    b"\x86": _tuple_of(2),
    b"\x87": _tuple_of(3),
    b"\x91": _frozenset,
    b"a": lambda machine: machine.extend([machine.pop()]),
    b"e": lambda machine: machine.extend(machine.pop_to_mark()),
    b"s": _set_item,
    b"u": lambda machine: machine.set_items(machine.pop_to_mark()),
    b"\x90": lambda machine: machine.add_items(machine.pop_to_mark()),
    b"q": lambda machine: machine.memoize(machine.number(U1)),
    b"r": lambda machine: machine.memoize(machine.number(U4)),
    b"\x94": lambda machine: machine.memoize(len(machine.memo)),
    b"h": lambda machine: machine.recall(machine.number(U1)),
    b"j": lambda machine: machine.recall(machine.number(U4)),
    b"c": lambda machine: machine.push_global(machine.line(), machine.line()),
    b"\x93": _stack_global,
    b"R": Unpickler.call,
    b"\x81": Unpickler.new_object,
    b"b": Unpickler.build,
    b"Q": lambda machine: machine.push(machine.persistent(machine.pop()), CONTAINER),
}
