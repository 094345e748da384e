"""Calls that ask where in its memory a tensor begins: what a graph must be told, and what it can't be.

An offset that was asked for is guarded. A window that as_strided opens on the memory around a tensor breaks the graph:
a functional graph has names for the elements of tensors only.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import arange
>>> compiled = optimize(lambda x: x.as_strided((2,), (1,), 1) * 2, eager)
>>> memory = arange(8)
>>> compiled(memory[:4]), compiled(memory[5:])
(tensor([2, 4]), tensor([2, 4]))
>>> len(region_of(compiled).breaks)                # of the second call: its memory begins before the tensor
1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.tensor.memory.viewing import is_inside
from minitorch_compile.tensor.numerics.dtype import dtype as element_type
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

ASKS_FOR_OFFSET = ("as_strided", "as_strided_", "as_strided_scatter", "is_set_to", "view_as_complex", "view_dtype")
MAY_ASK_FOR_PLACE = (*ASKS_FOR_OFFSET, "view")


def places_asked(
    output: OutputGraph, name: str, args: list[Value], fake_args: tuple[Any, ...], fake_kwargs: dict[str, Any]
) -> list[Place]:
    """Guards the offsets that a call depends on; and which tensors the window must not leave that it shows."""
    if _asks_for_offset(name, args):
        arguments = fake_args, fake_kwargs
        map_aggregate(arguments, lambda x: output.guard_offset(x) if isinstance(x, TensorBase) else x)
    return _places_windowed(name, fake_args, fake_kwargs, output.tensors_by_fake.values())


def _asks_for_offset(name: str, args: list[Value]) -> bool:
    """Whether a call depends on where in its memory a tensor begins, which nothing else in a graph does. A view as
    another dtype does: it begins at whole elements only."""
    is_dtype = name == "view" and len(args) == 2 and issubclass(args[1].realize().python_type(), element_type)
    return name in ASKS_FOR_OFFSET or is_dtype


class Place(NamedTuple):
    """How a tensor lies in its memory. as_strided may change that of its own argument."""

    sizes: Sequence[int]
    strides: Sequence[int]
    offset: int

    @classmethod
    def of(cls, x: TensorBase) -> Place:
        return cls(x.sizes, x.strides, x.offset)

    def has_inside(self, view: TensorBase) -> bool:
        """Whether the view has only elements of the tensor."""
        return is_inside((view.sizes, view.strides, view.offset - self.offset), self.sizes, self.strides)


def _places_windowed(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], known: Iterable[TensorVariable]
) -> list[Place]:
    """If the call is an as_strided: which tensors the window must not leave. All from outside that share the memory; of
    memory that the program made, the first tensor."""
    x = args[0] if args else kwargs.get("input")
    if name not in ("as_strided", "as_strided_") or not isinstance(x, TensorBase):
        return []
    sharing = [variable for variable in known if variable.fake.storage is x.storage]
    from_outside = [variable for variable in sharing if variable.source is not None]
    return [Place.of(variable.fake) for variable in from_outside or sharing[:1]]


def check_window(view: TensorBase, places: list[Place]) -> None:
    """A break if an as_strided shows more than the elements of these."""
    if not all(place.has_inside(view) for place in places):
        detail = "as_strided looks at memory that is not among the elements of its input."
        raise Unsupported("missing-rule", detail)
