"""The compiled versions of each function.

A `Region` is one use of compile(): a backend and its settings. It has a `CodeCache` for every code object that it
compiled, with up to `config.recompile_limit` entries; `dispatcher.py` finds the entry whose guards hold.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> double = optimize(lambda x: x * 2, eager)
>>> for n in (1, 2, 1):
...     _ = double(ones(n))
>>> [len(cache.entries) for cache in region_of(double).caches]
[2]
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minitorch_compile import config
from minitorch_compile.amp import autocast_state
from minitorch_compile.dynamo.cache.callees import compiled_callable
from minitorch_compile.dynamo.cache.dispatcher import LOCK, Dispatcher
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.reporting import log_graph
from minitorch_compile.dynamo.cache.slots import slots
from minitorch_compile.dynamo.cache.wrapper import fits, make_wrapper
from minitorch_compile.dynamo.errors import GraphBreak
from minitorch_compile.dynamo.fakes.size_history import SizeHistory
from minitorch_compile.dynamo.guards.guards import MISS
from minitorch_compile.dynamo.resuming.resume import ResumeCode
from minitorch_compile.dynamo.stance import state
from minitorch_compile.fx import GraphModule

Backend = Callable[[GraphModule, list[Any]], Callable[..., Any]]

_regions: weakref.WeakSet[Region] = weakref.WeakSet()


class CodeCache:
    """The entries of one code object, over one module's globals, within a region."""

    def __init__(self, function: FunctionType, limit: int | None = None) -> None:
        self.limit = limit  # None: that of config, whatever it is when it is asked
        self.code = function.__code__
        self.module_globals = function.__globals__
        self.entries: list[Entry] = []
        self.sizes = SizeHistory()
        self.plain_runs = 0  # calls that ended with an exception while tracing
        self.warned = False
        self.was_called = False  # where nothing that is compiled fits
        self.has_failed = False  # the tracer made a mistake with it

    @property
    def is_full(self) -> bool:
        limit = config.recompile_limit if self.limit is None else self.limit
        return len(self.entries) >= limit or self.plain_runs >= limit


class Region:
    """One use of compile(): the backend, whether breaks are errors, the caches, and what was met on the way."""

    def __init__(
        self,
        backend: Backend,
        fullgraph: bool = False,
        dynamic: bool | None = None,
        recompile_limit: int | None = None,
        name: str | None = None,
    ) -> None:
        self.recompile_limit = recompile_limit
        self.name = name
        self.backend = backend
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.graph_modules: list[GraphModule] = []
        self.breaks: list[GraphBreak] = []
        # All by identity: equal code objects may come from different files.
        self._caches: dict[tuple[int, int, type | None], CodeCache] = {}
        self._wrappers: dict[tuple[int, type | None], Callable[..., Any]] = {}
        self._resumes: dict[tuple[int, int, type | None], Callable[..., Any]] = {}
        self._through: dict[FunctionType, Callable[..., Any]] = {}
        self.settings: tuple[Any, ...] | None = None  # by which cache/shared_regions.py finds it
        self.module: weakref.ref[Any] | None = None  # the nn.Module that it is for
        self.frames: Any = None  # what frame_evaluation/region_frames.py keeps of it
        self._dispatchers: weakref.WeakSet[Dispatcher] = weakref.WeakSet()
        _regions.add(self)

    @property
    def caches(self) -> list[CodeCache]:
        """One for each function that was compiled, in the order of their first call."""
        return list(self._caches.values())

    def cache_of(self, function: FunctionType, owner: type | None = None) -> CodeCache:
        key = id(function.__code__), id(function.__globals__), owner
        if key not in self._caches:
            self._caches[key] = CodeCache(function, self.recompile_limit)
        return self._caches[key]

    def siblings(self) -> list[Region]:
        """The regions of other modules that were compiled with equal settings, and are in use."""
        if self.module is None:
            return []
        return [
            region
            for region in list(_regions)
            if region is not self
            and region.module is not None
            and region.module() is not None
            and region.settings == self.settings
        ]

    def takes_over(self, dispatcher: Dispatcher, fits: Callable[[Entry], bool]) -> bool:
        """Whether a sibling has compiled the dispatcher's function in a way that fits; then that is the last entry of
        its cache here, too."""
        function = dispatcher.function
        key = id(function.__code__), id(function.__globals__), dispatcher.owner
        caches = (region._caches[key] for region in self.siblings() if key in region._caches)
        entry = next((entry for cache in caches for entry in cache.entries if fits(entry)), None)
        if entry is None:
            return False
        dispatcher.cache.entries.append(entry)
        self.graph_modules += [entry.graph_module] if entry.graph_module is not None else []
        self.breaks += [entry.graph_break] if entry.graph_break is not None else []
        return True

    def wrap(self, function: FunctionType, owner: type | None = None) -> Callable[..., Any]:
        """A callable with the function's own signature that runs compiled code.

        `owner`: a class that has caches of its own for the function. All modules of a model share `Module.__call__`;
        what is compiled for one class should not count against the recompile limit of another.
        """
        known = self.known(function, owner)
        if known is not None:
            return known
        wrapper = make_wrapper(function, self._dispatcher(function, owner), MISS)
        if function.__closure__ is None:  # functions with a closure are often made anew at each call
            self._wrappers[id(function), owner] = wrapper  # it keeps the function, and so the id, alive
        return wrapper

    def known(self, function: FunctionType, owner: type | None) -> Callable[..., Any] | None:
        """What `wrap` gave for the function; None if it has not been asked, or the function takes other arguments
        since: it was given other code, or more or fewer of its parameters a default."""
        wrapper = self._wrappers.get((id(function), owner))
        return wrapper if wrapper is None or fits(wrapper, function) else None

    def _dispatcher(self, function: FunctionType, owner: type | None) -> Dispatcher:
        made = Dispatcher(function, self, owner)
        self.watch(made)
        return made

    def watch(self, dispatcher: Dispatcher) -> None:
        """From now on `reset` makes it forget its versions."""
        self._dispatchers.add(dispatcher)

    def resume_function(
        self, resume: ResumeCode, module_globals: dict[str, Any], owner: type | None
    ) -> Callable[..., Any]:
        """The compiled form of a resume function; one with a closure is a function from its cells to the callable."""

        def with_cells(*cells: Any) -> Callable[..., Any]:
            made = resume.function(module_globals, dict(zip(resume.free_names, cells)))
            return self._dispatcher(made, owner)

        key = id(resume.code), id(module_globals), owner
        if key not in self._resumes:
            self._resumes[key] = with_cells if resume.free_names else with_cells()
        return self._resumes[key]

    def compiled(self, function: Any) -> Any:
        """For generated code: a callable of the user's whose inside is compiled on its own."""
        made = compiled_callable(function, self)
        return slots.with_callees_compiled(function, self) if made is function else made

    def through(self, function: FunctionType) -> Callable[..., Any]:
        """The plain function, whose callees are compiled."""
        if function not in self._through:
            self._through[function] = slots.calling_compiled(function, self)
        return self._through[function]

    def compile_again(self, function: Any) -> Any:
        """Another function or object, compiled with the same settings in a region of its own."""
        return slots.optimize(function, self.backend, self.fullgraph, self.dynamic)

    def graph_captured(self, module: GraphModule) -> None:
        self.graph_modules.append(module)
        log_graph(module)

    def ask_again(self) -> None:
        """Every function asks for the stance before it runs what is compiled."""
        for dispatcher in list(self._dispatchers):
            dispatcher.ask_again()

    def reset(self) -> None:
        """Forgets everything compiled."""
        self._caches.clear()
        self.graph_modules.clear()
        self.breaks.clear()
        for dispatcher in list(self._dispatchers):
            dispatcher.forget()


def reset() -> None:
    """Forgets everything that was compiled, in all regions; the next calls compile again."""
    with LOCK:
        for region in list(_regions):
            region.reset()


def _stance_changed() -> None:
    with LOCK:
        for region in list(_regions):
            region.ask_again()


state.on_change = _stance_changed  # the stance knows nobody who asks it
autocast_state.on_change.append(_stance_changed)  # likewise
