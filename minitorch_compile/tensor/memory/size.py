"""The sizes of a tensor: a tuple that prints as PyTorch's does.

>>> Size([2, 3]), Size([2, 3]).numel(), Size([2, 3]) == (2, 3)
(torch.Size([2, 3]), 6, True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.memory.strides import numel

_item = tuple.__getitem__


class Size(tuple[int, ...]):
    """A tuple of sizes; slicing, adding tuples and repeating give a Size again. `iterable` has them, as ints.

    >>> torch.Size([2, 3, 4])[:2], torch.zeros(2, 3).shape.numel()
    (torch.Size([2, 3]), 6)
    """

    __module__ = "minitorch_compile"  # as PyTorch shows it

    __slots__ = ()

    def numel(self) -> int:
        """The product of the sizes."""
        return numel(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, key: Any) -> Any:
        item = _item(self, key)
        return Size(item) if type(item) is tuple else item

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Size:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: Any) -> Size:
        return Size(tuple.__mul__(self, count)) if hasattr(type(count), "__index__") else NotImplemented

    __rmul__ = __mul__
