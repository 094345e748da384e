"""Capture a whole program, without a decorator: while the hook is on, each function that is called may be compiled.

>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> def double(x):
...     return x * 2
>>> x = ones(2)
>>> with frame_hook(eager) as hook:
...     double(x), max([x], key=double)                 # called from C, and compiled all the same
(tensor([2., 2.]), tensor([1., 1.]))
>>> [module.graph.compact() for module in hook.region.graph_modules]
['x -> (x * 2,)']
>>> double(x)                                           # off again: plain Python
tensor([2., 2.])

The hook is the thread's: it sees the frames of the thread that installed it. It is compiled code that CPython calls
for every frame (PEP 523), so other threads' frames only pass through it, some nanoseconds later. Which functions are
captured is the rule in frame_evaluation/skip_rule.py; the others run as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from types import TracebackType

from minitorch_compile.dynamo.cache.region import Backend, Region
from minitorch_compile.dynamo.frame_evaluation.backend_slot import backend_named
from minitorch_compile.dynamo.frame_evaluation.check import check_once
from minitorch_compile.dynamo.frame_evaluation.native import native_hook
from minitorch_compile.dynamo.frame_evaluation.region_frames import RegionFrames


class _ThreadHooks(threading.local):
    """The hooks of one thread, the innermost last."""

    def __init__(self) -> None:
        self.installed: list[FrameHook] = []


_hooks = _ThreadHooks()
_lock = threading.Lock()
_users = [0]  # hooks that are on, in all threads


class FrameHook:
    """A hook that can be put in place and taken out, also as a context manager. `region` has what was captured."""

    def __init__(self, frames: RegionFrames) -> None:
        self._frames = frames
        self._thread: int | None = None

    @property
    def region(self) -> Region:
        return self._frames.region

    @property
    def is_on(self) -> bool:
        return self._thread is not None

    def install(self) -> FrameHook:
        """Frames of this thread are captured from now on. The innermost hook of a thread is the one that is asked.

        FrameHookUnavailable, with the reason, where there can be no hook; RuntimeError if this one is on already.
        """
        check_once()
        if self.is_on:
            raise RuntimeError("frame_hook: this hook is on already; make another one to nest them.")
        self._thread = threading.get_ident()
        _hooks.installed.append(self)
        with _lock:
            _users[0] += 1
            native_hook().install()
        native_hook().set_callback(self._frames.callback.address)
        return self

    def uninstall(self) -> None:
        """The hook around this one is asked again; after the last one, the previous evaluator is back in place.

        RuntimeError if it is not on, or was installed by another thread.
        """
        if self._thread != threading.get_ident():
            why = "it was installed by another thread" if self.is_on else "it is not on"
            raise RuntimeError(f"frame_hook: can't uninstall this hook: {why}.")
        self._thread = None
        _hooks.installed.remove(self)
        native_hook().set_callback(_hooks.installed[-1]._frames.callback.address if _hooks.installed else None)
        with _lock:
            _users[0] -= 1
            if not _users[0]:
                native_hook().uninstall()

    def __enter__(self) -> FrameHook:
        return self.install()

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall()


def frame_hook(
    backend: str | Backend | Region = "inductor", *, fullgraph: bool = False, include: Collection[str] = ()
) -> FrameHook:
    """A hook that has functions compiled by a backend, or within an existing region.

    backend: a name that `compile` knows, or a callable (graph_module, fake_inputs) -> callable.
    fullgraph: a graph break in any captured function is an error that explains it.
    include: names of installed packages whose functions are captured too, such as a library of models.
    """
    if isinstance(backend, Region):
        return FrameHook(RegionFrames(backend, include))
    region = Region(backend_named(backend) if isinstance(backend, str) else backend, fullgraph)
    return FrameHook(RegionFrames(region, include))
