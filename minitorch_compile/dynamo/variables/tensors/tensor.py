"""Tensors: a node of the graph and a fake that looks like the value.

What a tensor's shape and dtype say is known while tracing. Everything that computes becomes a node. Everything else,
such as reading the data, breaks the graph.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: (x @ x.T)[0] * x.shape[1] if x.dim() == 2 else x, ones(2, 3)))
x -> ((x @ x.T)[0] * 3,)
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE, INPLACE, UNARY
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handler_of
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import ItemsIterator
from minitorch_compile.dynamo.variables.objects.class_lookup import (
    bind_class_attribute,
    guard_found,
    is_library,
    look_up,
)
from minitorch_compile.dynamo.variables.objects.method_names import BINARY_METHODS, COMPARE_METHODS, UNARY_METHODS
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Computed, Description
from minitorch_compile.dynamo.variables.tensors.left_behind import left_behind
from minitorch_compile.dynamo.variables.tensors.stored_attributes import hung_on, store_attribute
from minitorch_compile.dynamo.variables.tensors.tensor_members import (
    COMPUTING_METHODS,
    KNOWN_ATTRIBUTES,
    METHODS,
    VIEW_ATTRIBUTES,
)
from minitorch_compile.fx import Node
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.fakes.symbolic_sizes import Layout
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class TensorVariable(VariableTracker):
    """A tensor of the traced program. `real` is the tensor itself if it came from outside."""

    def __init__(
        self, node: Node, fake: TensorBase, cls: type, source: Source | None = None, real: Any = MISSING
    ) -> None:
        super().__init__(source)
        self.node = node
        self.fake = fake
        self.cls = cls
        self.real = real
        self.data_of: TensorVariable | None = None
        self.layout: Layout | None = None  # of an input whose sizes are not all known

    def __repr__(self) -> str:
        return f"<tensor {self.node.name} {list(self.fake.sizes)}>"

    def describe(self) -> str:
        return "a tensor"

    def python_type(self) -> type:
        return self.cls

    def real_value(self) -> Any:
        return self.real

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("identity", id(self))

    # --- attributes ---------------------------------------------------------------------------------------------------

    def getattr(self, tracer: Tracer, name: str) -> Value:
        stored = tracer.side_effects.attribute(self, name)
        if stored is not None:
            return stored
        replaced = self._replaced(tracer, name)
        if replaced is not None:
            return replaced
        if name == "grad":
            return self._grad(tracer)
        if name in KNOWN_ATTRIBUTES:
            return tracer.output.from_python(tracer.compute(getattr, self.fake, name))
        if name == "data":
            return self._data(tracer)
        if name in VIEW_ATTRIBUTES:
            return tracer.output.call("call_function", getattr, [self, ConstantVariable(name)], {})
        if name == "is_leaf":  # guarded, for tensors from outside that require grad
            return ConstantVariable(self.fake.is_leaf)
        if name == "__class__":
            return tracer.output.wrap_constant(self.cls, self.cls.__name__)
        return self._other_attribute(tracer, name)

    def _replaced(self, tracer: Tracer, name: str) -> Value | None:
        """What a program put in the place of a method or property of tensors, bound; None, guarded, if nothing."""
        found = look_up(self.cls, name)
        if found is None or not is_library(found.owner):
            return None
        function = found.value.fget if isinstance(found.value, property) else found.value
        if isinstance(function, FunctionType) and not is_library(function):
            return bind_class_attribute(tracer, self, found)
        guard_found(tracer, found)
        return None

    def _operated(self, tracer: Tracer, name: str, function: Any, operands: list[Value]) -> Value:
        """An operator: a node, unless the program replaced the special method."""
        replaced = self._replaced(tracer, f"__{name}__")
        if replaced is not None:
            return tracer.call(replaced, [operand for operand in operands if operand is not self], {})
        for operand in operands:
            value = operand.realize()
            if value is not self and issubclass(value.python_type(), (type, Enum)):
                if not issubclass(value.python_type(), int | float | complex):
                    value.unsupported("an operator with a tensor, which its class may answer,")
        return tracer.output.call("call_function", function, operands, {})

    def _data(self, tracer: Tracer) -> Value:
        """The same memory outside the recorded graph; writes to it are refused, see `FakeMode`."""
        if self.fake.storage in tracer.output.fakes.written:
            raise Unsupported("unsupported-tensor-access", ".data of a tensor that was written to.")
        if tracer.output.has_gradients(self.fake.storage):
            tracer.output.fakes.behind_data.add(self.fake.storage)
        result = tracer.output.call("call_function", getattr, [self, ConstantVariable("data")], {}).realize()
        assert isinstance(result, TensorVariable)
        result.data_of = self
        return result

    def _other_attribute(self, tracer: Tracer, name: str) -> Value:
        """What a subclass defines in Python, what the user hung on the tensor, methods."""
        found = look_up(self.cls, name)
        if found is not None and found.owner not in Tensor.__mro__:
            return bind_class_attribute(tracer, self, found)
        if found is None:
            return hung_on(tracer, self, name)
        if isinstance(found.value, FunctionType):
            return BuiltinMethodVariable(self, name)
        raise Unsupported("unsupported-tensor-access", f"the attribute .{name} of a tensor is not followed.")

    def _grad(self, tracer: Tracer) -> Value:
        """Of a tensor from outside, another value from outside; what the graph computes has none before backward()."""
        if self.source is not None:
            return tracer.output.wrap(self.real.grad, AttrSource(self.source, "grad"))
        return ConstantVariable(None)

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        store_attribute(tracer, self, name, value)

    # --- operations ---------------------------------------------------------------------------------------------------

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        replaced = self._replaced(tracer, name)
        if replaced is not None:
            return tracer.call(replaced, args, kwargs)
        method = METHODS.get(name)
        answer = None if method is None else method(tracer, self, name, args, kwargs)
        if answer is not None:
            return answer
        rule = handler_of(getattr(Tensor, name, None))
        if rule is not None:
            return tracer.checked_call(rule, tracer, self, *args, **kwargs)
        if name in ops.table or name in COMPUTING_METHODS:
            return tracer.output.call("call_method", name, [self, *args], kwargs)
        raise Unsupported("unsupported-tensor-access", f"the tensor method {name}() is not followed.")

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operated(tracer, BINARY_METHODS[op], BINARY[op], [self, other])

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operated(tracer, f"r{BINARY_METHODS[op]}", BINARY[op], [other, self])

    def inplace(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return self._operated(tracer, f"i{BINARY_METHODS[op]}", INPLACE[op], [self, other])

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if tracer.is_none(other):
            return None
        return self._operated(tracer, COMPARE_METHODS[op].strip("_"), COMPARE[op], [self, other])

    def unary(self, tracer: Tracer, op: str) -> Value:
        return self._operated(tracer, UNARY_METHODS[op].strip("_"), UNARY[op], [self])

    # --- questions that need data, or only the shape ------------------------------------------------------------------

    def truth(self, tracer: Tracer) -> bool:
        raise Unsupported(
            "data-dependent-jump", "bool() of a tensor needs its data, which does not exist while tracing."
        )

    def contains(self, tracer: Tracer, item: Value) -> Value:
        raise Unsupported(
            "data-dependent-value", "`in` looks for a value in the tensor's data, which does not exist while tracing."
        )

    def length(self, tracer: Tracer) -> int:
        return int(tracer.constant(self.length_value(tracer)))

    def length_value(self, tracer: Tracer) -> Value:
        replaced = self._replaced(tracer, "__len__")
        if replaced is not None:
            return tracer.call(replaced, [], {})
        if not self.fake.sizes:
            tracer.raise_error(TypeError, "len() of a 0-d tensor")
        return tracer.output.from_python(self.fake.sizes[0])

    def iterate(self, tracer: Tracer) -> IteratorVariable:
        """x[0], x[1], ...: one view for each element of the first dimension."""
        replaced = self._replaced(tracer, "__iter__")
        if replaced is not None:
            return tracer.as_iterator(tracer.call(replaced, [], {}))
        if not self.fake.sizes:
            tracer.raise_error(TypeError, "iteration over a 0-d tensor")
        return ItemsIterator([tracer.getitem(self, ConstantVariable(i)) for i in range(self.fake.sizes[0])])

    def to_text(self, tracer: Tracer, conversion: str) -> str:
        raise Unsupported(
            "data-dependent-value", f"{conversion}() of a tensor needs its data, which does not exist while tracing."
        )

    def format(self, tracer: Tracer, spec: str) -> str:
        return self.to_text(tracer, "str")

    def reconstruct(self, output: Output) -> Description:
        """What the graph computes, it returns. Other things must be known of tensors with a past."""
        has_past = output.has_steps or output.backward_call is not None or output.fakes.behind_data
        return left_behind(self, output) if has_past or self.data_of is not None else Computed()
