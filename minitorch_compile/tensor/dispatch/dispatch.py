"""The one door through which every operation goes.

A call `ops.mul(x, y)` may mean different things: multiply, also record for the backward pass, also write a node into a
graph, or only work out shapes. Each meaning is an *interpreter*, and they are stacked in storeys:

    transforms   vmap, jvp, ...                     (a stack; each hands what it makes of the call to the one below)
    recordings   grad, vjp, ...                     (captured tensors are not written in there: captured_memory.py)
    the tape     autograd, if grad mode is on and an argument requires grad
    modes        tracing, functionalisation, ...    (a stack)
    the kernel   NumPy on the data, or the meta rule if the arguments are fake

An interpreter has one method, `process(op, args, kwargs)`. The operations that it calls itself go to the storeys below
it.

>>> class Count:
...     calls = 0
...     def process(self, op, args, kwargs):
...         self.calls += 1
...         return op(*args, **kwargs)
>>> from minitorch_compile.tensor import ones
>>> x = ones(2)
>>> with mode(Count()) as counter:
...     _ = x * x + 1
>>> counter.calls
2

Source: the dispatcher of PyTorch (its keys are our storeys) and the interpreter stack of functorch and JAX.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from minitorch_compile.tensor.dispatch.captured_memory import mark_made, recordings, refuse_captured
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.memory.storage import INFERENCE
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op


class Interpreter(Protocol):
    """What a transform or a mode is: something that gives a call its meaning."""

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...


class Tape(Protocol):
    """What autograd registers: it records a call whose arguments require grad, and runs it with `below_tape`.

    The other methods are what Tensor's methods of the same names do; this floor can't import the one above.
    """

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def backward(
        self, tensor: Any, gradient: Any, retain_graph: bool | None, create_graph: bool, inputs: Any
    ) -> None: ...

    def register_hook(self, tensor: Any, hook: Callable[[Any], Any]) -> Any: ...

    def retain_grad(self, tensor: Any) -> None: ...

    def register_post_accumulate_grad_hook(self, tensor: Any, hook: Callable[[Any], None]) -> Any: ...


class _Stacks(threading.local):
    """The context stacks of one thread; the last interpreter of a list is the topmost."""

    def __init__(self) -> None:
        self.transforms: list[Interpreter] = []
        self.modes: list[Interpreter] = []
        # Tensors that grad, vjp and the like watch while their function runs; whoever drops them ends the watch.
        self.watched: list[weakref.ref[Any]] = []


stacks = _Stacks()
_tape: list[Tape] = []
contexts: list[Any] = []  # what all threads are in: while it is empty, no thread need look at its own stacks
AnyInterpreter = TypeVar("AnyInterpreter", bound=Interpreter)


def register_tape(tape: Tape) -> None:
    """Installs the tape, once, when the autograd floor is imported."""
    _tape[:] = [tape]


def registered_tape() -> Tape:
    """The tape. RuntimeError before the autograd floor was imported, which `import minitorch_compile` does."""
    if not _tape:
        raise RuntimeError("backward: the autograd floor is not loaded; import minitorch_compile first")
    return _tape[0]


def dispatch(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Gives the call to the topmost interpreter that wants it."""
    if not contexts and not kwargs:  # what follows, for plain arguments, in half the time
        for arg in args:
            if isinstance(arg, TensorBase):
                if arg._requires_grad or arg.base is not None:
                    break
            elif type(arg) in (list, tuple):
                break
        else:
            return op.run_plain(args)
    if contexts and op.recorded:
        if stacks.transforms:
            return _process_below(stacks.transforms, op, args, kwargs)
        if recordings.starts:
            return _in_a_recording(op, args, kwargs)
    return _taped(op, args, kwargs)


def _taped(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if any_requires_grad(args, kwargs) and grad_state.enabled and op.recorded and _tape:
        return _tape[0].record(op, args, kwargs)
    return below_tape(op, args, kwargs) if contexts else op.run(args, kwargs)


def _in_a_recording(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if op.kind == "inplace":
        refuse_captured(op.name, args[0] if args else kwargs.get("input"))
        return _taped(op, args, kwargs)
    result = _taped(op, args, kwargs)
    if op.kind != "view":
        mark_made(result, args)
    return result


def below_tape(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call as the storeys under autograd see it: the topmost mode, else the kernel.

    A composite op has no kernel; its body is run, and the ops in it are dispatched in turn.
    """
    if stacks.modes and op.recorded:
        return _process_below(stacks.modes, op, args, kwargs)
    result = op.run(args, kwargs)
    if grad_state.inference and op.recorded and op.kind not in ("view", "inplace"):
        for part in result if isinstance(result, tuple) else (result,):
            part.storage.version = INFERENCE
    return result


def _process_below(stack: list[Interpreter], op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    top = stack.pop()
    try:
        return top.process(op, args, kwargs)
    finally:
        stack.append(top)


def any_requires_grad(args: Iterable[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a tensor among the arguments, also inside a list or tuple, takes part in differentiation.

    So does a view whose base was given a history by an in-place operation after the view was made.
    """
    for arg in args:
        if isinstance(arg, TensorBase):
            if arg._requires_grad:
                return True
            base = arg.base
            if base is not None and base.rewritten != arg.base_rewritten:
                return True
        elif type(arg) in (list, tuple) and any_requires_grad(arg, {}):
            return True
    return bool(kwargs) and any_requires_grad(kwargs.values(), {})


@contextmanager
def mode(interpreter: AnyInterpreter) -> Iterator[AnyInterpreter]:
    """Inside, `interpreter` sees every operation that the tape lets through."""
    with _entered(stacks.modes, interpreter):
        yield interpreter


@contextmanager
def transform(interpreter: AnyInterpreter) -> Iterator[AnyInterpreter]:
    """Inside, `interpreter` sees every operation first, above the tape."""
    with _entered(stacks.transforms, interpreter):
        yield interpreter


@contextmanager
def _entered(stack: list[Interpreter], interpreter: Interpreter) -> Iterator[None]:
    _enter(stack, interpreter)
    try:
        yield
    finally:
        _leave(stack, interpreter)


def enter_transform(interpreter: Interpreter) -> None:
    """From now on `interpreter` sees every operation first. Somebody has to say `leave_transform`."""
    _enter(stacks.transforms, interpreter)


def leave_transform(interpreter: Interpreter) -> None:
    """The end of it."""
    _leave(stacks.transforms, interpreter)


def _enter(stack: list[Interpreter], interpreter: Interpreter) -> None:
    contexts.append(interpreter)
    stack.append(interpreter)


def _leave(stack: list[Interpreter], interpreter: Interpreter) -> None:
    stack.remove(interpreter)
    contexts.remove(interpreter)


def enter_recording(arguments: Iterable[Any]) -> None:
    """From now on a function runs that is differentiated: what it was not given, it must not write to."""
    contexts.append(recordings)
    recordings.begin(arguments)


def leave_recording() -> None:
    """The function that was entered last has run."""
    recordings.starts.pop()
    contexts.remove(recordings)


def refuse_in_transforms(call: str, vmap_too: bool = False) -> None:
    """RuntimeError inside a function that grad or another such transform runs: it takes care of gradients itself."""
    if any(getattr(watched(), "is_in_use", False) for watched in stacks.watched) or (vmap_too and stacks.transforms):
        raise RuntimeError(
            f"{call}() is called inside of a function that a function transform (grad, vjp, jacrev, jvp, ...) runs,"
            " which is not supported; use the transforms instead, or call it outside"
        )


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
            _leave(stack, interpreter)


def converted_by_modes(tensor: Any) -> Any:
    """What the modes make of a tensor that was made of numbers or of an array: a fake one, perhaps."""
    for interpreter in reversed(stacks.modes) if contexts else ():
        convert = getattr(interpreter, "convert", None)
        tensor = tensor if convert is None else convert(tensor)
    if contexts and recordings.starts:
        mark_made(tensor, ())
    return tensor


@contextmanager
def no_modes() -> Iterator[None]:
    """Inside, no mode sees anything: for an interpreter that needs to compute with real values."""
    saved, stacks.modes = stacks.modes, []
    try:
        yield
    finally:
        stacks.modes = saved
