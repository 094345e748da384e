"""The one door through which every operation goes.

A call `ops.mul(x, y)` may mean different things: multiply, also record for the backward pass, also write a node into a
graph, or only work out shapes. Each meaning is an *interpreter*, and they are stacked in storeys:

    overrides    __torch_function__ of the arguments' classes (overrides.py)
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
>>> with mode(Count()) as counter:
...     _ = ones(2) * 2 + 1
>>> counter.calls
3

Source: the dispatcher of PyTorch (its keys are our storeys) and the interpreter stack of functorch and JAX.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from minitorch_compile.tensor.dispatch.captured_memory import mark_made, recordings, refuse_captured
from minitorch_compile.tensor.dispatch.overrides import MISSING, PLAIN, VALUES, overridden, watching
from minitorch_compile.tensor.dispatch.tape_slot import slot as tape
from minitorch_compile.tensor.dispatch.torch_dispatch import dispatching, run_dispatched
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.memory.storage import INFERENCE
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op


class Interpreter(Protocol):
    """What a transform or a mode is: something that gives a call its meaning."""

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...


class _Stacks(threading.local):
    """The context stacks of one thread; the last interpreter of a list is the topmost."""

    def __init__(self) -> None:
        self.transforms: list[Interpreter] = []
        self.modes: list[Interpreter] = []
        # Tensors that grad, vjp and the like watch while their function runs; whoever drops them ends the watch.
        self.watched: list[weakref.ref[Any]] = []


stacks = _Stacks()
contexts: list[Any] = []  # what all threads are in: while it is empty, no thread need look at its own stacks
AnyInterpreter = TypeVar("AnyInterpreter", bound=Interpreter)


def dispatch(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Gives the call to the topmost interpreter that wants it."""
    if not contexts and not kwargs:  # what follows, for plain arguments, in half the time
        for arg in args:
            if type(arg) not in PLAIN:
                if type(arg) not in VALUES:
                    break
            elif arg._requires_grad or ((base := arg.base) is not None and (base._requires_grad or base.rewritten)):
                break
        else:
            return op.run_plain(args)
    if watching and (answer := overridden(op, args, kwargs)) is not MISSING:
        return answer
    if contexts and op.recorded:
        if stacks.transforms:
            return _process_below(stacks.transforms, op, args, kwargs)
        if recordings.starts and op.kind == "inplace":
            refuse_captured(op.name, args[0] if args else kwargs.get("input"))
    if grad_state.enabled and any_requires_grad(args, kwargs) and op.recorded and tape:
        result = tape[0].record(op, args, kwargs)
    else:
        result = below_tape(op, args, kwargs) if contexts or dispatching else op.run(args, kwargs)
    if contexts and recordings.starts and op.recorded and op.kind not in ("inplace", "view"):
        mark_made(result, args)
    return result


def below_tape(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call as the storeys under autograd see it: the topmost mode, else the kernel.

    A composite op has no kernel; its body is run, and the ops in it are dispatched in turn.
    """
    if stacks.modes and op.recorded:
        return _process_below(stacks.modes, op, args, kwargs)
    result = run_dispatched(op, args, kwargs) if dispatching and op.recorded else op.run(args, kwargs)
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

    So does a view whose base began to after the view was made, or was given a history by an in-place operation.
    """
    for arg in args:
        if isinstance(arg, TensorBase):
            if arg._requires_grad:
                return True
            base = arg.base
            if base is not None and (base._requires_grad or base.rewritten != arg.base_rewritten):
                return True
        elif type(arg) in (list, tuple) and any_requires_grad(arg, {}):
            return True
    return bool(kwargs) and any_requires_grad(kwargs.values(), {})


@contextmanager
def mode(interpreter: AnyInterpreter) -> Iterator[AnyInterpreter]:
    """Inside, `interpreter` sees every operation that the tape lets through."""
    with entered(stacks.modes, interpreter):
        yield interpreter


@contextmanager
def entered(stack: list[Interpreter], interpreter: Interpreter) -> Iterator[None]:
    enter(stack, interpreter)
    try:
        yield
    finally:
        leave(stack, interpreter)


def enter(stack: list[Interpreter], interpreter: Interpreter) -> None:
    contexts.append(interpreter)
    stack.append(interpreter)


def leave(stack: list[Interpreter], interpreter: Interpreter) -> None:
    stack.remove(interpreter)
    contexts.remove(interpreter)


def converted_by_modes(tensor: Any) -> Any:
    """What the modes make of a tensor that was made of numbers or of an array: a fake one, perhaps."""
    for interpreter in reversed(stacks.modes) if contexts else ():
        convert = getattr(interpreter, "convert", None)
        tensor = tensor if convert is None else convert(tensor)
    if contexts and recordings.starts:
        mark_made(tensor, ())
    return tensor
