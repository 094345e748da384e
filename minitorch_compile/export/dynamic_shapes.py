"""Dimensions of which a program takes more than one size: Dim, and what `dynamic_shapes` says of arguments.

>>> batch = Dim("batch", min=2, max=64)
>>> batch, Dim.AUTO, dims("height", "width")
(Dim('batch', min=2, max=64), DimHint(AUTO), (Dim('height', min=0), Dim('width', min=0)))

Source: torch/export/dynamic_shapes.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from minitorch_compile import pytree
from minitorch_compile.dynamo import mark_dynamic, maybe_mark_dynamic
from minitorch_compile.dynamo.errors import UserError
from minitorch_compile.tensor import Tensor


class ExportError(UserError):
    """A UserError whose text is all that there is to say."""

    def __init__(self, message: str) -> None:
        super().__init__("unsupported-call", message)

    def __str__(self) -> str:
        return self.detail


@dataclass(frozen=True)
class DimHint:
    """AUTO: unknown where the program allows that; DYNAMIC: unknown, or an error; STATIC: as in the example."""

    name: str

    def __repr__(self) -> str:
        return f"DimHint({self.name})"


class Dim:
    """A size that is not known, from `min` to `max`; where one Dim stands twice, the sizes are equal.

    AssertionError unless the name is a str and min <= max.
    """

    AUTO: ClassVar[DimHint] = DimHint("AUTO")
    DYNAMIC: ClassVar[DimHint] = DimHint("DYNAMIC")
    STATIC: ClassVar[DimHint] = DimHint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min = 0 if min is None else min
        self.max = math.inf if max is None else max
        if self.max < self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not isinstance(name, str) or not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name

    def __repr__(self) -> str:
        upper = "" if self.max == math.inf else f", max={self.max}"
        return f"Dim('{self.__name__}', min={self.min}{upper})"

    def _derived(self, *_: Any) -> Any:
        raise NotImplementedError(
            f"torch.export: sizes computed of {self.__name__} are not offered in dynamic_shapes; use Dim.AUTO there:"
            " how sizes depend on each other is found when the program is traced, and checked at each call"
        )

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = _derived


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A Dim for each name, all with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


Wishes = dict[tuple[int, int], Any]  # by the place of a leaf among all, and by its dimension


def wishes_of(dynamic_shapes: Any, arguments: dict[str, Any], leaves: Sequence[Any]) -> Wishes:
    """What is said of the dimensions of the leaves of these arguments, by name or in their order."""
    if dynamic_shapes is None:
        return {}
    if isinstance(dynamic_shapes, dict):
        if set(dynamic_shapes) != set(arguments):
            raise ExportError(
                "When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names"
                f" {list(arguments)} of `inputs`, but here they are {list(dynamic_shapes)}. Alternatively, you could"
                " also ignore arg names entirely and specify `dynamic_shapes` as a list/tuple matching `inputs`."
            )
        dynamic_shapes = [dynamic_shapes[name] for name in arguments]
    if not isinstance(dynamic_shapes, (list, tuple)) or len(dynamic_shapes) != len(arguments):
        raise ExportError(
            f"Expecting `dynamic_shapes` to say something of each of {list(arguments)}, in a dict or in a tuple of this"
            f" length, but got {dynamic_shapes!r}"
        )
    found: Wishes = {}
    place = 0
    for (name, value), said in zip(arguments.items(), dynamic_shapes):
        count = len(pytree.tree_leaves(value))
        _enter(found, range(place, place + count), leaves, value, said, name)
        place += count
    return found


def _enter(found: Wishes, places: range, leaves: Sequence[Any], value: Any, said: Any, name: str) -> None:
    if said is None:
        return
    if isinstance(value, Tensor):
        _enter_tensor(found, places[0], value, said, name)
        return
    items = list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, (list, tuple)) else []
    parts = [said[key] for key in value] if isinstance(value, dict) and isinstance(said, dict) else said
    if not isinstance(parts, (list, tuple)) or len(parts) != len(items):
        raise ExportError(f"`dynamic_shapes` of {name} must be nested as {name} is, but is {said!r}")
    for item, part in zip(items, parts):
        count = len(pytree.tree_leaves(item))
        _enter(found, places[:count], leaves, item, part, name)
        places = places[count:]


def _enter_tensor(found: Wishes, place: int, tensor: Tensor, said: Any, name: str) -> None:
    rank = tensor.dim()
    by_dimension = dict(enumerate(said)) if isinstance(said, (list, tuple)) else said
    if not isinstance(by_dimension, dict) or (by_dimension is not said and len(by_dimension) != rank):
        raise ExportError(f"`dynamic_shapes` of the tensor {name} must be a dict or a tuple of {rank}, but is {said!r}")
    for dim, wish in by_dimension.items():
        if not isinstance(dim, int) or not -rank <= dim < rank:
            raise ExportError(f"`dynamic_shapes` of {name} speaks of dimension {dim!r}, but {name} has {rank}")
        if isinstance(wish, int) and wish != tensor.shape[dim]:
            raise ExportError(f"`dynamic_shapes` of {name} says size {wish} for dimension {dim}: {list(tensor.shape)}")
        if not isinstance(wish, (Dim, DimHint, int, type(None))):
            raise ExportError(f"`dynamic_shapes` of {name} has {wish!r} for dimension {dim}; expected a Dim, Dim.AUTO,"
                              " Dim.DYNAMIC, Dim.STATIC, an int or None")  # fmt: skip
        if isinstance(wish, (Dim, DimHint)) and wish is not Dim.STATIC:
            found[place, dim % rank] = wish


def mark(tensor: Tensor, dim: int, wish: Any) -> None:
    """Has the tracer treat the size so. A size of 0 or 1 can't be unknown: it decides what is broadcast."""
    if wish is Dim.AUTO:
        maybe_mark_dynamic(tensor, dim)
        return
    if tensor.shape[dim] < 2:
        raise ExportError(
            f"torch.export: the example has size {tensor.shape[dim]} in a dimension that is to be unknown ({wish!r});"
            " give an example with at least 2, since 0 and 1 mean something of their own when sizes are broadcast"
        )
    if isinstance(wish, Dim):
        upper = None if wish.max == math.inf else int(wish.max)
        mark_dynamic(tensor, dim, min=wish.min if wish.min > 2 else None, max=upper)
    else:
        mark_dynamic(tensor, dim)
