"""Arguments that are given by name, or left out: where each belongs among the parameters, under all of its names.

>>> from minitorch_compile.tensor import ops
>>> filled_in(ops.sum, (1,), {"axis": 0})
(1, 0, False, None)
>>> filled_in(ops.sum, (1,), {"axes": 0})
Traceback (most recent call last):
TypeError: sum() got an unexpected keyword argument 'axes'; it takes input, dim, keepdim, dtype
>>> filled_in(ops.sin, (1, 2), {})
Traceback (most recent call last):
TypeError: sin() takes 1 positional argument but 2 were given
"""

from __future__ import annotations

from inspect import Parameter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

# Names that PyTorch takes besides: NumPy's; those that its documentation of linear algebra has, or has not; and a word
# of Python's, which can't be a parameter here.
OTHER_NAMES = {
    **{"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "a": "input", "x2": "other"},
    **{"input": "A", "A": "input", "b": "B"},
    **dict.fromkeys(("from", "low"), "from_"),
    **{"input2": "tau", "input3": "other", "axis0": "dim0", "axis1": "dim1"},
    "split_size_or_sections": "indices_or_sections",
}


def in_torch_names(op: Op, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords in the names of the parameters: `axis` is `dim`."""
    if kwargs.keys() <= op.positions.keys():
        return kwargs
    return {name if name in op.positions else OTHER_NAMES.get(name, name): kwargs[name] for name in kwargs}


def filled_in(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All parameters in order, with defaults. TypeError for one too many, given twice, missing or unknown."""
    if len(args) > len(op.parameters):
        raise TypeError(f"{op.name}() takes {_how_many(op)} but {len(args)} were given")
    values = [*args, *op.defaults[len(args) :]]
    for name, value in in_torch_names(op, kwargs).items():
        position = op.positions.get(name)
        if position is None:
            raise TypeError(
                f"{op.name}() got an unexpected keyword argument '{name}'; it takes {', '.join(op.parameters)}"
            )
        if position < len(args):
            raise TypeError(f"{op.name}() got multiple values for argument '{name}'")
        values[position] = value
    missing = [f'"{name}"' for name, value in zip(op.parameters, values, strict=True) if value is Parameter.empty]
    if missing:
        plural = "s" if len(missing) == 1 else ""  # as PyTorch has it, the wrong way round
        raise TypeError(
            f"{op.name}() missing {len(missing)} required positional argument{plural}: {', '.join(missing)}"
        )
    return tuple(values)


def _how_many(op: Op) -> str:
    """1 positional argument; from 1 to 2 positional arguments."""
    most = len(op.parameters)
    least = sum(default is Parameter.empty for default in op.defaults)
    counts = str(most) if least == most else f"from {least} to {most}"
    return f"{counts} positional argument{'' if most == 1 else 's'}"
