"""What functionalization knows about tensors and storages: names, roots, and the value behind each.

A tensor of the program is a `Name` for a value: the steps by which it is seen from a `Root`, whose value is known. A
storage's `Contents` are its roots; the first is its base.

>>> from minitorch_compile.tensor import ops, tensor
>>> x = tensor([[1, 2], [3, 4]])
>>> contents = Contents(x, x)
>>> row = Name(x[0], contents.base, (ViewStep.of(ops.select, x, (0, 0)),), x[0], writes=0)
>>> followed(row.steps, contents.base.value), row.is_overtaken
(tensor([1, 2]), False)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.aot.aliasing.view_steps import ViewStep
from minitorch_compile.symbolic import SymInt
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.tensor_base import TensorBase


class Root:
    """A tensor where a history begins, the steps from its storage's base to it, and its value.

    `recorded`: which write to the storage was the last to this root with grad mode on, counted from 1; 0 if none was.
    `written`: the same, whatever the grad mode.
    `is_data`: it came from `x.data`, so that writes to it leave the storage's version as it is. `is_result`: it is what
    a call returned for its argument, so that its history is the call's.
    """

    def __init__(self, tensor: TensorBase, steps: tuple[ViewStep, ...], value: Tensor) -> None:
        self.tensor = tensor
        self.steps = steps
        self.value = value
        self.recorded = self.written = 0
        self.is_data = False
        self.is_result = False


class Contents:
    """What a storage holds: its roots, of which the first is its base, and how often it was written."""

    def __init__(self, base: TensorBase, value: Tensor) -> None:
        self.roots = [Root(base, (), value)]
        self.writes = 0

    @property
    def base(self) -> Root:
        return self.roots[0]


class Name:
    """A tensor of the program: the steps from its root to it, and its value after so many writes."""

    def __init__(self, tensor: TensorBase, root: Root, steps: tuple[ViewStep, ...], value: Tensor, writes: int) -> None:
        self.tensor = tensor
        self.root = root
        self.steps = steps
        self.value = value
        self.writes = self.made = writes
        self.look = look_of(tensor)

    @property
    def is_untracked(self) -> bool:
        """Whether it is a view made under no_grad, whose root was written to since."""
        return self.root.written > self.made and not all(step.recorded for step in self.steps)

    @property
    def is_overtaken(self) -> bool:
        """Whether its root got another history since it was made."""
        return self.root.recorded > self.made


def look_of(x: TensorBase) -> tuple[Any, ...]:
    """What must stay as long as a name stands for the tensor. Unknown sizes may become numbers."""
    unknown = any(isinstance(n, SymInt) for n in (*x.sizes, *x.strides))
    return (id(x.storage), len(x.sizes)) if unknown else (id(x.storage), len(x.sizes), x.sizes, x.strides, x.offset)


def followed(steps: tuple[ViewStep, ...], x: Any) -> Any:
    """The view at the end of the steps."""
    for step in steps:
        x = step.value(x)
    return x
