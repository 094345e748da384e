"""Lesson 05. Where a value was found, what must hold of it for a trace to be right again, and the cache that asks.

>>> frame = Frame(lambda model, x: None, ([3, "a"], 2.0), {})
>>> guards = Guards()
>>> guards.read(Source(None, "local", "model"), frame.locals["model"], None)
[3, 'a']
>>> for guard in guards: print(guard)
type(model) is list and len(model) == 2
model[0] == 3
model[1] == 'a'
>>> frame.locals["model"] = [4, "a"]; print(guards.first_failing(frame))
model[0] == 3
"""

import types
from dataclasses import dataclass

import numpy as np
from mini.interpreter import Frame, Items  # noqa: F401
from mini.tensor import Tensor


@dataclass(frozen=True, eq=False)
class Source:
    """A path to a value: it begins in a frame ("local", "stack") or at an object that stays ("fixed")."""

    base: "Source | None"
    kind: str  # or "attr", "item"
    key: object

    def find(self, frame):
        match self.kind:
            case "fixed":
                return self.key
            case "local":
                return frame.locals[self.key]
            case "stack":
                return frame.stack[self.key]
            case "item":
                return self.base.find(frame)[self.key]
        return getattr(self.base.find(frame), self.key)

    def __str__(self):
        match self.kind:
            case "attr":
                return f"{self.base}.{self.key}"
            case "item":
                return f"{self.base}[{self.key!r}]"
            case "fixed":
                return "globals()" if isinstance(self.key, dict) else getattr(self.key, "__name__", "object")
        return str(self.key)


@dataclass(frozen=True)
class Guard:
    text: str
    holds: object  # a function of the frame

    def check(self, frame):
        try:
            return self.holds(frame)
        except (AttributeError, LookupError):  # the path is gone
            return False

    def __str__(self):
        return self.text


CONSTANTS = (type(None), bool, int, float, str, bytes, type(Ellipsis), slice, np.dtype)
ALWAYS_THE_SAME = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)


class Guards(list):
    """The guards of one trace. `read` adds what must hold of a value from outside, and gives what the trace uses for it."""

    def __init__(self):
        self.known, self.tensors = {}, []  # id of what the trace uses, and of the real one: (both, the source)

    def require(self, text, holds):
        self.append(Guard(text, holds))

    def first_failing(self, frame):
        return next((guard for guard in self if not guard.check(frame)), None)

    def source_of(self, value):
        return self.known[id(value)][2] if id(value) in self.known else None

    def read(self, source, value, make_input):
        """Constants are used as they are; tensors become inputs; lists are read through; objects later, by attribute."""
        kind, text = type(value), repr(value) if isinstance(value, CONSTANTS) else None
        if text is not None:  # repr tells 1 from True and 0.0 from -0.0, and finds nan equal to nan
            self.require(f"{source} == {text}", lambda frame: type(v := source.find(frame)) is kind and repr(v) == text)
            return value
        if id(value) in self.known:
            mine, _, first = self.known[id(value)]
            if str(first) != str(source):
                self.require(f"{source} is {first}", lambda frame: source.find(frame) is first.find(frame))
            return mine
        return self.read_object(source, value, kind, make_input)

    def read_object(self, source, value, kind, make_input):
        def part(of, key, item):
            return self.read(Source(source, of, key), item, make_input)

        mine = value
        if isinstance(value, Tensor):
            about, mine = about_tensor(value), make_input(source, value)
            self.tensors.append(source)
            self.require(f"{source} is a tensor {about}", lambda frame: about_tensor(source.find(frame)) == about)
        elif isinstance(value, ALWAYS_THE_SAME):
            self.require(f"{source} is {value.__name__}", lambda frame: source.find(frame) is value)
        elif kind in (list, tuple):
            count = len(value)
            self.require(
                f"type({source}) is {kind.__name__} and len({source}) == {count}",
                lambda frame: type(v := source.find(frame)) is kind and len(v) == count,
            )
            mine = kind([part("item", i, item) for i, item in enumerate(value)])
        elif kind is dict:
            keys = list(value)
            self.require(
                f"list({source}) == {keys}", lambda frame: type(v := source.find(frame)) is dict and list(v) == keys
            )
            mine = {key: part("item", key, item) for key, item in value.items()}
        else:
            self.require(f"type({source}) is {kind.__name__}", lambda frame: type(source.find(frame)) is kind)
            if kind is Items:
                return Items(part("attr", "sequence", value.sequence), part("attr", "at", value.at))
        self.known[id(mine)] = self.known[id(value)] = mine, value, source
        return mine

    def require_distinct_tensors(self):
        """Two that were different may not be one: a write into the first would be missed by the second."""
        sources = self.tensors
        if len(sources) > 1:
            text = " is not ".join(map(str, sources))
            self.require(text, lambda frame: len({id(source.find(frame)) for source in sources}) == len(sources))


def about_tensor(x):
    """All of a tensor that a graph relies on."""
    return isinstance(x, Tensor) and (x.sizes, x.strides, x.dtype.name, x.requires_grad)


class Cache:
    """What was compiled for each place in the code where a trace began, the one used last in front."""

    limit = 8

    def __init__(self):
        self.entries = {}

    def lookup(self, frame):
        here = self.entries.setdefault((frame.at, len(frame.stack)), [])
        for i, entry in enumerate(here):
            if all(guard.check(frame) for guard in entry.guards):
                here.insert(0, here.pop(i))
                return entry
        return None

    def insert(self, frame, entry):
        """False if there are too many already: each would be compiled and hardly ever used."""
        here = self.entries.setdefault((frame.at, len(frame.stack)), [])
        if len(here) >= self.limit:
            return False
        here.insert(0, entry)
        return True
