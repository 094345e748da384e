"""Programs that write into tensors, as programs that only make new ones.

A compiler may reorder, merge and drop operations only if no operation changes what another one sees. This mode gives a
program such operations only. Each tensor of the program becomes a *name* for a value, and the value is a tensor that
is never written: `x.add_(1)` computes a new value, and from then on x, and every view of x, stand for it.

>>> from minitorch_compile.tensor import ops, tensor
>>> from minitorch_compile.tensor.dispatch import dispatch
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

from collections.abc import Callable
from typing import Any

from minitorch_compile.aot.aliasing.names import Contents, Name, Root, followed, look_of
from minitorch_compile.aot.aliasing.overwritten_values import Seen, Uses, seen_in
from minitorch_compile.aot.aliasing.view_steps import ViewStep
from minitorch_compile.aot.aliasing.writes import (
    kept_from_gradients,
    refuse_other_numbers,
    rewritten,
    way_back,
    with_history_of,
)
from minitorch_compile.aot.tracing import Tracer
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.op_families import check_storable
from minitorch_compile.tensor.grad_mode import is_grad_enabled, set_grad_enabled, state
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like


class Functionalize:
    """The mode. Put it above a tracer (or above nothing: then the values are computed)."""

    def __init__(self) -> None:
        self._names: dict[int, Name] = {}  # by the tensor's id; a Name keeps its tensor alive
        self._contents: dict[Storage, Contents] = {}
        self.uses = Uses()
        self.placed: set[Storage] = set()  # those of which as_strided was asked for elements by their offset

    # ------------------------------------------------------------------------------------------ names and values

    def bind(self, tensor: TensorBase, value: Tensor) -> TensorBase:
        """Makes `tensor`, with its storage, a new name for a value."""
        if tensor.storage in self._contents:
            raise NotImplementedError(
                f"functionalize: two tensors that share a storage came from outside (sizes {list(tensor.sizes)});"
                " pass one of them and make the other inside, as a view"
            )
        contents = self._contents[tensor.storage] = Contents(tensor, value)
        self._names[id(tensor)] = Name(tensor, contents.base, (), value, 0)
        return tensor

    def release(self, tensor: TensorBase) -> None:
        """Lets the tensor, a view of something that nobody can see any more, be the root of its storage."""
        value = self.value_of(tensor, detached=True)
        del self._contents[tensor.storage]
        self.bind(tensor, value)

    def name_of(self, tensor: Any) -> Name:
        """What is known about a tensor; a real one from outside is a name for itself."""
        if id(tensor) not in self._names:
            assert not tensor.is_fake, "a fake tensor that this mode did not see made"
            self.bind(tensor, tensor)
        name = self._names[id(tensor)]
        if any(now != then for now, then in zip(look_of(tensor), name.look, strict=False)):
            raise NotImplementedError(
                "functionalize: a tensor was told to look at its memory in another way, or at other memory (t_,"
                " resize_, set_, .data = ...); make a view of it, or a new tensor"
            )
        return name

    def contents_of(self, tensor: TensorBase) -> Contents:
        """The storage of a tensor."""
        self.name_of(tensor)
        return self._contents[tensor.storage]

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
            # It looks at the memory, however its input did. So it is a view of the root, and may show more of it.
            refuse_other_numbers(source.steps)
            step = ViewStep.of(op, source.root.tensor, (*arguments[:2], tensor.offset))
            step = step._replace(recorded=step.recorded and all(before.recorded for before in source.steps))
            value, steps = step.value(self.value_of(source.root.tensor)), (step,)
        else:
            step = ViewStep.of(op, bound[0], arguments)
            value, steps = step.value(self.value_of(bound[0], detached=op is ops.detach)), (*steps, step)
        root = source.root
        if op is ops.detach:
            root, steps = Root(tensor, (*root.steps, *steps), value), ()
            self._contents[tensor.storage].roots.append(root)
        self._names[id(tensor)] = Name(tensor, root, steps, value, self._contents[tensor.storage].writes)
        return tensor

    def data_of(self, tensor: TensorBase) -> TensorBase:
        """A new name for `tensor.data`."""
        data: TensorBase = ops.detach(tensor)
        if not data.is_confined:  # what vmap shows of a batch has no name here; the batch has
            self.name_of(data).root.is_data = True
        return data

    def result_in_place(self, argument: TensorBase, value: Tensor) -> TensorBase:
        """A new name for what a call returned: the memory of its argument, with the history of `value`."""
        result: TensorBase = ops.detach.meta(argument)
        source, contents = self.name_of(argument), self.contents_of(argument)
        root = Root(result, (*source.root.steps, *source.steps, ViewStep.of(ops.detach, argument, ())), value)
        root.is_result = True
        contents.roots.append(root)
        self._names[id(result)] = Name(result, root, (), value, contents.writes)
        return result

    def write(self, op: Any, bound: tuple[Any, ...]) -> TensorBase:
        """An in-place op: computes the new value and gives it to the storage."""
        target = bound[0]
        check_storable(op.name, target, op.functional.meta(*bound))
        values = map_aggregate(bound, self.value_of)
        seen = seen_in(bound[1:], values[1:])  # of the target itself, autograd keeps a copy
        result = new = op.functional(*values)
        if new.dtype is not target.dtype:
            new = ops.to_copy(new, target.dtype)
        self.store(self.name_of(target), new)
        if not self.name_of(target).root.is_data:
            target.storage.version += 1
        self.note(result, [target], seen)
        return target

    def store(self, name: Name, new: Tensor) -> None:
        """Lets every root be what it is after `new` was written to the tensor of that name."""
        contents, written, recorded = self._contents[name.tensor.storage], name.root, is_grad_enabled()
        value = rewritten(written.value, way_back(name.steps, written.tensor, name.tensor), new)
        if len(contents.roots) > 1:
            way = way_back(written.steps, contents.base.tensor, written.tensor)
            whole = rewritten(contents.base.value, way, value)
            for root in contents.roots:
                if root is not written:
                    root.value = with_history_of(root.value, followed(root.steps, whole))
        contents.writes += 1
        written.written = contents.writes
        if recorded:
            written.recorded = contents.writes
            if name.is_untracked:
                value = kept_from_gradients(written.value, value)
        written.value = value if recorded else with_history_of(written.value, value)


def trace_functionally(program: Callable[[Any], Any], x: TensorBase) -> str:
    """The functional form of a program of one tensor, in one line: for looking at."""
    tracer, functional = Tracer(), Functionalize()
    argument = functional.bind(fake_like(x), tracer.placeholder("x", x))
    with dispatch.mode(tracer):
        with dispatch.mode(functional):
            result = program(argument)
        value = functional.value_of(result)
    return tracer.finish(value).graph.compact()
