"""Lesson 06. Where a trace ends before its frame does: run the graph, make the state real, do one step, go on.

>>> def f(x, seen):
...     y = x * 2
...     seen.append(y.sum().item())     # needs data: the graph ends here
...     return y + seen[-1]
>>> region, seen = Region(f), []
>>> region(tensor([1.0, 2.0]), seen), seen
(tensor([8.0, 10.0]), [6.0])
>>> [len(entry.graph.nodes) for entry in region.entries()]
[2, 0, 1]
"""

import types

from mini.guards import Cache
from mini.interpreter import Frame, Items, Unsupported
from mini.tensor import Tensor, tensor  # noqa: F401
from mini.tracer import Trace


class Segment:
    """A trace, finished: its guards, its graph compiled, and the state of the frame where it ended."""

    def __init__(self, frame, backend):
        self.trace = trace = Trace(frame)
        trace.run()
        self.guards, self.graph = trace.guards, trace.record.graph
        self.guards.require_distinct_tensors()
        self.results = {}  # id of each fake that is alive at the end: which output it is
        self.build({}, frame, self.note_result)
        self.graph.without_dead_code()
        self.compiled = backend(self.graph) if self.graph.nodes else None

    def note_result(self, value):
        if self.guards.source_of(value) is None and id(value) not in self.results:
            self.results[id(value)] = len(self.graph.outputs)
            self.graph.outputs.append(self.trace.record.node(value))
        return value

    def run(self, frame):
        """Leave `frame` as running all the traced instructions would have."""
        outputs = self.compiled(*[source.find(frame) for source in self.trace.input_sources]) if self.compiled else []
        self.build({}, frame, lambda value: outputs[self.results[id(value)]])

    def build(self, memo, frame, result_of):
        """What the trace left, with real tensors, the program's own objects, and new ones where the trace made new ones."""
        trace, end = self.trace, self.trace.frame
        guards, real = self.guards, lambda value: copy(value, memo, frame, self.guards, result_of)
        changed = [(guards.source_of(c).find(frame), copy_items(c, real)) for c in trace.changed.values()]
        attributes = [(real(obj), name, real(value)) for obj, name, value in trace.attributes.values()]
        locals_, stack = {name: real(v) for name, v in end.locals.items()}, [real(v) for v in end.stack]
        outcome = end.outcome and (end.outcome[0], real(end.outcome[1]))
        if result_of == self.note_result:
            return
        for container, items in changed:
            container.clear()
            container.extend(items) if isinstance(container, list) else container.update(items)
        for obj, name, value in attributes:
            setattr(obj, name, value)
        frame.locals, frame.stack, frame.at, frame.outcome = locals_, stack, end.at, outcome


def copy_items(container, real):
    return (
        {key: real(v) for key, v in container.items()} if isinstance(container, dict) else [real(v) for v in container]
    )


def copy(value, memo, frame, guards, result_of):
    """`value` of a trace, as this call has it. `memo` keeps one object one."""
    if id(value) in memo:
        return memo[id(value)]
    source, kind = guards.source_of(value), type(value)

    def real(part):
        return copy(part, memo, frame, guards, result_of)

    if source:
        result = source.find(frame)
    elif isinstance(value, Tensor):
        result = result_of(value)
    elif kind is list:
        result = memo[id(value)] = []
        result.extend(map(real, value))
    elif kind in (tuple, slice):
        result = tuple(map(real, value)) if kind is tuple else value
    elif kind is dict:
        result = copy_items(value, real)
    elif kind is Items:
        result = Items(real(value.sequence), value.at)
    elif kind is types.CellType:
        result = memo[id(value)] = types.CellType()
        result.cell_contents = real(value.cell_contents)
    elif kind is types.FunctionType and value.__closure__:
        cells = tuple(map(real, value.__closure__))
        result = types.FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, cells)
    elif kind is types.MethodType or kind is types.BuiltinMethodType and type(value.__self__) in (list, dict):
        result = getattr(real(value.__self__), value.__name__)
    elif kind is types.GeneratorType:
        raise Unsupported("a generator that is not used up where a graph ends")
    else:
        result = value
    memo[id(value)] = result
    return result


class Region:
    """A function, and what was compiled for it."""

    def __init__(self, function, backend=lambda graph: graph.run):
        self.function, self.backend, self.cache = function, backend, Cache()

    def __call__(self, *args, **kwargs):
        frame = Frame(self.function, args, kwargs)
        while frame.outcome is None:
            entry = self.cache.lookup(frame)
            if entry is None:
                entry = Segment(frame, self.backend)
                if not self.cache.insert(frame, entry):
                    frame.run()
                    break
            entry.run(frame)
            if frame.outcome is None:
                frame.step()
        return frame.outcome[1]

    def entries(self):
        return [entry for entries in self.cache.entries.values() for entry in entries]
