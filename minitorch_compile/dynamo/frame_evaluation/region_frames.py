"""What a region does with the frames that the hook gives it: find their compiled version, or have them run as they are.

A frame's first slots are what compiled code takes as arguments, so the usual dispatcher serves, with one difference:
where it would call the plain function, it gives the frame back, and the interpreter evaluates it as if nothing had
been asked.

>>> from minitorch_compile.dynamo.cache.region import Region
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> def double(x):
...     return x * 2
>>> frames = RegionFrames(Region(eager))
>>> frames.judge(double)
Word(kind=3, owner=0, slots=1)
>>> frames.callback.enter(double, ones(2)), frames.callback.enter(double, 4)
(tensor([2., 2.]), 8)
>>> frames.callback.enter(lambda x: x, "no tensor in sight")
RUN_AS_IS
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.cache.dispatcher import Dispatcher
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.cache.wrapper import plain_caller
from minitorch_compile.dynamo.execution.binding import argument_names
from minitorch_compile.dynamo.frame_evaluation.ir import CAPTURE, PASS_HERE
from minitorch_compile.dynamo.frame_evaluation.native import RUN_AS_IS, Callback, Word, native_hook
from minitorch_compile.dynamo.frame_evaluation.skip_rule import judge_code, sees_tensors
from minitorch_compile.dynamo.guards.guards import MISS
from minitorch_compile.dynamo.variables.functions.skipped_modules import is_library_code
from minitorch_compile.frame_marks import generated, unhooked

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.region import Region

PATIENCE = 64  # calls without a tensor in sight, after which a function is not looked at again


class FrameDispatcher(Dispatcher):
    """The versions of a function for frames that the hook has stopped."""

    __slots__ = ("closure", "module_globals")

    def __init__(self, function: FunctionType, region: Region, owner: type | None) -> None:
        # The arguments of a frame are complete, so the function's defaults are not needed, nor kept alive.
        bare = bare_copy(function, function.__code__)
        super().__init__(bare, region, owner)
        self.closure = function.__closure__
        self.module_globals = function.__globals__
        self.plain = _as_is

    def is_for(self, function: FunctionType) -> bool:
        """Whether frames of that function may use it too."""
        return self.closure is function.__closure__ and self.module_globals is function.__globals__

    def _bind(self, entry: Entry) -> Callable[..., Any]:
        return entry.bind(self.function, _as_is if entry.is_plain else self._run_plainly)

    def _calling_through(self) -> Callable[..., Any]:
        return _as_is  # what the frame calls meets the hook

    def _run_plainly(self, *slots: Any) -> Any:
        """For compiled code that has begun and needs the plain function's result: a copy that passes the hook."""
        copy = bare_copy(self.function, generated(self.function.__code__.replace()))
        return plain_caller(copy)(*slots)

    @property
    def has_captured(self) -> bool:
        """Whether any version so far has a graph, or a break behind which there may be one."""
        entries = self.cache.entries
        return not entries or any(e.graph_module is not None or e.graph_break is not None for e in entries)


def _as_is(*slots: Any) -> Any:
    return RUN_AS_IS


def bare_copy(function: FunctionType, code: CodeType) -> FunctionType:
    """A function with that code, without defaults."""
    copy = FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
    copy.__qualname__ = function.__qualname__
    return copy


class RegionFrames:
    """The callback of a region, and its dispatchers by code object.

    `include`: names of installed packages whose functions are captured too, None for all.
    """

    def __init__(self, region: Region, include: Collection[str] | None = ()) -> None:
        self.region = region
        self.include = None if include is None else frozenset(include)
        self._dispatchers: dict[tuple[int, type | None], FrameDispatcher] = {}
        self._calls_without_tensors: dict[int, int] = {}
        self.callback = Callback(self.judge, self.enter)

    def judge(self, function: FunctionType) -> Word:
        """What to do with the frames of this function's code."""
        kind, code = judge_code(function, self.include), function.__code__
        return Word(kind, slots=min(len(argument_names(code)), code.co_nlocals) if kind == CAPTURE else 0)

    def enter(self, function: FunctionType, *slots: Any) -> Any:
        """The result of the frame, or RUN_AS_IS."""
        owner = type(slots[0]) if slots and is_library_code(function.__code__) else None
        known = self._dispatchers.get((id(function.__code__), owner))
        if known is None or not known.is_for(function):
            if not self._is_worth_it(function, slots):
                return RUN_AS_IS
            known = self._new(function, owner)
        result = known.run(*slots)
        return result if result is not MISS else self._first_time(known, slots)

    def _first_time(self, dispatcher: FrameDispatcher, slots: tuple[Any, ...]) -> Any:
        """These arguments may need another version. What turns out to have nothing to compile is left alone."""
        result = dispatcher.miss(*slots)
        if not dispatcher.has_captured:
            self._leave_alone(dispatcher.function.__code__)
        return result

    @unhooked
    def _is_worth_it(self, function: FunctionType, slots: tuple[Any, ...]) -> bool:
        if sees_tensors(function, slots):
            return True
        code = function.__code__
        count = self._calls_without_tensors[id(code)] = self._calls_without_tensors.get(id(code), 0) + 1
        if count >= PATIENCE:
            self._leave_alone(code)
        return False

    def _leave_alone(self, code: CodeType) -> None:
        native_hook().set_word(code, Word(PASS_HERE).said_by(self.callback.owner))

    @unhooked
    def _new(self, function: FunctionType, owner: type | None) -> FrameDispatcher:
        """Inner functions with a closure are often made anew at each call: nothing is kept for them."""
        made = FrameDispatcher(function, self.region, owner)
        self.region.watch(made)
        if function.__closure__ is None or "<locals>" not in function.__qualname__:
            self._dispatchers[id(function.__code__), owner] = made
        return made


def frames_of(region: Region) -> RegionFrames:
    """The one of a region, for all frames below its plain ones."""
    if region.frames is None:
        region.frames = RegionFrames(region, include=None)
    return region.frames
