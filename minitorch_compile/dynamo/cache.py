"""The compiled versions of each function, and the dispatch to the one whose guards hold.

A `Region` is one use of compile(): a backend and its settings. It has a `CodeCache` for every code object that it
compiled, with up to `config.recompile_limit` entries. A `Dispatcher` is the call path of one function object: it tries
its entries, the last successful one first, and compiles on a miss.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minitorch_compile import config, logs
from minitorch_compile.dynamo.compile_frame import MISS, Entry, RunPlainly, compile_frame
from minitorch_compile.dynamo.errors import GraphBreak, InternalTracerError
from minitorch_compile.dynamo.frame_code import parameter_names
from minitorch_compile.dynamo.guards import failure
from minitorch_compile.dynamo.resume import ResumeCode
from minitorch_compile.dynamo.wrapper import make_wrapper, plain_caller
from minitorch_compile.fx import GraphModule
from minitorch_compile.tensor.dispatch import stacks

Backend = Callable[[GraphModule, list[Any]], Callable[..., Any]]

LOCK = threading.RLock()  # one compilation at a time; running compiled code takes no lock
RECOMPILES, GUARDS, GRAPH_BREAKS = logs.artifact("recompiles"), logs.artifact("guards"), logs.artifact("graph_breaks")
BYTECODE, GRAPH_CODE, SIDE_EFFECTS = (
    logs.artifact("bytecode"),
    logs.artifact("graph_code"),
    logs.artifact("side_effects"),
)
_regions: weakref.WeakSet[Region] = weakref.WeakSet()


class CodeCache:
    """The entries of one code object, over one module's globals, within a region."""

    def __init__(self, function: FunctionType) -> None:
        self.code = function.__code__
        self.module_globals = function.__globals__
        self.entries: list[Entry] = []
        self.plain_runs = 0  # calls that ended with an exception while tracing
        self.warned = False

    @property
    def is_full(self) -> bool:
        return len(self.entries) >= config.recompile_limit or self.plain_runs >= config.recompile_limit


class Region:
    """One use of compile(): the backend, whether breaks are errors, the caches, and what was met on the way."""

    def __init__(self, backend: Backend, fullgraph: bool = False) -> None:
        self.backend = backend
        self.fullgraph = fullgraph
        self.graph_modules: list[GraphModule] = []
        self.breaks: list[GraphBreak] = []
        # All by identity: equal code objects may come from different files.
        self._caches: dict[tuple[int, int, type | None], CodeCache] = {}
        self._wrappers: dict[tuple[int, type | None], Callable[..., Any]] = {}
        self._resumes: dict[tuple[int, int, type | None], Callable[..., Any]] = {}
        self._dispatchers: weakref.WeakSet[Dispatcher] = weakref.WeakSet()
        _regions.add(self)

    @property
    def caches(self) -> list[CodeCache]:
        """One for each function that was compiled, in the order of their first call."""
        return list(self._caches.values())

    def cache_of(self, function: FunctionType, owner: type | None = None) -> CodeCache:
        key = id(function.__code__), id(function.__globals__), owner
        if key not in self._caches:
            self._caches[key] = CodeCache(function)
        return self._caches[key]

    def wrap(self, function: FunctionType, owner: type | None = None) -> Callable[..., Any]:
        """A callable with the function's own signature that runs compiled code.

        `owner`: a class that has caches of its own for the function. All modules of a model share `Module.__call__`;
        what is compiled for one class should not count against the recompile limit of another.
        """
        known = self._wrappers.get((id(function), owner))
        if known is not None:
            return known
        dispatcher = Dispatcher(function, self, owner)
        self._dispatchers.add(dispatcher)
        wrapper = make_wrapper(function, dispatcher, MISS)
        if function.__closure__ is None:  # functions with a closure are often made anew at each call
            self._wrappers[id(function), owner] = wrapper  # it keeps the function, and so the id, alive
        return wrapper

    def resume_function(
        self, resume: ResumeCode, module_globals: dict[str, Any], owner: type | None
    ) -> Callable[..., Any]:
        """The compiled form of a resume function; one with a closure is a function from its cells to the callable."""
        if not resume.free_names:
            key = id(resume.code), id(module_globals), owner
            if key not in self._resumes:
                self._resumes[key] = self.wrap(resume.function(module_globals), owner)
            return self._resumes[key]

        def with_cells(*cells: Any) -> Callable[..., Any]:
            return self.wrap(resume.function(module_globals, dict(zip(resume.free_names, cells))), owner)

        return with_cells

    def compiled(self, function: Any) -> Any:
        """For generated code: a callable of the user's whose inside is compiled on its own."""
        from minitorch_compile.dynamo.eval_frame import compiled_callable

        return compiled_callable(function, self)

    def graph_captured(self, module: GraphModule) -> None:
        self.graph_modules.append(module)
        if GRAPH_CODE.is_on:
            GRAPH_CODE(module.print_readable(print_output=False))

    def reset(self) -> None:
        """Forgets everything compiled."""
        self._caches.clear()
        self.graph_modules.clear()
        self.breaks.clear()
        for dispatcher in list(self._dispatchers):
            dispatcher.forget()


class Dispatcher:
    """The call path of one function. `run` is the entry to try first; it returns MISS if its guards fail."""

    __slots__ = ("run", "miss", "function", "plain", "region", "owner", "bound", "__weakref__")

    def __init__(self, function: FunctionType, region: Region, owner: type | None) -> None:
        self.function = function
        self.owner = owner
        self.region = region
        self.plain = plain_caller(function)
        self.miss = self._miss
        self.forget()

    def forget(self) -> None:
        self.bound: list[tuple[Entry, Callable[..., Any]]] = []
        self.run: Callable[..., Any] = _always_miss

    def _miss(self, *arguments: Any) -> Any:
        """The first entry did not match: try the others, then compile."""
        for position, (_, bound) in enumerate(self.bound):
            if position:
                result = bound(*arguments)
                if result is not MISS:
                    self._move_to_front(position)
                    return result
        if stacks.modes or stacks.transforms:
            return self.plain(*arguments)  # inside another trace: what it sees is the plain program
        bound = self._bound_for(arguments)
        result = bound(*arguments)
        if result is MISS:
            raise InternalTracerError(
                f"{self.function.__qualname__}: {self._failures(arguments)[-1]} right after compiling it."
            )
        return result

    def _move_to_front(self, position: int) -> None:
        bound = list(self.bound)
        bound.insert(0, bound.pop(position))
        self.bound, self.run = bound, bound[0][1]

    def _bound_for(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """An entry for these arguments: one that another function object or thread compiled, or a new one."""
        with LOCK:
            cache = self.region.cache_of(self.function, self.owner)
            known = {id(entry) for entry, _ in self.bound}
            for entry in cache.entries:
                if id(entry) not in known and not failure(entry.guards, self._scope(entry, arguments)):
                    return self._add(entry)
            if cache.is_full:
                self._warn_once(cache, arguments)
                return self.plain
            self._log_recompile(cache, arguments)
            return self._compile(cache, arguments)

    def _compile(self, cache: CodeCache, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        try:
            entry = compile_frame(self.function, arguments, self.region, self.owner)
        except RunPlainly:
            cache.plain_runs += 1
            return self.plain
        cache.entries.append(entry)
        self._log(entry)
        return self._add(entry)

    def _add(self, entry: Entry) -> Callable[..., Any]:
        bound = entry.bind(self.function, self.plain)
        self.bound = [(entry, bound), *self.bound]
        self.run = bound
        return bound

    # --- telling ------------------------------------------------------------------------------------------------------

    def _scope(self, entry: Entry, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """The names that the guards of an entry refer to."""
        cells = {
            f"cell_{name}": cell
            for name, cell in zip(self.function.__code__.co_freevars, self.function.__closure__ or ())
        }
        return {**entry.names, **cells, **dict(zip(parameter_names(self.function.__code__).values(), arguments))}

    def _failures(self, arguments: tuple[Any, ...]) -> list[str]:
        cache = self.region.cache_of(self.function, self.owner)
        return [str(failure(entry.guards, self._scope(entry, arguments))) for entry in cache.entries]

    def _log_recompile(self, cache: CodeCache, arguments: tuple[Any, ...]) -> None:
        if RECOMPILES.is_on and cache.entries:
            reasons = "\n".join(f"    {reason}" for reason in self._failures(arguments))
            RECOMPILES(f"Recompiling `{self._place()}`; the guards that failed:\n{reasons}")

    def _place(self) -> str:
        code = self.function.__code__
        return f"{code.co_qualname}, {code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}"

    def _warn_once(self, cache: CodeCache, arguments: tuple[Any, ...]) -> None:
        if cache.warned:
            return
        cache.warned = True
        reasons = "; ".join(self._failures(arguments)[-1:]) or "it raised an exception each time it was traced"
        warnings.warn(
            f"`{self._place()}` was compiled {len(cache.entries)} times, which is config.recompile_limit; new kinds of "
            f"input now run as plain Python. The last guard that failed: {reasons}. MTC_LOGS=recompiles shows all.  "
            "[MTC-B23]",
            stacklevel=4,
        )

    def _log(self, entry: Entry) -> None:
        if entry.graph_break is not None:
            self._note_break(entry.graph_break)
        if GUARDS.is_on:
            GUARDS(f"Guards of `{self._place()}`:\n{entry.guards!r}")
        if BYTECODE.is_on:
            from minitorch_compile.dynamo.decode import decode

            BYTECODE(f"Bytecode of `{self._place()}`:\n{decode(self.function.__code__)}\nreplaced by:\n{entry.source}")

    def _note_break(self, broken: GraphBreak) -> None:
        if broken.key not in {known.key for known in self.region.breaks}:
            self.region.breaks.append(broken)
            if GRAPH_BREAKS.is_on:
                GRAPH_BREAKS(str(broken))


def _always_miss(*arguments: Any) -> Any:
    return MISS


def reset() -> None:
    """Forgets everything that was compiled, in all regions; the next calls compile again."""
    with LOCK:
        for region in list(_regions):
            region.reset()
