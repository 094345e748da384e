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
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from mini.interpreter import Frame, Items  # noqa: F401
from mini.ops import STACK
from mini.sizes import Batch, Size
from mini.tensor import Tensor, tensor  # noqa: F401


# %% 05.3 sources
@dataclass(frozen=True, eq=False)
class Source:
    """A path to a value: it begins in a frame ("local", "stack") or at an object that stays ("fixed").

    >>> print(Source(Source(Source(None, "local", "self"), "attr", "layers"), "item", 0))
    self.layers[0]
    """

    base: "Source | None"
    kind: str  # or "attr", "item": a step from `base`
    key: object

    def find(self, frame):
        """What the path leads to now."""
        if self.kind == "fixed":
            return self.key
        if self.kind in ("local", "stack"):
            return (frame.locals if self.kind == "local" else frame.stack)[self.key]
        base = self.base.find(frame)
        return base[self.key] if self.kind == "item" else getattr(base, self.key)

    def __str__(self):
        """As one would write it in Python."""
        if self.base is not None:
            return f"{self.base}[{self.key!r}]" if self.kind == "item" else f"{self.base}.{self.key}"
        if self.kind == "fixed":  # the globals of a module are told by its name, anything else by where it lies
            is_globals = isinstance(self.key, dict)
            return self.key.get("__name__", "globals()") if is_globals else f"object_at_{id(self.key):x}"
        return self.key if self.kind == "local" else f"stack[{self.key}]"


# %% given
CONSTANTS = (type(None), bool, int, float, str, bytes, type(Ellipsis), slice, range)
ALWAYS_THE_SAME = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.CodeType)
BOUND = (types.MethodType, types.BuiltinMethodType)


def is_constant(value):
    """Its type and its repr say all of it. (A subclass may have a repr of its own.)"""
    return type(value) in CONSTANTS or isinstance(value, (np.dtype, np.generic))


def about(tensor, first=0):
    """All of a tensor that a graph relies on: not its numbers, which are inputs. Of its sizes those from `first` on."""
    strides, dtype, requires_grad = [getattr(tensor, name, None) for name in ("strides", "dtype", "requires_grad")]
    return type(tensor), tensor.sizes[first:], strides, dtype, requires_grad


# %% 05.4 guards, and the first that fails
@dataclass(frozen=True)
class Guard:
    """Something that must hold, as text, and as a function of the frame that asks whether it does."""

    text: str
    holds: Callable

    def check(self, frame):
        try:
            return bool(self.holds(frame))
        except (AttributeError, LookupError, TypeError, ValueError):  # the path is gone: a miss, and no crash
            return False

    def __str__(self):
        return self.text


class Guards(list):
    """The guards of one trace, in the order in which it read."""

    def __init__(self, dynamic=()):
        self.known = {}  # by id, of the value and of what the trace uses for it: (what it uses, the value, the source)
        self.mutable = []  # the sources of all that a write can change
        self.dynamic, self.batch, self.batch_in = dynamic, None, lambda frame: None  # the last: how many at a call

    def require(self, text, holds):
        self.append(Guard(text, holds))

    def first_failing(self, frame):
        return next((guard for guard in self if not guard.check(frame)), None)

    def source_of(self, value):
        return self.known[id(value)][2] if id(value) in self.known else None

    # %% 05.5 everything that is read
    def read(self, source, value, make_input):
        """Require what must hold of a value from outside, and give what the trace uses in its place."""
        if is_constant(value):
            kind, text = type(value), repr(value)  # repr tells 0.0 from -0.0, and finds nan equal to nan
            self.require(f"{source} == {text}", lambda frame: type(v := source.find(frame)) is kind and repr(v) == text)
            return value
        if id(value) in self.known:
            mine, _, first = self.known[id(value)]
            if str(first) != str(source):
                self.require(f"{source} is {first}", lambda frame: source.find(frame) is first.find(frame))
            return mine
        if isinstance(value, Tensor):
            dynamic = is_dynamic(self, source, value)  # then its first size may be another one
            seen = about(value, dynamic)
            self.require(f"{source} is a tensor {seen[1:]}", lambda frame: about(source.find(frame), dynamic) == seen)
            example = with_batch(self, source, value) if dynamic else value
            return self.remember(make_input(source, example), value, source)

        def part(step, key, item):
            return self.read(Source(source, step, key), item, make_input)

        return READERS.get(type(value), read_object)(self, source, value, part)

    # %% given
    def remember(self, mine, value, source):
        if not isinstance(value, (tuple, *ALWAYS_THE_SAME, *BOUND)):
            self.mutable.append(source)
        self.known[id(mine)] = self.known[id(value)] = mine, value, source
        return mine


# %% 05.6 what is read through
def read_list(guards, source, value, part):
    """Its type, its length, each item. The trace gets a list of its own, which it may change."""
    kind, count = type(value), len(value)
    text = f"type({source}) is {kind.__name__} and len({source}) == {count}"
    guards.require(text, lambda frame: type(v := source.find(frame)) is kind and len(v) == count)
    mine = value if kind is tuple else guards.remember([], value, source)  # before its items: it may lie in itself
    items = [part("item", i, item) for i, item in enumerate(value)]
    if kind is tuple:
        return guards.remember(tuple(items), value, source)
    mine.extend(items)
    return mine


def read_dict(guards, source, value, part):
    """Its keys in their order, each value. The keys 1, 1.0 and True are equal, and are not the same."""
    keys = [(type(key), key) for key in value]
    text = f"type({source}) is dict and list({source}) == {list(value)}"
    guards.require(text, lambda frame: type(v := source.find(frame)) is dict and [(type(k), k) for k in v] == keys)
    mine = guards.remember({}, value, source)
    mine.update({key: part("item", key, item) for key, item in value.items()})
    return mine


# %% 05.7 objects, functions, methods
def read_object(guards, source, value, part):
    """Its type. What it holds is read when the program asks for it; a class or a module is always the same one."""
    kind = type(value)
    if isinstance(value, ALWAYS_THE_SAME):
        name = getattr(value, "__name__", kind.__name__)
        guards.require(f"{source} is {name}", lambda frame: source.find(frame) is value)
    else:
        guards.require(f"type({source}) is {kind.__name__}", lambda frame: type(source.find(frame)) is kind)
    return guards.remember(value, value, source)


def read_function(guards, source, value, part):
    """A `def` in a function makes a new one at each call, with the same code: then that is required, and cells read."""
    if not value.__closure__:
        return read_object(guards, source, value, part)
    part("attr", "__code__", value.__code__)
    for name in ("__closure__", "__defaults__", "__kwdefaults__"):
        part("attr", name, getattr(value, name))
    return guards.remember(value, value, source)


def read_method(guards, source, value, part):
    """Bound anew whenever it is asked for. Its object is read like any other, and its function is the same."""
    if isinstance(value.__self__, (types.ModuleType, type)):
        return read_object(guards, source, value, part)  # len, math.sqrt: functions
    owner = part("attr", "__self__", value.__self__)
    if isinstance(value, types.MethodType):
        return guards.remember(types.MethodType(part("attr", "__func__", value.__func__), owner), value, source)
    return guards.remember(getattr(owner, part("attr", "__name__", value.__name__)), value, source)


# %% given
def read_items(guards, source, value, part):
    guards.require(f"type({source}) is Items", lambda frame: type(source.find(frame)) is Items)
    return guards.remember(Items(part("attr", "sequence", value.sequence), part("attr", "at", value.at)), value, source)


READERS = {list: read_list, tuple: read_list, dict: read_dict, Items: read_items, types.FunctionType: read_function}
READERS |= dict.fromkeys(BOUND, read_method)


# %% 05.8 what no single path tells
def sharing(sources, frame):
    """Of each mutable value the first that it is one with: a write into that one would be seen through it.

    >>> x, y = tensor([1.0]), tensor([2.0])
    >>> frame = Frame(lambda a, b, c: None, (x, y, x), {})
    >>> sharing([Source(None, "local", name) for name in "abc"], frame)
    [0, 1, 0]
    """
    values = [source.find(frame) for source in sources]
    places = [id(value.storage) if isinstance(value, Tensor) else id(value) for value in values]
    return [places.index(place) for place in places]


def layers():
    """Who sees each op on its way down, and whether it is switched on: a tape, a transform."""
    return [(type(layer), getattr(layer, "enabled", True)) for layer in STACK]


def require_same_setting(guards, frame):
    """What was one stays one, what was different stays different; and the layers are the same ones."""
    sources, now, shared = guards.mutable, layers(), sharing(guards.mutable, frame)
    if len(sources) > 1:
        text = f"the same of {', '.join(map(str, sources))} are one"
        guards.require(text, lambda frame: sharing(sources, frame) == shared)
    guards.require(f"the layers are {[kind.__name__ for kind, _ in now]}", lambda frame: layers() == now)


# %% 05.9 the cache
class Cache:
    """What was compiled for each place where a trace began, and in what order to ask: the one used last is in front."""

    limit = 8

    def __init__(self):
        self.entries = {}

    def here(self, frame):
        return self.entries.setdefault((frame.at, len(frame.stack)), [])

    def lookup(self, frame):
        """The entry whose guards all hold, moved to the front; None if there is none."""
        here = self.here(frame)
        for i, entry in enumerate(here):
            if entry.guards.first_failing(frame) is None:
                here.insert(0, here.pop(i))
                return entry
        return None

    def insert(self, frame, entry):
        self.here(frame).insert(0, entry)

    def is_full(self, frame):
        """To be asked before compiling: one version more would be compiled at every call, and hardly ever used."""
        return len(self.here(frame)) >= self.limit

    def why(self, frame):
        """Of each version here, the first guard that fails."""
        return [str(entry.guards.first_failing(frame)) for entry in self.here(frame)]


# %% 05.12 inputs whose batch is dynamic
def is_dynamic(guards, source, tensor):
    """Asked for by name, or all but parameters (True); one number is the batch of all, and 1 is a case of its own."""
    wanted = not tensor.requires_grad if guards.dynamic is True else str(source) in (guards.dynamic or ())
    batch = guards.batch.now if guards.batch else max(tensor.sizes[:1], default=0)
    return wanted and tensor.sizes[:1] == (batch,) and batch >= 2


def with_batch(guards, source, tensor):
    """The tensor, its first size a formula. What is said of the batch while tracing is required of it at a call."""
    if guards.batch is None:
        guards.batch_in = lambda frame: source.find(frame).sizes[0]
        said = lambda text, holds: guards.require(text, lambda frame: holds(guards.batch_in(frame)))
        guards.batch = Batch(tensor.sizes[0], said)
        said("s0 >= 2", lambda batch: batch >= 2)
    guards.require(f"{source}.sizes[0] == s0", lambda frame: source.find(frame).sizes[0] == guards.batch_in(frame))
    example = Tensor(tensor.storage, replace(tensor.layout, sizes=(Size(guards.batch), *tensor.sizes[1:])))
    example.requires_grad = tensor.requires_grad
    return example


def other_batches(entries, frame):
    """The inputs, by name, of the version used last of which only the first size is another one now."""

    def differs(source, old):
        return lambda frame: about(new := source.find(frame), 1) == about(old, 1) and new.sizes != old.sizes

    known = [known for entry in entries[:1] for known in entry.guards.known.values()]
    tensors = [(source, old) for _, old, source in known if isinstance(old, Tensor)]
    return {str(source) for source, old in tensors if Guard("", differs(source, old)).check(frame)}
