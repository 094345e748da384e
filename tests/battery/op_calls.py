"""Calls of the ops themselves, below the public functions: what call sheets, and the prims' samples, come down to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import minitorch_compile as torch
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import mode
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.modes.fake_tensor_mode import tensors_in
from tests.battery.arguments import Arguments
from tests.battery.outcome import evaluate
from tests.battery.sheet import Call, calls
from tests.prims import samples, samples_algorithms, samples_images  # noqa: F401  (their rows)

WITH_GRADIENTS = {"convolution", "pooling", "loss"}
BESIDE_THE_SHEETS = [
    Call(text, "", frozenset())
    for text in (
        "f(3, 4).view(torch.int32)",
        "i(3, 4).bitwise_and_(i(4))",
        "i(3, 4).bitwise_or_(i(4))",
        "i(3, 4).bitwise_xor_(i(4))",
        "i(3, 4).bitwise_not_()",
    )
]
MOST = 12  # calls of an op; those of different shapes first


class OpCall(NamedTuple):
    """An op with all its arguments, real tensors among them, and the expression that it was called for."""

    op: Op
    arguments: tuple[Any, ...]
    origin: str


class _Recorder:
    """A mode that notes the ops that reach it."""

    def __init__(self) -> None:
        self.found: dict[Op, dict[str, OpCall]] = {}
        self.origin = ""

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = op.bind(args, kwargs)
        shape = str([(len(x.sizes), x.strides == tuple(sorted(x.strides)[::-1]), x.dtype) for x in tensors_in(bound)])
        known = self.found.setdefault(op, {})
        before = None if shape in known or len(known) == MOST else _copied(bound)
        result = op(*args, **kwargs)
        if before is not None:  # and it was no error
            known[shape] = OpCall(op, before, self.origin)
        return result


def _copied(value: Any) -> Any:
    """Tensors as they are now: in-place ops come."""
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(item) for item in value) if type(value) in (list, tuple) else value
    return value.detach().clone() if isinstance(value, torch.Tensor) and 0 not in value.stride() else value


def op_calls() -> Iterator[OpCall]:
    """A few calls of each op that has a shape rule of its own."""
    recorder = _Recorder()
    for call in (*calls(), *BESIDE_THE_SHEETS):
        recorder.origin = call.text
        with mode(recorder):  # with a backward pass where derivatives have ops of their own
            evaluate(call.text, Arguments(torch, "contiguous", requires_grad=call.sheet in WITH_GRADIENTS))
    for op in ops.table.values():
        if op.recorded and not recorder.found.get(op):
            recorder.origin = f"samples of {op.name}"
            for arguments in samples.calls(op):
                with mode(recorder), suppress(RuntimeError, TypeError):
                    op(*arguments)
    for of_op in recorder.found.values():
        yield from of_op.values()
