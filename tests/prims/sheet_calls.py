"""The calls of concrete ops that the call sheets come down to, with their arguments.

A sheet calls what people call. Below that, `F.layer_norm` is one call of native_layer_norm, `torch.cov` a dozen. Each
call of an op that may need a decomposition is written down while the sheets are evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import minitorch_compile as torch
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from tests.battery.arguments import Arguments
from tests.battery.outcome import evaluate
from tests.battery.sheet import Call

LARGEST = 5000  # elements: what is larger shows nothing that small tensors don't


@dataclass(frozen=True)
class OpCall:
    """One call of an op, with all its parameters, and the line of a sheet that it came from."""

    op: Op
    bound: tuple[Any, ...]
    line: str

    @property
    def tensors(self) -> list[Tensor]:
        return [leaf for leaf in tree_leaves(list(self.bound)) if isinstance(leaf, Tensor)]

    def with_tensors(self, tensors: Iterable[Any]) -> tuple[Any, ...]:
        """The parameters with other tensors in place of these."""
        remaining = iter(tensors)
        return map_aggregate(self.bound, lambda x: next(remaining) if isinstance(x, Tensor) else x)

    def __str__(self) -> str:
        layouts = ", ".join(f"{x.dtype}{list(x.sizes)}{list(x.strides)}" for x in self.tensors)
        others = map_aggregate(self.bound, lambda x: "_" if isinstance(x, Tensor) else x)
        return f"{self.op!r}{others} of {layouts}   [{self.line}]"


class _Recorder:
    """The mode that runs ops as they are, and notes what they were called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Op, tuple[Any, ...]]] = []

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind != "inplace":
            self.calls.append((op, map_aggregate(op.bind(args, kwargs), _copied)))
        return op.run(args, kwargs)


def _copied(value: Any) -> Any:
    """A tensor that later writes don't reach, in the same layout (a view of another keeps its storage)."""
    if not isinstance(value, Tensor) or value.is_fake:
        return value
    return value.detach()


def calls_made(sheet_calls: Iterable[Call], layout: str, element: str, gradients: bool = False) -> Iterator[OpCall]:
    """What the lines come down to, each different call once. `gradients`: and what their backward passes call."""
    seen = set()
    for call in sheet_calls:
        recorder = _Recorder()
        with dispatch.mode(recorder):  # some lines are errors; what was called before it counts
            evaluate(call.text, Arguments(torch, layout, element, requires_grad=gradients))
        for op, bound in recorder.calls:
            found = OpCall(op, bound, call.text)
            key = (op, str(found).rpartition("   [")[0])
            if key not in seen and all(x.numel() <= LARGEST for x in found.tensors):
                seen.add(key)
                yield found
