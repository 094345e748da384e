"""Programs that write into tensors, as programs that only make new ones.

A compiler may reorder, merge and drop operations only if no operation changes what another one sees. This mode gives a
program such operations only. Each tensor of the program becomes a *name* for a value, and the value is a tensor that
is never written: `x.add_(1)` computes a new value, and from then on x, and every view of x, stand for it.

>>> from minitorch_compile.aot.functional_form import trace_functionally
>>> from minitorch_compile.tensor import tensor
>>> def program(x):
...     row = x[0]              # a view
...     row.mul_(10)            # a write, which x sees
...     return x + 1
>>> print(trace_functionally(program, tensor([[1, 2], [3, 4]])))
x -> add(cat([unsqueeze(mul(select(x, 0, 0), 10), 0), slice(x, 0, 1, 2)]), 1)

How: every storage has a *base*, the tensor that was made with it, and the base's current value. A view remembers the
view operations that lead from the base to it. Reading a view after a write replays them; writing runs them backwards.

Tensors that share memory need not share a history: after `d = x.detach()`, a write to d changes the elements of x, but
only d becomes a result of it. So a detached tensor is a *root* of its own, with a value of its own: the same elements,
behind which another history stands. A write to one root reaches the others as new elements with the old history.

Source: PyTorch's functionalization pass.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.aot.aliasing.names import Contents, Name, Root, followed, look_of
from minitorch_compile.aot.aliasing.overwritten_values import Seen, Uses, seen_in
from minitorch_compile.aot.aliasing.view_steps import ViewStep
from minitorch_compile.aot.aliasing.writes import kept_from_gradients, store, window_of_root
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.op_families import check_storable
from minitorch_compile.tensor.grad_mode import is_grad_enabled, set_grad_enabled, state
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase


class Functionalize:
    """The mode. Put it above a tracer (or above nothing: then the values are computed)."""

    def __init__(self) -> None:
        self.names: dict[int, Name] = {}  # by the tensor's id; a Name keeps its tensor alive
        self.contents: dict[Storage, Contents] = {}
        self.uses = Uses()
        self.placed: set[Storage] = set()  # those of which as_strided was asked for elements by their offset

    # ------------------------------------------------------------------------------------------ names and values

    def bind(self, tensor: TensorBase, value: Tensor) -> TensorBase:
        """Makes `tensor`, with its storage, a new name for a value."""
        if tensor.storage in self.contents:
            raise NotImplementedError(
                f"functionalize: two tensors that share a storage came from outside (sizes {list(tensor.sizes)});"
                " pass one of them and make the other inside, as a view"
            )
        contents = self.contents[tensor.storage] = Contents(tensor, value)
        self.names[id(tensor)] = Name(tensor, contents.base, (), value, 0)
        return tensor

    def release(self, tensor: TensorBase) -> None:
        """Lets the tensor, a view of something that nobody can see any more, be the root of its storage."""
        value = self.value_of(tensor, detached=True)
        del self.contents[tensor.storage]
        self.bind(tensor, value)

    def name_of(self, tensor: Any) -> Name:
        """What is known about a tensor; a real one from outside is a name for itself."""
        if id(tensor) not in self.names:
            assert not tensor.is_fake, "a fake tensor that this mode did not see made"
            self.bind(tensor, tensor)
        name = self.names[id(tensor)]
        if any(now != then for now, then in zip(look_of(tensor), name.look, strict=False)):
            raise NotImplementedError(
                "functionalize: a tensor was told to look at its memory in another way, or at other memory (t_,"
                " resize_, set_, .data = ...); make a view of it, or a new tensor"
            )
        return name

    def contents_of(self, tensor: TensorBase) -> Contents:
        """The storage of a tensor."""
        self.name_of(tensor)
        return self.contents[tensor.storage]

    def value_of(self, tensor: Any, detached: bool = False) -> Any:
        """The current value of a tensor; other things as they are. `detached`: no gradients will go through it."""
        if not isinstance(tensor, TensorBase):
            return tensor
        name, contents = self.name_of(tensor), self.contents_of(tensor)
        if name.writes != contents.writes:
            name.value, name.writes = followed(name.steps, name.root.value), contents.writes
        if name.is_untracked and is_grad_enabled() and not detached:
            return kept_from_gradients(name.root.value, name.value)
        return name.value

    # ------------------------------------------------------------------------------------------ the mode

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The op on values; its results get names. In a transform (`func.grad`) the tape stands above."""
        with set_grad_enabled(state.enabled or state.recording):
            return self._renamed(op, op.bind(args, kwargs))

    def _renamed(self, op: Op, bound: tuple[Any, ...]) -> Any:
        if op.kind == "inplace":
            return self.write(op, bound)
        if op.kind == "view":
            return self.view(op, bound)
        arguments = map_aggregate(bound, self.value_of)
        seen = seen_in(bound, arguments)
        names, values = op.meta(*bound), op(*arguments)
        if isinstance(names, TensorBase):
            self.note(values, [self.bind(names, values)], seen)
        else:
            self.note(values, [self.bind(name, value) for name, value in zip(names, values, strict=True)], seen)
        return names

    def note(self, result: Any, names: list[TensorBase], seen: list[Seen]) -> None:
        """Remembers that a call took what was seen, and gave a result, a tensor or a tuple, to these names."""
        values = result if isinstance(result, tuple) else (result,)
        results = [Seen(value, x.storage, x.storage.version) for value, x in zip(values, names, strict=True)]
        self.uses.note(result, [*seen, *results])

    def view(self, op: Op, bound: tuple[Any, ...]) -> TensorBase:
        """A new name over the same storage."""
        source, arguments = self.name_of(bound[0]), bound[1:]
        tensor, steps = op.meta(*bound), source.steps
        if op is ops.as_strided and arguments[2] is not None:
            self.placed.add(tensor.storage)
        if op is ops.as_strided and source.steps:
            step = window_of_root(source, arguments, tensor.offset)
            value, steps = step.value(self.value_of(source.root.tensor)), (step,)
        else:
            step = ViewStep.of(op, bound[0], arguments)
            value, steps = step.value(self.value_of(bound[0], detached=op is ops.detach)), (*steps, step)
        root = source.root
        if op is ops.detach:
            root, steps = Root(tensor, (*root.steps, *steps), value), ()
            self.contents[tensor.storage].roots.append(root)
        self.names[id(tensor)] = Name(tensor, root, steps, value, self.contents[tensor.storage].writes)
        return tensor

    def write(self, op: Any, bound: tuple[Any, ...]) -> TensorBase:
        """An in-place op: computes the new value and gives it to the storage."""
        target = bound[0]
        check_storable(op.name, target, op.functional.meta(*bound))
        values = map_aggregate(bound, self.value_of)
        seen = seen_in(bound[1:], values[1:])  # of the target itself, autograd keeps a copy
        result = new = op.functional(*values)
        if new.dtype is not target.dtype:
            new = ops.to_copy(new, target.dtype)
        name = self.name_of(target)
        store(self.contents[target.storage], name, new)
        if not name.root.is_data:
            target.storage.version += 1
        self.note(result, [target], seen)
        return target
