"""The call path of a compiled function: guards, then the graph; on a miss the other versions, then a new one.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> double = optimize(lambda x: x * 2, eager)
>>> double(ones(2)), double(ones(3)), double(ones(2))
(tensor([2., 2.]), tensor([2., 2., 2.]), tensor([2., 2.]))
>>> len(double._dynamo_dispatcher.bound)                      # two versions; the one used last is tried first
2
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile import config, own_builtins
from minitorch_compile.amp import autocast_state
from minitorch_compile.compile_progress import compiling
from minitorch_compile.dynamo import stance
from minitorch_compile.dynamo.cache import reporting
from minitorch_compile.dynamo.cache.counters import count_frame
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.slots import slots
from minitorch_compile.dynamo.cache.wrapper import UNSET, Signature, call_with_what_was_given, plain_caller
from minitorch_compile.dynamo.errors import BackendCompilerFailed, InternalTracerError, RunPlainly
from minitorch_compile.dynamo.guards.failures import GuardFailure, failure
from minitorch_compile.dynamo.guards.guards import MISS
from minitorch_compile.dynamo.resuming.resume import resume_code_of, shown_name
from minitorch_compile.dynamo.rewriting.frame_code import parameter_names
from minitorch_compile.frame_marks import unhooked
from minitorch_compile.garbage import collected_rarely
from minitorch_compile.source_place import source_place
from minitorch_compile.tensor.dispatch import overrides
from minitorch_compile.tensor.dispatch.dispatch import stacks

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.region import CodeCache, Region

Version = tuple[Entry, Callable[..., Any]]
"""An entry, and its callable for one function object."""

LOCK = threading.RLock()  # one compilation at a time; running compiled code takes no lock
if hasattr(os, "register_at_fork"):  # a fork waits for its end: in the child, nobody would ever give the lock back
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


class Dispatcher:
    """The versions of one function object. `run` is the one to try first; it returns MISS if its guards fail."""

    __slots__ = ("run", "miss", "function", "plain", "code", "region", "owner", "bound", "_through", "__weakref__")

    def __init__(self, function: FunctionType, region: Region, owner: type | None) -> None:
        self.function = function
        self.owner = owner
        self.region = region
        self.code = function.__code__
        self.plain = plain_caller(function)
        self._through: Callable[..., Any] | None = None
        self.miss = self._miss
        self.forget()

    def forget(self) -> None:
        """As if nothing had been compiled."""
        self.bound: list[Version] = []
        self.run: Callable[..., Any] = _always_miss

    def ask_again(self) -> None:
        """The next call goes the long way, where the stance is asked for."""
        self.run = _always_miss

    def code_was_replaced(self) -> None:
        """The program assigned to `function.__code__`: what was compiled for the old code does not apply any more."""
        with LOCK:
            before, now = Signature(self.code, 0, ()), Signature(self.function.__code__, 0, ())
            if before.parameters != now.parameters:
                raise RuntimeError(
                    f"compile: the code of `{self.place}` was replaced by code with other parameters:"
                    f" {before.parameters} before, {now.parameters} now; compile the function again."
                )
            self.forget()
            self.plain, self._through = plain_caller(self.function), None
            self.code = self.function.__code__

    def __call__(self, *arguments: Any) -> Any:
        """A call with all slots by position, as resume functions are called."""
        result = self.run(*arguments)
        return result if result is not MISS else self.miss(*arguments)

    @property
    def cache(self) -> CodeCache:
        """What is compiled for this code, also by other function objects of it."""
        return self.region.cache_of(self.function, self.owner)

    def _miss(self, *arguments: Any) -> Any:
        """The first version did not match: try the others, then compile."""
        if any(argument is UNSET for argument in arguments):
            return call_with_what_was_given(self.function, arguments)
        if stance.state.stance == "force_eager":
            return self.plain(*arguments)
        tried: list[Entry] = []
        for version in self._others():
            entry, bound = version
            if entry.autocast != autocast_state.state.casts_to:
                continue
            result = bound(*arguments)
            if result is not MISS:
                self._use_first(version)
                return result
            tried.append(entry)
        if stacks.modes or stacks.transforms or overrides.state.modes:
            return self.plain(*arguments)  # inside another trace: what it sees is the plain program
        return self._compiled(arguments, tried)(*arguments)

    def _others(self) -> list[Version]:
        """The versions that `run` is not: bound here before, and those that another function object or thread made."""
        known = {id(entry) for entry, _ in self.bound}
        fresh = [(e, self._bind(e)) for e in self.cache.entries if id(e) not in known]
        return self.bound[0 if self.run is _always_miss else 1 :] + fresh

    def _bind(self, entry: Entry) -> Callable[..., Any]:
        """The entry for this function object. Where the frame stays plain Python, the functions that it calls need
        not."""
        return entry.bind(self.function, self._calling_through() if entry.is_plain else self.plain)

    def _calling_through(self) -> Callable[..., Any]:
        """The plain function, with the functions that it calls compiled."""
        if self._through is None:
            self._through = slots.calling_compiled_by_slots(self.function, self.region)
        return self._through

    def _use_first(self, version: Version) -> None:
        self.bound = to_front(self.bound, version)
        if not autocast_state.users:  # while a thread casts, each call asks which versions are for it
            self.run = version[1]

    @unhooked
    def _compiled(self, arguments: tuple[Any, ...], tried: list[Entry]) -> Callable[..., Any]:
        """A new version for these arguments, or the plain function if there should be none."""
        with LOCK, own_builtins.restored() as programs_builtins:
            cache = self.cache
            for entry in cache.entries:  # another thread may have made it meanwhile
                if not any(entry is e for e in tried) and self._holds(entry, arguments):
                    return self._or_plain(self._bind(entry))
            if cache.has_failed:
                return self.plain
            if cache.is_full:
                return self._at_the_limit(arguments)
            if self.region.takes_over(self, lambda entry: self._holds(entry, arguments)):
                return self._or_plain(self._bind(cache.entries[-1]))
            is_first, cache.was_called = not cache.was_called, True
            if not stance.compiles(self.code, is_first, lambda: self.failures(arguments)):
                return self.plain
            reporting.log_recompile(self, arguments)
            count_frame()
            try:
                with collected_rarely(), compiling(self.function.__qualname__):
                    entry = slots.compile_frame(self.function, arguments, self.region, self.owner, programs_builtins)
            except RunPlainly:
                cache.plain_runs += 1
                return self.plain
            except InternalTracerError as error:
                return self._plain_after(error)
            except BackendCompilerFailed as error:
                if not config.suppress_errors:
                    raise
                reporting.warn_of_an_error(self, error)
                cache.plain_runs += 1
                return self.plain
            entry.autocast = autocast_state.state.casts_to
            cache.entries.append(entry)
            reporting.log_entry(self, entry)
            bound = self._bind(entry)
            self._use_first((entry, bound))
        return lambda *arguments: self._first_run(bound, arguments)

    def _holds(self, entry: Entry, arguments: tuple[Any, ...]) -> bool:
        """Whether the entry is for these arguments."""
        is_cast_so = entry.autocast == autocast_state.state.casts_to
        return is_cast_so and failure(entry.guards, self.scope(entry, arguments)) is None

    def _plain_after(self, error: InternalTracerError) -> Callable[..., Any]:
        """A mistake of the tracer is told once, and the function not compiled again. Nothing has run yet, so the plain
        function does everything, and once. fullgraph=True does not allow plain code, so it is an error there."""
        if self.region.fullgraph and not config.suppress_errors:
            raise error
        if not self.cache.has_failed:
            self.cache.has_failed = True
            reporting.warn_of_a_mistake(self, error)
        return self.plain

    def _at_the_limit(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """New kinds of input run as plain Python. In a loop that breaks, each round may bring another string or object:
        no reason for a warning, and what the rest of the loop calls goes on being compiled."""
        resumed = resume_code_of(self.code)
        if resumed is not None and resumed.is_in_loop:
            return self._calling_through()
        reporting.warn_of_the_limit(self, arguments)
        return self.plain

    def _or_plain(self, bound: Callable[..., Any]) -> Callable[..., Any]:
        """A version whose guards hold; if another thread changes what they look at before it runs, the plain one."""

        def run(*arguments: Any) -> Any:
            result = bound(*arguments)
            return result if result is not MISS else self.plain(*arguments)

        return run

    def _first_run(self, bound: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        result = bound(*arguments)
        if result is MISS:
            if threading.active_count() > 1:  # another thread may have changed what the guards look at
                return self.plain(*arguments)
            failed = failure(self.bound[0][0].guards, self.scope(self.bound[0][0], arguments))
            wrong = f"a guard does not hold right after compiling it: {failed}. This is a mistake of the compiler."
            return self._plain_after(InternalTracerError(wrong))(*arguments)
        return result

    # --- looking ------------------------------------------------------------------------------------------------------

    def scope(self, entry: Entry, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """The names that the guards of an entry refer to."""
        code = self.function.__code__
        cells = {f"cell_{name}": cell for name, cell in zip(code.co_freevars, self.function.__closure__ or ())}
        return {**entry.names, **cells, **dict(zip(parameter_names(code).values(), arguments))}

    def failures(self, arguments: tuple[Any, ...]) -> list[GuardFailure]:
        """For each version, the guard that these arguments fail."""
        found = (failure(entry.guards, self.scope(entry, arguments)) for entry in self.cache.entries)
        return [failed for failed in found if failed is not None]

    @property
    def place(self) -> str:
        """The function, as messages name it."""
        code = self.function.__code__
        return f"{shown_name(code)}, {source_place(code.co_filename, code.co_firstlineno)}"


def to_front(versions: list[Version], chosen: Version) -> list[Version]:
    """The chosen version first, the others behind it in their order. It may be a new one."""
    return [chosen, *(version for version in versions if version[0] is not chosen[0])]


def _always_miss(*arguments: Any) -> Any:
    return MISS
