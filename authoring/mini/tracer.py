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

from mini import ops
from mini.graph import Record
from mini.guards import Guards, Source
from mini.interpreter import Frame, Items, Unsupported
from mini.tensor import Tensor, fake  # noqa: F401


class Break(Exception):
    """The trace ends before this instruction: it needs what is not known while tracing."""


NEEDS_DATA = {"item", "tolist", "numpy", "backward"}
PURE = {getattr(builtins, name) for name in (
    "abs all any bool dict divmod enumerate float format int isinstance issubclass iter len list max min "
    "next pow range repr reversed round slice sorted str sum tuple type zip").split()}  # fmt: skip
PURE |= {f for module in (operator, math) for f in vars(module).values() if isinstance(f, types.BuiltinFunctionType)}
PURE |= {operator.attrgetter, operator.itemgetter}
WRITES = {operator.setitem, operator.iadd, operator.delitem}
MUTATORS = {
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "update",
    "setdefault",
    "sort",
    "reverse",
    "popitem",
}


class Trace:
    """One trace from where a frame stands: what it read (guards), what it computed (a graph), what it changed."""

    def __init__(self, frame):
        self.guards, self.record, self.undo = Guards(), Record(), []
        self.input_sources, self.changed, self.attributes, self.new_cells = [], {}, {}, {}
        self.frame = Tracer.__new__(Tracer)
        vars(self.frame).update(vars(frame), trace=self)
        self.frame.locals = {name: self.read(Source(None, "local", name), v) for name, v in frame.locals.items()}
        self.frame.stack = [self.read(Source(None, "stack", i), v) for i, v in enumerate(frame.stack)]

    def read(self, source, value):
        return self.guards.read(source, value, self.make_input)

    def make_input(self, source, tensor):
        self.input_sources.append(source)
        return self.record.input(tensor)

    def run(self):
        """To the end of the frame, or to the instruction that breaks; then the frame is as it was before that one."""
        frame = self.frame
        while frame.outcome is None:
            before = list(frame.stack), dict(frame.locals), frame.at, len(self.record.graph.nodes)
            self.undo = []
            try:
                with self.record:
                    frame.step()
            except Exception as error:  # whatever it is, running the instruction for real will tell it
                frame.stack, frame.locals, frame.at, count = before
                del self.record.graph.nodes[count:]
                for put_back in reversed(self.undo):
                    put_back()
                self.reason = error
                return
        if frame.outcome[0] == "yield":
            raise Unsupported("compiling a generator")

    def change(self, container):
        """Before a list or dict is written to: remember how it was, and that the real one must be changed, too."""
        copy = container.copy()
        self.undo.append(
            lambda: (container.clear(), container.extend(copy) if type(copy) is list else container.update(copy))
        )
        if self.guards.source_of(container):
            self.changed[id(container)] = container


class Tracer(Frame):
    """A frame whose values are plain Python's, and fakes for tensors."""

    def __init__(self, function, args, kwargs, trace):
        super().__init__(function, args, kwargs)
        self.trace = trace

    def apply(self, function, *args, **kwargs):
        trace, owner = self.trace, getattr(function, "__self__", None)
        if function is getattr:
            return self.attribute(*args)
        if function is setattr:
            return self.set_attribute(*args)
        if function is operator.getitem and args[0] is self.globals:
            return trace.read(Source(Source(None, "fixed", args[0]), "item", args[1]), args[0][args[1]])
        if (
            isinstance(owner, Tensor)
            or getattr(function, "__module__", None) == "mini.ops"
            or isinstance(function, ops.Op)
        ):
            if getattr(function, "__name__", "") in NEEDS_DATA:
                raise Break(f"{function.__name__} needs a tensor's data")
            return function(*args, **kwargs)
        if isinstance(function, types.FunctionType):
            return Tracer(function, args, kwargs, trace).result()
        if isinstance(function, types.MethodType):
            return Tracer(function.__func__, (owner, *args), kwargs, trace).result()
        if isinstance(getattr(type(function), "__call__", None), types.FunctionType):
            return Tracer(type(function).__call__, (function, *args), kwargs, trace).result()
        if function in WRITES or getattr(function, "__name__", "") in MUTATORS and type(owner) in (list, dict):
            container = args[0] if function in WRITES else owner
            if type(container) in (list, dict):
                trace.change(container)
            elif not isinstance(container, Tensor) and function is not operator.iadd:
                raise Break(f"a write into a {type(container).__name__}")
            return function(*args, **kwargs)
        if function is next and isinstance(args[0], Items):
            items, at = args[0], args[0].at
            trace.undo.append(lambda: setattr(items, "at", at))
            return function(*args)
        if function not in (isinstance, type, issubclass) and any(map(self.opaque, (*args, *kwargs.values()))):
            raise Break(f"{function.__name__} asks an object or a function of the program's")
        if function in PURE or type(owner) in (list, dict, tuple, str, int, float):
            result = function(*args, **kwargs)
            return (
                Items(list(result)) if type(result) in (enumerate, zip, map, reversed) or function is iter else result
            )
        raise Break(f"a call of {getattr(function, '__qualname__', type(function).__name__)}")

    def opaque(self, value):
        return self.trace.guards.source_of(value) is not None and not isinstance(value, (Tensor, list, dict, tuple))

    def MAKE_CELL(self, name):
        super().MAKE_CELL(name)
        self.trace.new_cells[id(self.locals[name])] = self.locals[name]

    def result(self):
        outcome, value = super().run()
        if outcome == "yield":
            raise Unsupported("a generator")
        return value

    def attribute(self, obj, name, *default):
        trace, source = self.trace, self.source_of(obj)
        if (id(obj), name) in trace.attributes:
            return trace.attributes[id(obj), name][2]
        if isinstance(obj, Tensor):
            if name in ("grad", "grad_fn"):
                raise Break(f"the {name} of a tensor")
            return getattr(obj, name)
        if source is None or isinstance(obj, (list, dict, tuple)):
            return getattr(obj, name, *default)
        value = getattr(obj, name, *default)
        if isinstance(value, types.MethodType) and value.__self__ is obj:
            trace.read(Source(Source(source, "attr", name), "attr", "__func__"), value.__func__)
            return value
        found = getattr(type(obj), name, None)
        if isinstance(found, property):
            return Tracer(found.fget, (obj,), {}, trace).result()
        return trace.read(Source(source, "attr", name), value)

    def set_attribute(self, obj, name, value):
        trace = self.trace
        if self.source_of(obj) is None:
            if not isinstance(obj, types.CellType):
                raise Break(f"an attribute of a new {type(obj).__name__}")
            obj.cell_contents = value  # its frame is undone with it
            return
        before = dict(trace.attributes)
        trace.undo.append(lambda: setattr(trace, "attributes", before))
        trace.attributes[id(obj), name] = obj, name, value

    def source_of(self, obj):
        """A cell that the trace did not make stays: the function that closes over it is guarded."""
        if isinstance(obj, types.CellType) and id(obj) not in self.trace.new_cells:
            return self.trace.guards.source_of(obj) or Source(None, "fixed", obj)
        return self.trace.guards.source_of(obj)
