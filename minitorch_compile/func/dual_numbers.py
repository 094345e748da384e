"""torch.autograd.forward_ad: tensors that carry a tangent, which operations move along.

>>> from minitorch_compile.tensor import tensor
>>> with dual_level():
...     x = make_dual(tensor([1.0, 2.0]), tensor([1.0, 0.0]))
...     unpack_dual(x * x)
UnpackedDualTensor(primal=tensor([1., 4.]), tangent=tensor([2., 0.]))

A level is an interpreter on the stack of transforms: each operation with such an argument is run by `jvp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from minitorch_compile.func.forward_mode import jvp
from minitorch_compile.func.vmap import vmap
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.transform_stack import enter_transform, leave_transform
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import kept_by

NO_LEVEL = "but no level exists, make sure to enter_dual_level() first."


class UnpackedDualTensor(NamedTuple):
    """The value, and its tangent or None."""

    primal: Any
    tangent: Any


class DualLevel:
    """The interpreter. Tangents hang on the tensors, and mean nothing once the level is left."""

    allows_leaves = True

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = op.bind(args, kwargs)
        places = _moving(bound, self)
        if not places or not any(x.dtype.category >= FLOATING for x in (_at(bound, place) for place in places)):
            return op(*args, **kwargs)
        if op.kind == "inplace":
            return self._in_place(op, bound)
        primals = tuple(_plain(_at(bound, place)) for place in places)
        tangents = tuple(tangent_of(_at(bound, place), self) for place in places)
        result, moved = jvp(lambda *given: _without_whole(op(*_with(bound, places, given))), primals, tangents)
        values = op(*args, **kwargs)  # as it is: a view stays one
        return self.carrying(values, moved if isinstance(values, (tuple, list)) else moved)

    def _in_place(self, op: Any, bound: tuple[Any, ...]) -> Any:
        """Computed of a copy, and stored: so what the formula of the gradient needs is there, with its tangent."""
        target = bound[0]
        before = self.process(ops.clone, (target,), {})
        result = self.process(op.functional, tuple(before if x is target else x for x in bound), {})
        moved = tangent_of(result, self)
        ops.table["copy_"](target, result)
        moved = moved if moved is not None else ops.zeros_like(result)
        if target.base is not None:
            self._move_part(target.base, target, moved)
        return self.carrying(target, moved)

    def _move_part(self, base: Any, view: Any, moved: Any) -> None:
        """What a view was written to moves its base there. NotImplementedError for a base with gaps."""
        known = tangent_of(base, self)
        whole = ops.zeros_like(base) if known is None else ops.clone(known)
        if tuple(whole.strides) != tuple(base.strides) or base.dtype is not view.dtype:
            raise NotImplementedError(
                "forward_ad: a write into a view of a tensor whose elements don't lie densely; write into a clone"
            )
        ops.table["copy_"](ops.as_strided(whole, view.sizes, view.strides, view.offset - base.offset), moved)
        kept_by(base)["_dual"] = (self, whole)

    def carrying(self, values: Any, moved: Any) -> Any:
        """The values, each with its tangent."""
        if isinstance(values, Tensor):
            if values.dtype.category >= FLOATING:
                for each in (values, *_kept_for_gradients(values)):
                    kept_by(each)["_dual"] = (self, moved)
            return values
        for value, tangent in zip(values, moved, strict=True):
            self.carrying(value, tangent)
        return values


def _kept_for_gradients(value: Any) -> list[Any]:
    """What the tape keeps of a result for the formula of its gradient: a tensor of its own, which moves likewise."""
    kept = getattr(value.grad_fn, "outputs", None)
    kept = kept[value.output_index] if isinstance(kept, tuple) else kept
    return [kept] if isinstance(kept, Tensor) else []


def _without_whole(result: Any) -> Any:
    return tuple(result) if isinstance(result, list) else result


def _moving(bound: Sequence[Any], level: DualLevel) -> list[tuple[int, ...]]:
    """Where the arguments are that carry a tangent, also in lists."""
    found: list[tuple[int, ...]] = []
    for position, value in enumerate(bound):
        if isinstance(value, (list, tuple)):
            found += [(position, i) for i, x in enumerate(value) if tangent_of(x, level) is not None]
        elif tangent_of(value, level) is not None:
            found.append((position,))
    return found


def _at(bound: Sequence[Any], place: tuple[int, ...]) -> Any:
    return bound[place[0]] if len(place) == 1 else bound[place[0]][place[1]]


def _with(bound: Sequence[Any], places: list[tuple[int, ...]], given: Sequence[Any]) -> list[Any]:
    """The arguments with others at these places."""
    changed = [list(x) if isinstance(x, (list, tuple)) else x for x in bound]
    for place, value in zip(places, given, strict=True):
        if len(place) == 1:
            changed[place[0]] = value
        else:
            changed[place[0]][place[1]] = value
    return [tuple(new) if isinstance(old, tuple) else new for old, new in zip(bound, changed, strict=True)]


def _plain(x: Any) -> Any:
    """The value without its tangent."""
    return ops.view_as(x, x)


def tangent_of(x: Any, level: Any) -> Any:
    """The tangent that a value carries at this level, or None."""
    carried = kept_by(x).get("_dual") if isinstance(x, Tensor) else None
    return carried[1] if carried is not None and carried[0] is level else None


_levels: list[DualLevel] = []


def enter_dual_level() -> int:
    """Begins a level; its number. RuntimeError inside another one."""
    if _levels:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment. Only a single level is supported: leave the"
            " current level first."
        )
    _levels.append(DualLevel())
    enter_transform(_levels[-1])
    return len(_levels) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level. RuntimeError if there is none, or for the number of another one."""
    if not _levels or (level is not None and level != len(_levels) - 1):
        raise RuntimeError(f"Trying to exit a forward AD level {level} that was not the last one that was created.")
    leave_transform(_levels.pop())


class dual_level(AbstractContextManager[int]):
    """Inside, tensors may carry tangents."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """The tensor with a tangent, a view of it. RuntimeError outside of a level, or for other sizes; ValueError for
    whole numbers."""
    if not _levels:
        raise RuntimeError(f"Trying to create a dual Tensor for forward AD {NO_LEVEL}")
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if x.dtype.category < FLOATING:
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {x.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not"
            f" supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size"
            f" {list(tangent.shape)}."
        )
    result = _plain(tensor)
    kept_by(result)["_dual"] = (_levels[-1], tangent)
    return result


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and its tangent; None for one that carries none, or whose level has ended."""
    tangent = tangent_of(tensor, _levels[-1]) if _levels else None
    return UnpackedDualTensor(tensor if tangent is None else _without_tangent(tensor), tangent)


def _without_tangent(tensor: Any) -> Any:
    result = _plain(tensor)
    kept_by(result).pop("_dual", None)
    return result


def batched_tangents(function: Any, x: Any, tangents: Any) -> Any:
    """How the result of a function of `x` moves with each of a batch of tangents, all at once."""
    return vmap(lambda tangent: jvp(function, (x,), (tangent,))[1])(tangents)


# ------------------------------------------------------------------------------------------ functions of the user's


def carry_tangents(values: Sequence[Any]) -> bool:
    """Whether one of them carries a tangent at the level that runs."""
    return bool(_levels) and any(tangent_of(x, _levels[-1]) is not None for x in values)


def apply_function(function: Any, args: Sequence[Any]) -> Any:
    """An autograd.Function of arguments with tangents: its forward sees none, its `jvp` gets them and says how the
    results move."""
    level = _levels[-1]
    tangents = [tangent_of(x, level) for x in args]
    ctx, result = function.applied([x if v is None else _without_tangent(x) for x, v in zip(args, tangents)])
    with ctx.moving_forward():
        moved = function.jvp(ctx, *(ctx.as_tangent(v, x) for x, v in zip(args, tangents)))
    return level.carrying(result, moved)


__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
