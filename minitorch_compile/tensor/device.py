"""Where a tensor's data lies.

>>> device("cpu")
device(type='cpu')
"""

from __future__ import annotations


class device:
    """A device by type and index. Compare with `==`.

    RuntimeError for a type that no kernel of this package runs on.
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None
    TYPES = ("cpu", "meta")

    def __init__(self, type: str | device, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if not isinstance(type, str):
            raise TypeError(f"device: expected a string such as 'cpu', got {type!r}")
        name, _, number = type.partition(":")
        if name not in self.TYPES:
            raise RuntimeError(f"device: no tensors on {type!r} here; expected one of {', '.join(self.TYPES)}")
        self.type = name
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


CPU = device("cpu")
META = device("meta")
