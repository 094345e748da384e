"""What trackers ask about the tensors of a trace: who shares memory with whom, who has gradients, where one begins.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> f = optimize(lambda x: x + x.storage_offset(), eager)
>>> f(ones(2))
tensor([1., 1.])
>>> [guard.code for guard in region_of(f).caches[0].entries[0].guards if guard.kind == "STORAGE_OFFSET"]
['x.offset == 0']
"""

from __future__ import annotations

from minitorch_compile.dynamo.guards.guards import About, Guard
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tracer import Output
from minitorch_compile.fx import Node
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase


class TensorQuestions(Output):
    """The answers."""

    dropped_gradients: list[TensorVariable]
    tensors_by_fake: dict[int, TensorVariable]

    def tensor_of(self, fake: TensorBase) -> TensorVariable | None:
        """The tracker of a fake, None if it is not one of the traced program."""
        return self.tensors_by_fake.get(id(fake))

    def tensor_of_node(self, node: Node, fake: TensorBase) -> TensorVariable:
        """The tracker of a tensor that a node gives, and no call on fakes has made."""
        made = self.tensors_by_fake[id(fake)] = TensorVariable(node, fake, type(fake))
        return made

    def guard_offset(self, fake: TensorBase) -> None:
        """The program asked where in its memory a tensor begins: all inputs on this memory begin where they did."""
        for variable in self.inputs:
            if variable.fake.storage is fake.storage and variable.source is not None:
                offset, seen = AttrSource(variable.source, "offset"), variable.real.offset
                same = Guard(offset, "STORAGE_OFFSET", f"{{0}} == {seen}", str(seen), about=About.OBJECT)
                self.guards.add(same)

    def has_gradients(self, storage: Storage) -> bool:
        """Whether a tensor on this memory takes part in differentiation."""
        tensors = self.tensors_by_fake.values()
        return any(tensor.fake.storage is storage and tensor.fake.requires_grad for tensor in tensors)

    def gradient_dropped(self, tensor: TensorVariable) -> None:
        """The program stores None as the gradient of a tensor from outside. If what comes before it may raise, or turn
        out otherwise than was expected, the plain program would find the old gradient there, and so must this one."""
        if not self.expectations and not any(node.meta.get("may_raise") for node in self.graph.nodes):
            self.dropped_gradients.append(tensor)
