"""Entering and leaving function transforms (grad, vmap, ...), which stand above the tape.

>>> from minitorch_compile.tensor import ones
>>> class Twice:
...     def process(self, op, args, kwargs):
...         return op(*args, **kwargs) + op(*args, **kwargs)
>>> x = ones(2)
>>> with transform(Twice()):
...     print(x.sin())
tensor([1.6829, 1.6829])

A transform in a program that is compiled is entered by one step and left by another (`func/steps.py`), hence the
functions in pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from minitorch_compile.tensor.dispatch.captured_memory import recordings
from minitorch_compile.tensor.dispatch.dispatch import Interpreter, contexts, enter, entered, leave, stacks

SomeInterpreter = TypeVar("SomeInterpreter", bound=Interpreter)


@contextmanager
def transform(interpreter: SomeInterpreter) -> Iterator[SomeInterpreter]:
    """Inside, `interpreter` sees every operation first, above the tape."""
    with entered(stacks.transforms, interpreter):
        yield interpreter


def enter_transform(interpreter: Interpreter) -> None:
    """From now on `interpreter` sees every operation first. Somebody has to say `leave_transform`."""
    enter(stacks.transforms, interpreter)


def leave_transform(interpreter: Interpreter) -> None:
    """The end of it."""
    leave(stacks.transforms, interpreter)


def enter_recording(arguments: Iterable[Any]) -> None:
    """From now on a function runs that is differentiated: what it was not given, it must not write to."""
    contexts.append(recordings)
    recordings.begin(arguments)


def leave_recording() -> None:
    """The function that was entered last has run."""
    recordings.starts.pop()
    contexts.remove(recordings)


@contextmanager
def leaving_transforms() -> Iterator[None]:
    """At the end, the transforms that were entered inside are left, if an error came in between."""
    before, stack, watched = list(stacks.transforms), stacks.transforms, list(stacks.watched)
    depth = len(recordings.starts)
    try:
        yield
    finally:
        while len(recordings.starts) > depth:
            leave_recording()
        stacks.transforms, stacks.watched = stack, watched
        for interpreter in [t for t in stack if t not in before]:
            leave(stack, interpreter)


def refuse_in_transforms(call: str, vmap_too: bool = False) -> None:
    """RuntimeError inside a function that grad or another such transform runs: it takes care of gradients itself. A
    level of dual numbers stands beside the tape: in it, tensors may become leaves."""
    transforms = vmap_too and any(not getattr(t, "allows_leaves", False) for t in stacks.transforms)
    if transforms or any(getattr(watched(), "is_in_use", False) for watched in stacks.watched):
        raise RuntimeError(
            f"{call}() is called inside of a function that a function transform (grad, vjp, jacrev, jvp, ...) runs,"
            " which is not supported; use the transforms instead, or call it outside"
        )
