"""Lesson 05. Where a value was found, what must hold of it for a trace to be right again, and the cache that asks.

>>> frame = Frame(lambda model, x: None, ([3, "a"], 2.0), {})
>>> guards = Guards()
>>> guards.read(local("model"), frame.locals["model"], None)
[3, 'a']
>>> for guard in guards: print(guard)
type(model) is list and len(model) == 2
model[0] == 3
model[1] == 'a'
>>> frame.locals["model"] = [4, "a"]; print(guards.first_failing(frame))
model[0] == 3
"""

import types
from dataclasses import replace

import numpy as np
from mini.interpreter import Frame, Items  # noqa: F401
from mini.ops import STACK, Tensor, tensor  # noqa: F401
from mini.sizes import Batch, Size


# %% 05.3 sources
class Source:
    """A path to a value: as one would write it in Python, and as a function of a frame that finds what lies there now.

    >>> print(local("self").attr("layers").item(0))
    self.layers[0]
    """

    def __init__(self, text, find):
        self.text, self.find = text, find

    def __str__(self):
        return self.text

    def attr(self, name):
        return Source(f"{self}.{name}", lambda frame: getattr(self.find(frame), name))

    def item(self, key):
        return Source(f"{self}[{key!r}]", lambda frame: self.find(frame)[key])


def local(name):
    return Source(name, lambda frame: frame.locals[name])


def on_stack(index):
    return Source(f"stack[{index}]", lambda frame: frame.stack[index])


def fixed(value):
    """To an object that stays. The globals of a module are told by its name, anything else by where it lies."""
    text = value.get("__name__", "globals()") if isinstance(value, dict) else f"object_at_{id(value):x}"
    return Source(text, lambda frame: value)


# %% given
CONSTANTS = (type(None), bool, int, float, str, bytes, type(Ellipsis), slice, range)
ALWAYS_THE_SAME = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.CodeType)
ALWAYS_THE_SAME += (types.MethodDescriptorType, types.WrapperDescriptorType)


def is_constant(value):
    """Its type and its repr say all of it. (A subclass may have a repr of its own.)"""
    return type(value) in CONSTANTS or isinstance(value, (np.dtype, np.generic))


def is_fixed(value):
    """Whether the program means this very one: a class, a module, its globals, most functions."""
    if isinstance(value, types.FunctionType):  # what it closes over, and its defaults, may be others at the next call
        return not (value.__closure__ or value.__defaults__ or value.__kwdefaults__)
    if isinstance(value, types.BuiltinMethodType):  # len belongs to a module, items.append to a list
        return isinstance(value.__self__, (types.ModuleType, type))
    return isinstance(value, ALWAYS_THE_SAME) or (type(value) is dict and "__builtins__" in value)


def about(tensor, first=0):
    """All of a tensor that a graph relies on: not its numbers, which are inputs. Of its sizes those from `first` on."""
    return type(tensor), tensor.sizes[first:], tensor.strides, tensor.dtype, tensor.requires_grad


# %% 05.4 guards, and the first that fails
class Guard(Source):
    """Something that must hold: as text, and as a function of a frame that finds out whether it does."""

    def check(self, frame):
        try:
            return bool(self.find(frame))
        except (AttributeError, LookupError, TypeError, ValueError):  # the path is gone: a miss, and no crash
            return False


class Guards(list):
    """The guards of one trace, in the order in which it read."""

    def __init__(self, dynamic=False):
        self.known = {}  # by id, of the value and of what the trace uses for it: (what it uses, the value, the source)
        self.mutable = []  # the sources of all that a write can change
        self.dynamic, self.batch, self.batch_in = dynamic, None, lambda frame: None  # the last: how many at a call

    def require(self, text, holds):
        self.append(Guard(text, holds))

    def first_failing(self, frame):
        return next((guard for guard in self if not guard.check(frame)), None)

    def source_of(self, value):
        return self.known[id(value)][2] if id(value) in self.known else None

    # %% given
    def remember(self, mine, value, source):
        if not isinstance(value, (tuple, types.MethodType, *ALWAYS_THE_SAME)):
            self.mutable.append(source)
        self.known[id(mine)] = self.known[id(value)] = mine, value, source
        return mine

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
            dynamic = is_dynamic(self, value)  # then its first size may be another one
            seen = about(value, dynamic)
            self.require(f"{source} is a tensor {seen[1:]}", lambda frame: about(source.find(frame), dynamic) == seen)
            example = with_batch(self, source, value) if dynamic else value
            return self.remember(make_input(source, example), value, source)
        text, *seen = facts(value)
        self.require(text.format(source, *seen), lambda frame: facts(source.find(frame)) == (text, *seen))

        def part(step, key, item):
            return item if step == "key" else self.read(getattr(source, step)(key), item, make_input)

        return self.remember(remade(value, part, lambda mine: self.remember(mine, value, source)), value, source)


# %% 05.6 what must stay
def facts(value):
    """What must hold of it, a text to be filled in, and what is asked: which one it is, or its type and its length or keys.

    A `def` in a function makes a new one at each call, of the same code: that is which one it is.

    >>> facts([3, "a"]), facts({1: "x"}) == facts({True: "x"})
    (('type({0}) is {1} and len({0}) == {2}', 'list', 2), False)
    """
    kind = type(value)
    if is_fixed(value):
        by = (value.__code__, value.__globals__) if kind is types.FunctionType else (value,)
        return "{0} is {1}", getattr(value, "__name__", kind.__name__), *map(id, by)
    if kind in (list, tuple):
        return "type({0}) is {1} and len({0}) == {2}", kind.__name__, len(value)
    if kind is dict:
        return "type({0}) is dict and list({0}) == {1}", list(value), [type(key) for key in value]
    return "type({0}) is {1}", kind.__name__, kind


# %% given
def refilled(container, items):
    """The same list or dict, with this in it."""
    container.clear()
    container.extend(items) if isinstance(container, list) else container.update(items)
    return container


def function_of(code, module, name, defaults, closure, keywords):
    function = types.FunctionType(code, module, name, defaults, closure)
    function.__kwdefaults__ = keywords
    return function


REMADE = {  # of a kind of objects: the attributes that are its parts, and what makes one of them again
    Items: ("sequence at", Items),
    slice: ("start stop step", slice),
    types.MethodType: ("__func__ __self__", types.MethodType),
    types.BuiltinMethodType: ("__self__ __name__", getattr),
    types.FunctionType: ("__code__ __globals__ __name__ __defaults__ __closure__ __kwdefaults__", function_of),
}


# %% 05.7 of other parts
def remade(value, part, remember):
    """Another value of the same kind: `part(step, key, item)` gives what stands for a part. What has none stays itself."""
    kind = type(value)
    if kind in REMADE and not is_fixed(value):
        names, make = REMADE[kind]
        return make(*[part("attr", name, getattr(value, name)) for name in names.split()])
    if kind not in (list, dict, tuple) or is_fixed(value):
        return value
    mine = () if kind is tuple else remember(kind())  # before its items: it may lie in itself
    if kind is dict:
        return refilled(mine, {part("key", key, key): part("item", key, item) for key, item in value.items()})
    items = [part("item", i, item) for i, item in enumerate(value)]
    return tuple(items) if kind is tuple else refilled(mine, items)


# %% 05.8 what no single path tells
def sharing(sources, frame):
    """Of each mutable value the first that it is one with: a write into that one would be seen through it.

    >>> x, y = tensor([1.0]), tensor([2.0])
    >>> frame = Frame(lambda a, b, c: None, (x, y, x), {})
    >>> sharing([local(name) for name in "abc"], frame)
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
class Cache(dict):
    """What was compiled for each place where a trace began, and in what order to ask: the one used last is in front."""

    limit = 8  # more versions of a place would be compiled at every call, and hardly ever used

    def here(self, frame):
        return self.setdefault((frame.at, len(frame.stack)), [])

    def lookup(self, frame):
        """The entry whose guards all hold, moved to the front; None if there is none."""
        here = self.here(frame)
        for i, entry in enumerate(here):
            if entry.guards.first_failing(frame) is None:
                here.insert(0, here.pop(i))
                return entry
        return None


# %% 05.12 inputs whose batch is dynamic
def is_dynamic(guards, tensor):
    """If formulas are wanted, all but parameters; one number is the batch of all, and 1 is a case of its own."""
    batch = guards.batch.now if guards.batch else max(tensor.sizes[:1], default=0)
    return guards.dynamic and not tensor.requires_grad and tensor.sizes[:1] == (batch,) and batch >= 2


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
