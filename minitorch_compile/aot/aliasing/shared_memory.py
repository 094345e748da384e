"""Arguments that share memory, one of which is overwritten: all become views of one argument, their *base*.

A functional graph has a value for each argument, and a write changes one value. If x and y overlap, a write to x must
change y; and if x is expanded, it overlaps with itself. So the program is compiled once more for the way in which its
arguments overlap: with the tensor that they are views of as an argument, and x and y made inside of it. What is written
goes back to the base.

>>> from minitorch_compile.tensor import arange
>>> whole = arange(6)
>>> x, y = whole[:4], whole[2:]
>>> sharing = sharing_of([x, y], {0})
>>> sharing.views
{0: ArgumentView(base=2, sizes=(4,), strides=(1,), offset=0, tracked=True), 1: ArgumentView(base=2, sizes=(4,), ...)}
>>> [base is whole for base in sharing.bases]
[True]

Source: PyTorch's synthetic bases (`merge_view_inputs`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from minitorch_compile.tensor.memory.storage import BorrowedStorage
from minitorch_compile.tensor.tensor_base import TensorBase


class ArgumentView(NamedTuple):
    """An argument as a view of the argument at position `base`. `tracked`: it was made with grad mode on."""

    base: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    tracked: bool


@dataclass
class Sharing:
    """How arguments share memory. `same[i]`: the earlier argument that argument i is. `bases` come after the others."""

    same: dict[int, int] = field(default_factory=dict)
    views: dict[int, ArgumentView] = field(default_factory=dict)
    bases: list[TensorBase] = field(default_factory=list)

    def key(self, arguments: Sequence[Any]) -> Hashable:
        """Equal for calls that one compiled program fits."""
        owners = {view.base for view in self.views.values()}
        everything = [*arguments, *self.bases]
        looks = [(i, *_look(everything[i])) for i in sorted(owners)]
        return tuple(self.same.items()), tuple(self.views.items()), tuple(looks)


def _look(x: TensorBase) -> tuple[Any, ...]:
    return tuple(x.sizes), x.strides, x.offset, x.requires_grad


def sharing_of(arguments: Sequence[Any], written: Set[int]) -> Sharing | None:
    """How arguments share memory with one of those that are `written`; None if none does.

    NotImplementedError for tensors over the same memory of which autograd doesn't know that they are views of one.
    """
    members: dict[Any, list[int]] = {}
    for i, x in enumerate(arguments):
        if isinstance(x, TensorBase):
            members.setdefault(x.storage, []).append(i)
    groups = [
        group
        for group in members.values()
        if written & set(group) and (len(group) > 1 or repeats_elements(arguments[group[0]]))
    ]
    if not groups:
        return None
    sharing = Sharing()
    for group in groups:
        _describe(group, arguments, sharing)
    return sharing


def repeats_elements(x: TensorBase) -> bool:
    """Whether one element in memory is several of the tensor, as in an expanded one: it shares memory with itself."""
    return any(size > 1 and stride == 0 for size, stride in zip(x.sizes, x.strides, strict=True))


def _describe(group: Sequence[int], arguments: Sequence[Any], sharing: Sharing) -> None:
    """Enters the arguments at these positions, which share a storage."""
    first: dict[int, int] = {}
    for i in group:
        if first.setdefault(id(arguments[i]), i) != i:
            sharing.same[i] = first[id(arguments[i])]
    if len(first) == 1 and not repeats_elements(arguments[group[0]]):
        return
    base = _common_base([arguments[i] for i in first.values()])
    if repeats_elements(base):
        raise NotImplementedError(
            "aot: an argument that is overwritten repeats its elements and is no view of a tensor; pass a clone() of it"
        )
    position = first.get(id(base))
    if position is None:
        position = len(arguments) + len(sharing.bases)
        sharing.bases.append(base)
    for i in first.values():
        x = arguments[i]
        if i != position:
            sharing.views[i] = ArgumentView(position, tuple(x.sizes), tuple(x.strides), x.offset, not x.untracked)


def _common_base(tensors: Sequence[TensorBase]) -> TensorBase:
    """The tensor that all of these are views of, or are."""
    owners = {id(owner): owner for x in tensors for owner in [x if x.base is None else x.base]}
    (base, *others) = owners.values()
    leaf_views = [x for x in tensors if x is not base and x._requires_grad and x.grad_fn is None]
    if others or leaf_views or any(isinstance(x.storage, BorrowedStorage) for x in tensors):
        raise NotImplementedError(
            "aot: an argument that is overwritten shares memory with another one, and they are no views of one tensor"
            " (a detach(), a .data, or a view that was made a leaf); pass a clone() of one"
        )
    return base
