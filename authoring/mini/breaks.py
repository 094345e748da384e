"""Lesson 06. Where a trace ends before its frame does: run the graph, make the state real, do one step, go on.

>>> def f(x, seen):
...     y = x * 2
...     seen.append(y.sum().item())     # needs data: the graph ends here
...     return y + seen[-1]
>>> region, seen = Region(f), []
>>> region(tensor([1.0, 2.0]), seen), seen
(tensor([8.0, 10.0]), [6.0])
>>> [len(entry.graph.nodes) for entry in region.entries()]
[2, 1]
>>> region.entries()[0].reason
Break("item needs a tensor's data")
"""

import types
from collections.abc import Iterator, MappingView

from mini.guards import Cache, refilled, remade, require_same_setting, sharing, tensor  # noqa: F401
from mini.sizes import at
from mini.tracer import Break, Frame, Items, Size, Tensor, Trace


# %% 06.5 what a trace made, made again
class Copy:
    """Values of a trace as this call has them: the program's own objects, its tensors, and what was made made anew."""

    def __init__(self, guards, frame, result_of):
        self.guards, self.frame, self.result_of, self.memo = guards, frame, result_of, {}

    def __call__(self, value):
        """What is one object in the trace is one here, too."""
        if id(value) not in self.memo:
            source = self.guards.source_of(value)
            self.memo[id(value)] = self.new(value) if source is None else source.find(self.frame)
        return self.memo[id(value)]

    def alike(self, value, remember=lambda mine: mine):
        """Another object of the same kind, of copies of its parts."""
        return remade(value, lambda step, key, part: self(part), remember)

    # %% 06.6 new objects
    def new(self, value):
        """Another object like this one, made of copies of its parts."""
        if isinstance(value, Tensor):
            return self.result_of(value)
        if isinstance(value, Size):
            return at(value, self.guards.batch_in(self.frame))
        if isinstance(value, types.CellType):
            mine = self.memo[id(value)] = types.CellType()
            if value != types.CellType():  # not empty
                mine.cell_contents = self(value.cell_contents)
            return mine
        if isinstance(value, (Iterator, MappingView)) and not isinstance(value, Items):
            raise Break(f"a {type(value).__name__} that is alive where a graph ends")
        return self.alike(value, lambda mine: self.memo.setdefault(id(value), mine))


# %% 06.7 the state where a trace ended, and its effects
class State:
    """What running the traced instructions would have left. All of it is copied before any of it is put in place."""

    def __init__(self, trace, copy):
        end = trace.frame
        self.contents = [(copy(container), copy.alike(container)) for container in trace.changed.values()]
        self.attributes = [(copy(obj), name, copy(value)) for obj, name, value in trace.attributes.values()]
        self.attributes += [(copy(it), "at", it.at) for it, _, _ in trace.guards.known.values() if type(it) is Items]
        self.locals, self.stack, self.at = copy.alike(end.locals), copy.alike(end.stack), end.at
        self.outcome = end.outcome and (end.outcome[0], copy(end.outcome[1]))

    def replay(self, frame):
        """The writes into the program's own objects happen now; then the frame stands where the trace ended."""
        for container, items in self.contents:
            refilled(container, items)
        for obj, name, value in self.attributes:
            setattr(obj, name, value)
        frame.locals, frame.stack, frame.at, frame.outcome = self.locals, self.stack, self.at, self.outcome


# %% 06.8 one piece
class Segment:
    """The instructions from one place to the next break: guards, a compiled graph, and the state that they leave."""

    def __init__(self, frame, backend, dynamic=False):
        self.trace = trace = Trace(frame, dynamic)
        trace.run()
        self.guards, self.graph, self.reason = trace.guards, trace.record.graph, trace.reason
        require_same_setting(self.guards, frame)
        self.alive = {}  # by id: the fakes that are needed later, which are the outputs
        State(trace, Copy(self.guards, frame, lambda fake: self.alive.setdefault(id(fake), fake)))
        self.graph.outputs = [trace.record.node(fake) for fake in self.alive.values()]
        self.graph.without_dead_code()
        sources = trace.input_sources
        is_shared = len(set(sharing(sources, frame))) < len(sources) and any(node.writes for node in self.graph.nodes)
        self.compiled = self.graph.run if is_shared or not self.graph.nodes else backend(self.graph)

    def run(self, frame):
        """Leave `frame`, and the world, as running the instructions would have."""
        outputs = self.compiled(*[source.find(frame) for source in self.trace.input_sources])
        results = dict(zip(self.alive, outputs, strict=True))
        State(self.trace, Copy(self.guards, frame, lambda fake: results[id(fake)])).replay(frame)


# %% 06.9 on across a break
class Region:
    """A function, and what was compiled for it."""

    def __init__(self, function, backend=lambda graph: graph.run, dynamic=False):
        self.function, self.backend, self.dynamic, self.cache = function, backend, dynamic, Cache()

    def __call__(self, *args, **kwargs):
        return self.run(Frame(self.function, args, kwargs))

    def run(self, frame):
        """Graph, one instruction for real, graph, ... ; where there are too many versions, the rest for real."""
        while frame.outcome is None and (segment := self.segment(frame)):
            segment.run(frame)
            if frame.outcome is None:
                frame.step()
        return (frame.outcome or frame.run())[1]

    def segment(self, frame):
        """The version that holds here, or a new one; None where one more would be too many, or can't be made."""
        segment, here = self.cache.lookup(frame), self.cache.here(frame)
        if segment is None and len(here) < self.cache.limit:
            try:
                segment = Segment(frame, self.backend, self.dynamic)
                here.insert(0, segment)
            except Break:  # nothing was changed: the frame can run for real
                pass
        return segment

    # %% given
    def entries(self):
        return [entry for entries in self.cache.values() for entry in entries]
