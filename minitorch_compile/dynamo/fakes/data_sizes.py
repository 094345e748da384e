"""Results whose sizes only the data decide: as fakes, with a symbol for each such size.

`capture_dynamic_output_shape_ops` of `torch._dynamo.config` asks for them; otherwise the graph breaks there.

>>> from minitorch_compile.symbolic import ShapeEnv
>>> from minitorch_compile.tensor import empty_fake, ops
>>> env = ShapeEnv()
>>> fake_result(ops.argwhere, (empty_fake((3, 4)),), env.create_unbacked).sizes, env
(torch.Size([u0, 2]), ...)

The symbol is the same for as long as the tensor is: `x[mask]` and `y[mask]` have one size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.symbolic import Range, SymInt
from minitorch_compile.tensor import Op, ops
from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import float32, float64, int64
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase, empty_fake

NewSize = Callable[[Range], Any]  # gives a SymInt
Rule = Callable[..., Any]


def fake_result(op: Op, arguments: tuple[Any, ...], new_size: NewSize) -> Any:
    """What the op gives. What the arguments do wrong, its own rule says; FakeDataError if there is no rule here."""
    try:
        return op.meta(*arguments)
    except FakeDataError:
        if op not in RULES:
            raise
    return RULES[op](new_size, *arguments)


def _at_most(count: Any) -> Range:
    return Range(0, count) if type(count) is int else Range(0)


def _argwhere(new_size: NewSize, input: TensorBase) -> TensorBase:
    return empty_fake((new_size(_at_most(numel(input.sizes))), len(input.sizes)), None, int64)


def _repeated_positions(new_size: NewSize, repeats: TensorBase) -> TensorBase:
    return empty_fake((new_size(Range(0)),), None, int64)


def _unique(new_size: NewSize, input: TensorBase, dim: int | None) -> tuple[TensorBase, ...]:
    at = None if dim is None else wrap_dim(dim, len(input.sizes))
    among = numel(input.sizes) if at is None else input.sizes[at]
    count = new_size(_at_most(among))
    sizes = (count,) if at is None else tuple(count if d == at else n for d, n in enumerate(input.sizes))
    inverse = empty_fake(input.sizes if at is None else (among,), None, int64)
    return empty_fake(sizes, None, input.dtype), inverse, empty_fake((count,), None, int64)


def _bincount(new_size: NewSize, input: TensorBase, weights: TensorBase | None, minlength: int) -> TensorBase:
    element = int64 if weights is None else float32 if weights.dtype is float32 else float64
    return empty_fake((new_size(Range(minlength)),), None, element)


RULES: dict[Op, Rule] = {
    ops.argwhere: _argwhere,
    ops.table["repeated_positions"]: _repeated_positions,
    ops.table["unique_parts"]: _unique,
    ops.table["unique_consecutive_parts"]: _unique,
    ops.bincount: _bincount,
}


class DataSizes:
    """The sizes that the data of one traced program decide. `new_size` makes a symbol, or None where the program is to
    break instead."""

    def __init__(self, new_size: Callable[[Range], SymInt | None]) -> None:
        self.new_size = new_size
        self._known: dict[tuple[Op, int], tuple[TensorBase, int, SymInt]] = {}

    def result(self, op: Op, arguments: tuple[Any, ...]) -> Any:
        """What the op gives. FakeDataError where its sizes are not to be in the graph."""
        return fake_result(op, arguments, lambda within: self._size(op, arguments, within))

    def _size(self, op: Op, arguments: tuple[Any, ...], within: Range) -> SymInt:
        """The symbol that stands for what the data of the first argument decide, alone if there is no other."""
        decides = arguments[0]
        known = self._known.get((op, id(decides)))
        if known is not None and known[1] == decides.storage.version:
            return known[2]
        made = self.new_size(within)
        if made is None:
            raise FakeDataError(f"{op.name}: the size of the result depends on the data")
        if len(arguments) == 1:
            self._known[op, id(decides)] = decides, decides.storage.version, made
        return made
