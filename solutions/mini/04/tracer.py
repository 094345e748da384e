"""Lesson 04b. The interpreter, with one other answer to `apply`: what meets a tensor goes into a graph.

>>> def f(x, layers):
...     for scale in layers:
...         x = (x * scale).relu()
...     return x
>>> traced = Trace(Frame(f, (fake((2, 2)), [1, 3]), {}))
>>> traced.run()
>>> print(traced.record.graph)
def graph(x0):
    mul = mul(x0, 1)                                # (2, 2)
    relu = relu(mul)                                # (2, 2)
    mul1 = mul(relu, 3)                             # (2, 2)
    relu1 = relu(mul1)                              # (2, 2)
    return
"""

import builtins
import math
import operator
import types

from mini.graph import Record, fake  # noqa: F401
from mini.guards import ALWAYS_THE_SAME, Frame, Guards, Items, Size, Tensor, fixed, local, on_stack
from mini.interpreter import IN_PLACE, behind


class Break(Exception):
    """The trace ends before this instruction: it needs what is not known while tracing."""


NEEDS_DATA = {"item", "tolist", "numpy", "backward"}
PURE = {getattr(builtins, name) for name in (
    "abs all any bool dict divmod enumerate float format int isinstance issubclass iter len list map max min next pow "
    "range repr reversed round slice sorted str sum tuple type zip").split()}  # fmt: skip
PURE |= {f for module in (operator, math) for f in vars(module).values() if isinstance(f, types.BuiltinFunctionType)}
TYPES = {isinstance, issubclass, type, operator.is_, operator.is_not}
ITERATORS = (enumerate, zip, map, reversed)
WRITES = {operator.setitem, operator.delitem, *IN_PLACE}
CONTAINERS = (list, dict, tuple)  # these are read item by item; of an object of a derived class only its type is known
MUTATORS = set("append extend insert pop remove clear update setdefault sort reverse popitem".split())


# %% 04.5 a trace begins
class Trace:
    """One trace from where a frame stands: what it read (guards), what it computed (a graph), what it changed."""

    def __init__(self, frame, dynamic=False):
        self.began, self.reason = (frame, dynamic), None
        self.guards, self.record = Guards(dynamic), Record()
        self.input_sources, self.changed, self.attributes, self.made = [], {}, {}, {}
        self.frame = Tracer.__new__(Tracer)
        vars(self.frame).update(vars(frame), trace=self)
        self.frame.locals = {name: self.read(local(name), v) for name, v in frame.locals.items()}
        self.frame.stack = [self.read(on_stack(i), v) for i, v in enumerate(frame.stack)]

    def read(self, source, value):
        return self.guards.read(source, value, self.make_input)

    def make_input(self, source, tensor):
        self.input_sources.append(source)
        return self.record.input(tensor)

    # %% 04.6 to the end, or to a break
    def run(self, most=math.inf):
        """To the end of the frame, or before the instruction that breaks: what it had begun goes, by tracing anew up to it."""
        done = 0
        try:
            with self.record:
                while self.frame.outcome is None and done < most:
                    self.frame.step()
                    done += 1
        except Exception as error:  # whatever it is, running the instruction for real will tell it
            self.__init__(*self.began)
            self.run(done)
            self.reason = error


# %% 04.7 now or later
class Tracer(Frame):
    """A frame whose values are plain Python's, and fakes for tensors."""

    def apply(self, function, *args, **kwargs):
        """An op goes into the graph, a Python function is gone into, and anything else is done now, if it may be."""
        if isinstance(function, types.MethodDescriptorType):  # list.append(items, item)
            function, args = function.__get__(args[0]), args[1:]
        owner = getattr(function, "__self__", None)
        if function is getattr:
            return self.attribute(*args)
        if function is setattr:
            return self.set_attribute(*args)
        if function is operator.getitem and args[0] is self.globals:
            return self.trace.read(fixed(args[0]).item(args[1]), args[0][args[1]])
        if isinstance(owner, Tensor) or getattr(function, "__module__", "") == "mini.ops":
            if getattr(function, "__name__", "") in NEEDS_DATA:
                raise Break(f"{function.__name__} needs a tensor's data")
            return function(*args, **kwargs)
        by_class = isinstance(type(function).__call__, types.FunctionType)  # which of the class's it is must be guarded
        python, slots = behind(self.attribute(function, "__call__") if by_class else function, args)
        return self.inline(python, slots, kwargs) if python else self.compute(function, owner, args, kwargs)

    # %% 04.8 going into a function
    def inline(self, function, args, kwargs):
        """A frame of its own, which records into the same graph."""
        frame = Tracer(function, args, kwargs)
        frame.trace = self.trace
        _, result = frame.run()
        return result

    # %% given
    def callback(self, value):
        return (lambda *args: self.apply(value, *args)) if callable(value) else value

    def asks(self, function, values):
        """Whether the answer is up to an object from outside: only its type is guarded."""
        objects = [v for v in values if not isinstance(v, (Tensor, *ALWAYS_THE_SAME)) and type(v) not in CONTAINERS]
        objects = [value for value in objects if self.trace.guards.source_of(value)]
        if function in ITERATORS and any(isinstance(value, types.GeneratorType) for value in values):
            return True  # it would be run to its end at once
        return bool(objects) and function not in TYPES  # two of them stay two: the setting is guarded

    # %% 04.9 what Python does now
    def compute(self, function, owner, args, kwargs):
        """Done now, by Python itself: nothing in it depends on the numbers in a tensor."""
        name = getattr(function, "__name__", type(function).__name__)
        if function in (types.CellType, types.FunctionType):
            made = function(*args)
            self.trace.made[id(made)] = made
            return made
        if function in (map, max, min, sorted) or name == "sort":  # the functions they call are gone into, too
            args, kwargs = [self.callback(v) for v in args], {key: self.callback(v) for key, v in kwargs.items()}
        container = args[0] if function in WRITES else owner
        if type(container) in (list, dict) and (function in WRITES or name in MUTATORS):
            if self.trace.guards.source_of(container):  # from outside: the real one must be changed, too
                self.trace.changed[id(container)] = container
        elif self.asks(function, [*args, *kwargs.values()]):
            raise Break(f"{name} asks an object of the program's")
        elif function not in PURE and type(owner) not in (list, dict, tuple, str, int, float):
            raise Break(f"a call of {name}")
        if function in TYPES:  # a size is to the program what it stands for
            args = [operator.index(arg) if isinstance(arg, Size) else arg for arg in args]
        result = function(*args, **kwargs)
        if isinstance(result, str) and ("fake(" in result or self.trace.guards.batch and "s0" in result):
            raise Break("the text of a tensor, or of its size")
        if function in (iter, *ITERATORS) and not isinstance(result, (Items, types.GeneratorType)):
            return Items(list(result))
        return result

    # %% 04.10 attributes
    def attribute(self, obj, name, *default):
        """Read now. Of an object from outside it is guarded, and what the trace has set itself comes first."""
        trace, source = self.trace, self.source_of(obj)
        if (id(obj), name) in trace.attributes:
            return trace.attributes[id(obj), name][2]
        if isinstance(obj, Tensor) and name in ("grad", "grad_fn", "storage", "is_fake"):
            raise Break(f"the {name} of a tensor")
        if source is None or isinstance(obj, Tensor) or type(obj) in CONTAINERS:
            return getattr(obj, name, *default)
        if isinstance(found := getattr(type(obj), name, None), property):
            return self.inline(found.fget, (obj,), {})
        value = getattr(obj, name, *default)
        if isinstance(value, types.MethodType) and value.__self__ is obj:
            found = trace.read(source.attr(name).attr("__func__"), value.__func__)
            return types.MethodType(found, obj)
        return trace.read(source.attr(name), value)

    def set_attribute(self, obj, name, value):
        """Set when the graph has run; until then it is remembered."""
        plain = type(obj).__setattr__ is object.__setattr__ and not isinstance(getattr(type(obj), name, None), property)
        known = self.source_of(obj) or id(obj) in self.trace.made
        if not known or isinstance(obj, Tensor) or not plain:
            raise Break(f"setting {name} of a {type(obj).__name__}")
        self.trace.attributes[id(obj), name] = obj, name, value

    # %% given
    def source_of(self, obj):
        """A cell that the trace did not make stays: the function that closes over it is guarded."""
        if isinstance(obj, types.CellType) and id(obj) not in self.trace.made:
            return self.trace.guards.source_of(obj) or fixed(obj)
        return self.trace.guards.source_of(obj)
