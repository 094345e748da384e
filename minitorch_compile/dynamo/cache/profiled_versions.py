"""Compiled functions under the profiler: an event for the guards, which are asked first, and one for the graph.

>>> import minitorch_compile as torch
>>> double = torch.compile(lambda x: x * 2, backend="eager")
>>> _ = double(torch.ones(2))
>>> x = torch.ones(2)
>>> with torch.profiler.profile() as recorded:
...     _ = double(x)
>>> [(event.name, event.details) for event in recorded.events()][:2]
[('TorchDynamo Cache Lookup', {'guards': 'held'}), ('Torch-Compiled Region: 0/0', {})]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from minitorch_compile.dynamo.cache.dispatcher import LOCK, Dispatcher
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.region import _regions
from minitorch_compile.dynamo.guards.guards import MISS
from minitorch_compile.frame_marks import passed
from minitorch_compile.profiler.probes import PROBES
from minitorch_compile.profiler.recorder import Recorder

LOOKUP = "TorchDynamo Cache Lookup"
GRAPH = re.compile(r"graph(_\d+)?")

Version = Callable[..., Any]


class _Watch:
    """What one profiler has put in the places of compiled versions and of their graphs."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.plain: dict[int, Version] = {}  # by the id of what watches it
        self.graphs: dict[int, tuple[dict[str, Any], str, Any]] = {}  # by the id of the entry
        self.numbers: dict[int, int] = {}  # of code caches, in the order of their first calls

    def version(self, dispatcher: Dispatcher, entry: Entry, bound: Version) -> Version:
        """A version whose calls are events. It notes where the guards end by the graph's beginning."""
        self.graph(dispatcher, entry)
        recorder = self.recorder

        @passed
        def watched(*arguments: Any) -> Any:
            event = recorder.begin(LOOKUP)
            event.category = "guards"
            try:
                result = bound(*arguments)
                event.details["guards"] = "failed" if result is MISS else "held"
                return result
            finally:
                recorder.end(event)

        self.plain[id(watched)] = bound
        return watched

    def graph(self, dispatcher: Dispatcher, entry: Entry) -> None:
        """Makes calls of the entry's graph events."""
        names: dict[str, Any] = getattr(entry.bind, "__globals__", {})
        found = [name for name in names if GRAPH.fullmatch(name)] if entry.graph_module is not None else []
        if not found or id(entry) in self.graphs:
            return
        cache, recorder, (name, *_) = dispatcher.cache, self.recorder, found
        version = cache.entries.index(entry) if entry in cache.entries else 0
        graph = names[name]

        @passed
        def watched(*arguments: Any) -> Any:
            opened = recorder.here.open
            if opened and opened[-1].name == LOOKUP:
                recorder.end(opened[-1])
            number = self.numbers.setdefault(id(cache), len(self.numbers))
            with recorder.event(f"Torch-Compiled Region: {number}/{version}"):
                results = graph(*arguments)
                if recorder.profile_memory:
                    recorder.watch(arguments, count=False)
                    recorder.watch(results, count=True)
                return results

        self.graphs[id(entry)] = names, name, graph
        names[name] = watched

    def install(self) -> None:
        """Watches all versions that there are."""
        for dispatcher in _dispatchers():
            known = {id(bound): entry for entry, bound in dispatcher.bound}
            made = {key: self.version(dispatcher, entry, b) for (entry, b), key in zip(dispatcher.bound, known)}
            dispatcher.bound = [(entry, made[id(bound)]) for entry, bound in dispatcher.bound]
            dispatcher.run = made.get(id(dispatcher.run), dispatcher.run)

    def remove(self) -> None:
        """As it was."""
        for dispatcher in _dispatchers():
            dispatcher.bound = [(entry, self.plain.get(id(bound), bound)) for entry, bound in dispatcher.bound]
            dispatcher.run = self.plain.get(id(dispatcher.run), dispatcher.run)
        for names, name, graph in self.graphs.values():
            names[name] = graph


def _dispatchers() -> Iterator[Dispatcher]:
    for region in list(_regions):
        yield from list(region._dispatchers)


def _install(recorder: Recorder) -> Callable[[], None]:
    watch = _Watch(recorder)
    with LOCK:
        watch.install()
        classes: list[Any] = [Dispatcher, *Dispatcher.__subclasses__()]
        before = [(kind, vars(kind)["_bind"]) for kind in classes if "_bind" in vars(kind)]

        def binding(bind: Callable[..., Version]) -> Callable[..., Version]:
            return lambda dispatcher, entry: watch.version(dispatcher, entry, bind(dispatcher, entry))

        for kind, bind in before:
            kind._bind = binding(bind)

    def undo() -> None:
        with LOCK:
            for kind, bind in before:
                kind._bind = bind
            watch.remove()

    return undo


PROBES.append(_install)
