"""Checkpointing: keep little of a forward pass, and compute the rest again when the backward pass needs it.

>>> from minitorch_compile.tensor import ones
>>> calls = []
>>> def block(x):
...     calls.append("block")
...     return x.exp().sin()
>>> x = ones(2, requires_grad=True)
>>> checkpoint(block, x, use_reentrant=False).sum().backward()
>>> calls
['block', 'block']

Without `use_reentrant` this is a pair of hooks on saved tensors: packing keeps a placeholder, the first unpacking runs
the function again and collects what it saves this time. With it, the whole function is one `autograd.Function` whose
backward runs it anew and goes back through that: simpler, but `autograd.grad` doesn't work with it.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from minitorch_compile.autograd import Function, backward
from minitorch_compile.autograd.saved_tensors_hooks import saved_tensors_hooks
from minitorch_compile.control import disable
from minitorch_compile.random import get_rng_state, set_rng_state
from minitorch_compile.tensor import Tensor, enable_grad
from minitorch_compile.user_warnings import warn_user
from minitorch_compile.utils.selective_checkpoint import (  # noqa: F401  as there
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

Contexts = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]


class CheckpointError(RuntimeError):
    """The function did something else when it was computed again."""


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Contexts for the forward pass and for computing again, neither of which does anything."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The accelerators that the arguments lie on, and the states of their generators: none on a CPU."""
    return [], []


def set_device_states(devices: list[int], states: list[Tensor], *, device_type: str | None = None) -> None:
    """Puts those states back. RuntimeError if there are any."""
    if devices or states:
        raise RuntimeError(f"set_device_states: tensors live on the CPU; there is no device {list(devices)} to set")


# Compiled on its own, the function would save other tensors than when the backward pass runs it as plain Python.
@disable(reason="its function is run again in the backward pass")
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Contexts = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, keeping its arguments instead of what it saves for the backward pass.

    The default generator is put back for computing again, if `preserve_rng_state`. CheckpointError if what is saved
    then looks different, unless `determinism_check="none"`. `debug` changes nothing: the message always says what
    differs.
    """
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        warn_user(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly; use_reentrant=False is"
            " recommended. The default is True."
        )
        use_reentrant = True
    if not use_reentrant:
        run = _Recomputation(function, args, kwargs, preserve_rng_state, context_fn, determinism_check, early_stop)
        return run.forward()
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn:
        raise ValueError("Passing `context_fn` is only supported when use_reentrant=False.")
    check_backward_validity(args)
    return _Reentrant.apply(function, preserve_rng_state, *args)


# Within a compiled function most calls can be captured all the same (dynamo/variables/functions/checkpoints.py).
checkpoint.__dict__["_dynamo_checkpoint"] = True


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Runs a Sequential, or a list of functions, in `segments` stretches, each but the last checkpointed."""
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = len(steps) // segments
    for segment in range(segments - 1):
        stretch = _chain(steps[segment * length : (segment + 1) * length])
        input = checkpoint(stretch, input, use_reentrant=True if use_reentrant is None else use_reentrant, **kwargs)
    return _chain(steps[(segments - 1) * length :])(input)


def _chain(steps: list[Callable[..., Any]]) -> Callable[..., Any]:
    def run(input: Any) -> Any:
        for step in steps:
            input = step(input)
        return input

    return run


class _Reentrant(Function):
    """The function as one node, whose backward pass records it anew and runs backwards inside the backward pass."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.rng_state = get_rng_state() if preserve_rng_state else None
        ctx.args = [None if isinstance(x, Tensor) else x for x in args]
        ctx.tensors = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.tensors))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        args = list(ctx.args)
        for i, x in zip(ctx.tensors, ctx.saved_tensors, strict=True):
            args[i] = x.detach().requires_grad_(x.requires_grad)
        with _rng_state(ctx.rng_state), enable_grad():
            outputs = ctx.function(*args)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(x.grad if isinstance(x, Tensor) else None for x in args))


@contextlib.contextmanager
def _rng_state(state: Any) -> Any:
    """Inside, the default generator is in that state; None leaves it alone."""
    if state is None:
        yield
        return
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


_early_stop: list[bool | None] = [None]  # what contexts ask for, the innermost last


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Any:
    """Inside, whether computing again ends as soon as every saved tensor is back; None leaves it to each call."""
    _early_stop.append(enable)
    try:
        yield
    finally:
        _early_stop.pop()


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """Inside, `debug` of each call, which changes nothing: the message always says what differs."""
    yield


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors without their history, as leaves that require grad if they did; other values as they are.
    RuntimeError for what is no tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def check_backward_validity(inputs: Any) -> None:
    """A warning, if none of the tensors requires grad."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warn_user("None of the inputs have requires_grad=True. Gradients will be None")


class _Placeholder:
    """What is kept instead of a saved tensor."""

    __slots__ = ("__weakref__", "look")

    def __init__(self, x: Any) -> None:
        self.look = (tuple(x.shape), x.dtype)


class _AllThere(Exception):
    """Ends computing again as soon as every saved tensor is back."""


class _Recomputation:
    """One checkpointed call: the placeholders of its forward pass, and the tensors once computed again."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        preserve_rng_state: bool,
        context_fn: Contexts,
        determinism_check: str,
        early_stop: bool,
    ) -> None:
        if determinism_check not in ("default", "none"):
            raise ValueError(f"determinism_check should be one of ['default', 'none'] but got {determinism_check}")
        self.call = lambda: function(*args, **kwargs)
        self.rng_state = get_rng_state() if preserve_rng_state else None
        self.forward_context, self.again_context = context_fn()
        self.checks = determinism_check == "default"
        self.early_stop = early_stop if _early_stop[-1] is None else _early_stop[-1]
        self.placeholders: list[weakref.ref[_Placeholder]] = []
        self.found: weakref.WeakKeyDictionary[_Placeholder, Any] = weakref.WeakKeyDictionary()

    def forward(self) -> Any:
        with saved_tensors_hooks(self.pack, self.unpack), self.forward_context:
            return self.call()

    def pack(self, x: Any) -> _Placeholder:
        placeholder = _Placeholder(x)
        self.placeholders.append(weakref.ref(placeholder))
        return placeholder

    def unpack(self, placeholder: _Placeholder) -> Any:
        if placeholder not in self.found:
            self.compute_again()
        if placeholder not in self.found:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and"
                f" recomputation.\nNumber of tensors saved during forward: {len(self.placeholders)}"
            )
        return self.found.pop(placeholder)

    def compute_again(self) -> None:
        count = 0

        def collect(x: Any) -> Any:
            nonlocal count
            if count < len(self.placeholders):
                placeholder = self.placeholders[count]()
                if placeholder is not None:
                    self.check(placeholder, x, count)
                    self.found[placeholder] = x
            count += 1
            if self.early_stop and count == len(self.placeholders):
                raise _AllThere
            return x

        with _rng_state(self.rng_state), enable_grad(), saved_tensors_hooks(collect, lambda x: x), self.again_context:
            try:
                self.call()
            except _AllThere:
                return

    def check(self, placeholder: _Placeholder, x: Any, position: int) -> None:
        look = (tuple(x.shape), x.dtype)
        if self.checks and look != placeholder.look:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than"
                f" during the forward pass.\ntensor at position {position}:\nsaved metadata: {placeholder.look}\n"
                f"recomputed metadata: {look}"
            )
