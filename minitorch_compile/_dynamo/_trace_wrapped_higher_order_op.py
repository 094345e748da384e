"""PyTorch's name for a mode that programs enter around `vmap` of mask functions.

There, `x[i]` with a 0-d tensor that vmap has many of is read by `.item()` without it. Here vmap indexes by tensors.

>>> from minitorch_compile import arange, vmap
>>> with TransformGetItemToIndex():
...     print(vmap(lambda i: arange(6)[i])(arange(2)))
tensor([0, 1])
"""

from __future__ import annotations


class TransformGetItemToIndex:
    """Entered and left; nothing needs to change between."""

    def __enter__(self) -> TransformGetItemToIndex:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to undo."""
