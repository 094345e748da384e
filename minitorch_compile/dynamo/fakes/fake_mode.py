"""Running operations on fake tensors: what each result looks like, without data.

>>> from minitorch_compile.tensor import empty_fake, rand
>>> mode = FakeMode()
>>> with mode.active():
...     noise = rand(3).add_(empty_fake((3,)))     # nothing is drawn from the random stream
>>> noise.is_fake, noise.storage in mode.written
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.fakes.data_sizes import DataSizes
from minitorch_compile.dynamo.fakes.fallible_operations import may_raise
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.symbolic import Range, SymInt
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.random.generator import draws_as_pytorch
from minitorch_compile.tensor.tensor_base import TensorBase

MAKES_DATA = ("creation", "random")


class FakeMode:
    """A dispatch mode: operations with a fake argument, and those that make tensors, only follow the shape rule.

    Operations on real tensors alone, such as a list used as an index, are computed. `written` collects the storages
    that in-place operations changed, `written_with_grad` those changed in grad mode, `behind_data` those of tensors
    whose `.data` was read: a graph can't write there as `.data` does, unseen by autograd. `may_raise` is set by an
    operation whose success depends on data, and `written_first` has the storages that were written to before the last
    such operation. `new_size` makes a symbol for a size that data decide.
    """

    def __init__(
        self, on_draw: Callable[[], None] = lambda: None, new_size: Callable[[Range], SymInt | None] = lambda _: None
    ) -> None:
        self.on_draw = on_draw  # called where the program draws random numbers
        self.new_size = new_size
        self._data_sizes: DataSizes | None = None
        self.written: set[Storage] = set()
        self.written_with_grad: set[Storage] = set()
        self.may_raise = False
        self.needs_data = False  # whether the data decided a size of what was computed since
        self.written_first: frozenset[Storage] = frozenset()
        self.behind_data: set[Storage] = set()

    def active(self) -> AbstractContextManager[FakeMode]:
        return dispatch.mode(self)

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind == "inplace":
            if args[0].storage in self.behind_data:
                raise Unsupported("unsupported-store", f"{op.name} writes to a tensor whose .data was read.")
            self.written.add(args[0].storage)
            if grad_state.enabled or grad_state.recording:
                self.written_with_grad.add(args[0].storage)
            args[0].storage.version += 1  # a gradient that is taken while tracing asks for it
        if op.kind == "random":
            self.on_draw()
            if draws_as_pytorch():
                raise Unsupported(
                    "outside-state",
                    f"{op.name} draws from PyTorch's random stream, in which a number depends on all before it: it is"
                    " drawn between two graphs (config.random_stream='philox' needs no break).",
                )
        self.may_raise = self.may_raise or may_raise(op, (*args, *kwargs.values()))
        if op.kind in MAKES_DATA or has_fake((args, kwargs)):
            if getattr(op, "shape_depends_on_data", False):
                self.needs_data = True
                self._data_sizes = self._data_sizes or DataSizes(self.new_size)
                return self._data_sizes.result(op, op.bind(args, kwargs))
            return op.meta(*args, **kwargs)
        return op.run(args, kwargs)


def has_fake(arguments: Any) -> bool:
    """Whether there is a fake tensor anywhere in a nesting of tuples, lists and dicts."""
    found: list[Any] = []
    map_aggregate(arguments, lambda leaf: found.append(leaf) if isinstance(leaf, TensorBase) and leaf.is_fake else None)
    return bool(found)
