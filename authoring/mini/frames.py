"""Lesson 07. Calls are taken over without the caller asking: those of frames that run for real go to the compiler, too.

`Frame.apply` is how a frame of the interpreter calls anything. A frame of the hook has another one, as a tracer has.

>>> def size(x):
...     return (x * x).sum().item()
>>> def rank(tensors):
...     return sorted(tensors, key=size)
>>> hook = FrameHook()
>>> hook.call(rank, [tensor([3.0, 4.0]), tensor([1.0, 1.0])])
[tensor([1.0, 1.0]), tensor([3.0, 4.0])]
>>> [region.function.__name__ for region in hook.regions.values()]
['rank', 'size']
"""

import inspect
import sys
import types

from mini.breaks import Frame, Region, Tensor, tensor  # noqa: F401
from mini.interpreter import Unsupported, behind

LIBRARY = {*sys.stdlib_module_names, "numpy", "mini"}
SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
CALL_BACK = (sorted, map, filter, min, max)  # written in C, and given a function to call


# %% 07.4 which calls are worth it
def may_be_taken(function):
    """The program's own functions: no library's, and none of this package, but for the modules of `mini.nn`."""
    module = function.__module__ or ""
    is_library = module != "mini.nn" and module.partition(".")[0] in LIBRARY
    return not is_library and not function.__code__.co_flags & SUSPENDED


def in_sight(value):
    """Whether it is a tensor, or holds one, as a container or an object does."""
    parts = list(value) if isinstance(value, (list, tuple)) else []
    parts += (value if isinstance(value, dict) else getattr(value, "__dict__", {})).values()
    return any(isinstance(part, Tensor) for part in [value, *parts])


# %% 07.5 the hook, and its frames
class HookedFrame(Frame):
    """A frame with one other answer to `apply`: what it calls, the hook is asked for."""

    def apply(self, function, *args, **kwargs):
        return self.hook.call(function, *args, **kwargs)


class FrameHook:
    """Answers the calls of its frames, and of all frames that these lead to."""

    def __init__(self, backend=lambda graph: graph.run):
        self.regions, self.backend = {}, backend

    # %% 07.6 a call is answered
    def call(self, function, *args, **kwargs):
        """By the compiler; where no tensor is in sight, by a frame whose calls come here in turn; or as it is."""
        taken, slots = behind(function, args)
        if function in CALL_BACK:
            args, kwargs = [self.seen(arg) for arg in args], {name: self.seen(arg) for name, arg in kwargs.items()}
        if taken is None or not may_be_taken(taken):
            return function(*args, **kwargs)
        try:
            frame = HookedFrame(taken, slots, kwargs)
            frame.hook = self
        except Unsupported:
            return function(*args, **kwargs)
        if not any(map(in_sight, frame.locals.values())):
            return frame.run()[1]
        place = taken.__code__, id(taken.__globals__)
        return self.regions.setdefault(place, Region(taken, self.backend)).run(frame)

    def seen(self, arg):
        """In place of a function for C to call: one that calls it here."""
        return (lambda *args: self.call(arg, *args)) if isinstance(arg, types.FunctionType) else arg
