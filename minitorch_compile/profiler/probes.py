"""Probes: functions that stand in other functions' places while a profiler runs, and nowhere at all otherwise.

A probe costs nothing when nobody looks, since it isn't there: starting a profiler puts it in the place of the function
that it watches, and stopping takes it away again. Each floor registers its own; the profiler knows none of them.

>>> import types
>>> place = types.SimpleNamespace(double=lambda x: 2 * x)
>>> watch = Probe(place, "double", lambda double, recorder: lambda x: print("watched") or double(x))
>>> undo = watch.install(recorder=None)
>>> place.double(3)
watched
6
>>> undo()
>>> place.double(3)
6
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from minitorch_compile.frame_marks import mark_of, passed, unhooked

if TYPE_CHECKING:
    from minitorch_compile.profiler.recorder import Recorder

Install = Callable[["Recorder"], Callable[[], None]]
OFF = 2

PROBES: list[Install] = []  # what is called at each start; each gives what is called at the end


class Probe(NamedTuple):
    """`make(function, recorder)` gives what stands in the place of `owner.name` for a while.

    The owner is a module or class, or a module's name: then it is imported when a profiler starts."""

    owner: Any
    name: str
    make: Callable[[Any, Any], Any]

    def install(self, recorder: Any) -> Callable[[], None]:
        """Puts it there, and gives the function that takes it away."""
        owner = importlib.import_module(self.owner) if isinstance(self.owner, str) else self.owner
        before = vars(owner)[self.name]
        made = self.make(before, recorder)
        hooks_are_off = callable(before) and hasattr(before, "__code__") and mark_of(before.__code__) == OFF
        setattr(owner, self.name, unhooked(made) if hooks_are_off else passed(made))
        return functools.partial(setattr, owner, self.name, before)


def register_probe(owner: Any, name: str, make: Callable[[Any, Any], Any]) -> None:
    """From now on each profiler watches `owner.name`, an attribute of a module or class."""
    PROBES.append(Probe(owner, name, make).install)


def register_on_start(module: str) -> None:
    """From now on a profiler that starts imports this module, and installs the `PROBE` that it has."""

    def install(recorder: Recorder) -> Callable[[], None]:
        return Probe(*importlib.import_module(module).PROBE).install(recorder)

    PROBES.append(install)


def register_stage(owner: Any, name: str, title: str | Callable[..., str]) -> None:
    """From now on calls of `owner.name` are events: a stage of the compiler, in which no operations are noted.

    `title` is the event's name, or makes it of the arguments.
    """

    def make(function: Any, recorder: Recorder) -> Any:
        @functools.wraps(function)
        def stage(*args: Any, **kwargs: Any) -> Any:
            with recorder.stage(title if isinstance(title, str) else title(*args, **kwargs)):
                return function(*args, **kwargs)

        return stage

    register_probe(owner, name, make)
