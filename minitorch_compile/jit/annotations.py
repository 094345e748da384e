"""torch.jit.annotations: types that TorchScript has and Python writes otherwise.

>>> BroadcastingList2[int]          # one number, or two
tuple[int, int] | int
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035  programs import these from here

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "BroadcastingList4",
    "BroadcastingList5",
    "BroadcastingList6",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]


class BroadcastingList:
    """A list of n, or one value for all n."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __getitem__(self, item: Any) -> Any:
        return tuple[(item,) * self.n] | item  # type: ignore[misc]


BroadcastingList1, BroadcastingList2, BroadcastingList3 = map(BroadcastingList, (1, 2, 3))
BroadcastingList4, BroadcastingList5, BroadcastingList6 = map(BroadcastingList, (4, 5, 6))
