"""What the user says about the sizes of a tensor: `mark_dynamic`, `maybe_mark_dynamic`, `mark_static`.

>>> import minitorch_compile as torch
>>> x = torch.ones(8, 3)
>>> mark_dynamic(x, 0, max=64)
>>> mark_static(x, 1)
>>> marks_of(x)
{0: DimensionMark(kind='dynamic', min=None, max=64), 1: DimensionMark(kind='static', min=None, max=None)}

Source: torch/_dynamo/decorators.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minitorch_compile.tensor.memory.dimensions import wrap_dim
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

Dimensions = int | Sequence[int]


@dataclass(frozen=True)
class DimensionMark:
    """ "dynamic": must be a symbol, with sizes from `min` to `max`; "maybe": may be one; "static": must not."""

    kind: str
    min: int | None = None
    max: int | None = None


def mark_dynamic(
    t: Any,
    index: Dimensions,
    *,
    hint_override: int | None = None,
    min: int | None = None,
    max: int | None = None,
    specialize_on: Sequence[Any] | None = None,
) -> None:
    """Compiled functions treat these dimensions as unknown from their first call on.

    min, max: the sizes that the program is meant for. A program that turns out to work for fewer sizes, or only for the
    one that was seen, is a ConstraintViolationError, which names the line that decided it.
    hint_override, specialize_on: for which sizes kernels are made well. They change nothing: kernels are made for each
    size that is met.
    """
    _mark("mark_dynamic", t, index, DimensionMark("dynamic", min, max))


def maybe_mark_dynamic(t: Any, index: Dimensions) -> None:
    """The same as a wish: where the program works only for some sizes, it is compiled for these."""
    _mark("maybe_mark_dynamic", t, index, DimensionMark("maybe"))


def mark_static(t: Any, index: Dimensions | None = None) -> None:
    """These dimensions (without `index`, all) are never unknown: each new size is compiled again."""
    _mark("mark_static", t, tuple(range(len(t.sizes))) if index is None else index, DimensionMark("static"))


def mark_unbacked(t: Any, index: Dimensions, *args: Any, **kwargs: Any) -> None:
    """Refused: every unknown size here has a size that was seen, by which questions are answered."""
    raise NotImplementedError(
        "mark_unbacked: sizes without a value that was seen are not supported; mark_dynamic(t, index) makes a size"
        " unknown, and the program is guarded by what it asks about it"
    )


def marks_of(t: TensorBase) -> dict[int, DimensionMark]:
    """The marks by dimension."""
    found: dict[int, DimensionMark] = kept_by(t).get("_dynamo_marks", {})
    return found


def _mark(name: str, t: Any, index: Dimensions, mark: DimensionMark) -> None:
    if not isinstance(t, TensorBase):
        raise TypeError(f"{name}(): argument 't' must be Tensor, not {type(t).__name__}")
    dims = [wrap_dim(i, len(t.sizes)) for i in ((index,) if isinstance(index, int) else index)]
    kept_by(t)["_dynamo_marks"] = {**marks_of(t), **dict.fromkeys(dims, mark)}
