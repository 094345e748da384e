"""Let a learner's function replace the package's own, in a running and otherwise correct stack.

>>> from minitorch_compile.tensor.memory.strides import numel, contiguous_strides
>>> def column_major(sizes):
...     return tuple(numel(sizes[:dim]) for dim in range(len(sizes)))
>>> with splice("tensor.contiguous_strides", column_major):
...     contiguous_strides((2, 3))
(1, 2)
>>> contiguous_strides((2, 3))
(3, 1)

The function object stays where it is, and is given a new inside: its code is exchanged for a call of the learner's. So
every module that imported it by name sees the learner's, and putting the code back undoes everything. All threads see a
splice; a second thread that wants to splice waits.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from types import FunctionType
from typing import Any

from minitorch_compile.dynamo.bytecode.decode import forget_decoded
from minitorch_compile.tensor.dispatch.op import table
from minitorch_compile.tensor.dispatch.op_families import ViewOp

from .splice_points import SplicePoint, splice_point

PACKAGE = "minitorch_compile"
COURSE = f"{PACKAGE}.course"
CACHED = type(lru_cache(len))
_one_thread = threading.RLock()


@contextmanager
def splice(place: str, function: Callable[..., Any]) -> Iterator[None]:
    """Within the `with` block the package calls `function` at `place` (a name in `splice_points`).

    Leaving a stub in is no error: the block ends at its first call, and says so.
    """
    point = splice_point(place)
    if not callable(function):
        raise TypeError(f"splice: function must be callable, got {type(function).__name__}")
    with _one_thread, _exchanged(point, function):
        try:
            yield
        except NotImplementedError as stub:
            if not _raised_in(stub, function):
                raise
            print(f"{place}: the function spliced in is not written yet ({stub})")


@contextmanager
def splice_all(functions: dict[str, Callable[..., Any]]) -> Iterator[None]:
    """Several places at once: `{"tensor.is_contiguous": my_is_contiguous, ...}`."""
    with ExitStack() as stack:
        for place, function in functions.items():
            stack.enter_context(splice(place, function))
        yield


def original(place: str) -> FunctionType:
    """A copy of the package's own function, for a learner's function that wants to call it; take it before splicing."""
    function = splice_point(place).function()
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


@contextmanager
def _exchanged(point: SplicePoint, learners: Callable[..., Any]) -> Iterator[None]:
    function = point.function()
    saved = function.__code__, function.__defaults__, function.__kwdefaults__
    function.__code__, function.__defaults__ = _call_learners.__code__, None
    function.__kwdefaults__ = {"_learners": learners}
    _forget_results()
    try:
        yield
    finally:
        function.__code__, function.__defaults__, function.__kwdefaults__ = saved
        _forget_results()


def _call_learners(*args: Any, _learners: Callable[..., Any], **kwargs: Any) -> Any:
    """The code that a spliced function runs; the learner's function rides in its keyword defaults."""
    return _learners(*args, **kwargs)


def _forget_results() -> None:
    """Nothing computed by one version may be used with the other: empty the package's caches, and its compiled code."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{PACKAGE}.") and not name.startswith(COURSE):
            for cached in [value for value in vars(module).values() if isinstance(value, CACHED)]:
                cached.cache_clear()
    for op in table.values():
        if isinstance(op, ViewOp):
            op.remembered.cache_clear()
    forget_decoded()
    if (compiler := sys.modules.get(f"{PACKAGE}.compiler")) is not None:
        compiler.reset()


def _raised_in(error: BaseException, function: Callable[..., Any]) -> bool:
    """Whether the error came out of this function's own body."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code is getattr(function, "__code__", None)
