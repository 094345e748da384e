"""Numbers that may be given once for all dimensions: PyTorch keeps these in torch.nn.modules.utils.

>>> _pair(3), _pair([1, 2]), _triple("x")
((3, 3), (1, 2), ('x', 'x', 'x'))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives n of a thing, unless it already is several."""

    def parse(x: Any) -> tuple[Any, ...]:
        several = isinstance(x, Iterable) and not isinstance(x, str)
        return tuple(x) if several else (x,) * n

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (_ntuple(n) for n in (1, 2, 3, 4))


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """Each item n times, the last first: the order that F.pad wants.

    >>> _reverse_repeat_tuple((1, 2), 2)
    (2, 2, 1, 1)
    """
    return tuple(item for item in reversed(t) for _ in range(n))


def _list_with_default(out_size: list[int | None], defaults: list[int]) -> list[int]:
    """Sizes in which None stands for the default.

    >>> _list_with_default([None, 7], [4, 5, 6])
    [5, 7]
    """
    return [
        default if size is None else size for size, default in zip(out_size, defaults[-len(out_size) :], strict=True)
    ]
