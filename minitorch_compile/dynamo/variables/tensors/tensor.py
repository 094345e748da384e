"""Tensors: a node of the graph and a fake that looks like the value.

What a tensor's shape and dtype say is known while tracing. Everything that computes becomes a node. Everything else,
such as reading the data, breaks the graph.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: (x @ x.T)[0] * x.shape[1] if x.dim() == 2 else x, ones(2, 3)))
x -> ((x @ x.T)[0] * 3,)
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution.concrete import BINARY, COMPARE, INPLACE, UNARY
from minitorch_compile.dynamo.fakes.freed_history import BackwardCall, is_freed, leaves_of
from minitorch_compile.dynamo.fakes.graph_steps import confinement
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.builtins.builtin_table import handler_of
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
from minitorch_compile.dynamo.variables.rebuilding import IT, Computed, Description, Held, Read, Template, call, commas
from minitorch_compile.fx import Node
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.fakes.symbolic_sizes import Layout
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a tensor says about itself without its data.
KNOWN_ATTRIBUTES = _words(
    "shape sizes strides ndim dtype device layout requires_grad itemsize nbytes is_fake is_cpu is_cuda is_meta is_mps"
    " is_xpu is_sparse is_quantized is_mkldnn is_nested"
)
VIEW_ATTRIBUTES = _words("T mT H mH real imag")
SHAPE_METHODS = _words(
    "size dim ndimension stride numel nelement element_size is_contiguous is_floating_point is_complex"
    " is_signed is_same_size get_device dim_order storage_offset"
)

# Methods that compute a tensor, besides those that are operations of the table.
CONVERSIONS = _words(
    "float double half bfloat16 long int short char byte bool cpu contiguous type type_as to clone detach"
)
OPERATORS = _words(
    "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift eq ne lt le gt ge neg invert abs"
    " radd rsub rmul rtruediv rfloordiv rmod rpow rand ror rxor rlshift rrshift"
)
OPERATOR_METHODS = frozenset(f"__{name}__" for name in OPERATORS)

# Methods that can't be in a graph, and why.
REFUSED_METHODS = {
    **dict.fromkeys(("item", "tolist", "numpy", "data_ptr"), "data-dependent-value"),
    **dict.fromkeys(("register_hook", "retain_grad", "register_post_accumulate_grad_hook"), "autograd-call"),
    "nonzero": "data-dependent-shape",
}


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
            return self._hung_on(tracer, name)
        if isinstance(found.value, FunctionType):
            return BuiltinMethodVariable(self, name)
        raise Unsupported("unsupported-tensor-access", f"the attribute .{name} of a tensor is not followed.")

    def _hung_on(self, tracer: Tracer, name: str) -> Value:
        if self.source is not None and name in vars(self.real):
            source = AttrSource(self.source, name)
            tracer.output.guards.must_read(source)
            return tracer.output.wrap(vars(self.real)[name], source)
        if self.source is not None:
            from minitorch_compile.dynamo.guards import content_guards

            tracer.output.guards.add(content_guards.attribute_absent(self.source, name))
        tracer.raise_error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")

    def _grad(self, tracer: Tracer) -> Value:
        """Of a tensor from outside, another value from outside; what the graph computes has none before backward()."""
        if self.source is not None:
            return tracer.output.wrap(self.real.grad, AttrSource(self.source, "grad"))
        return ConstantVariable(None)

    def setattr(self, tracer: Tracer, name: str, value: Value) -> None:
        known = look_up(self.cls, name) is not None or name in vars(self.fake)
        if name != "grad" and known:
            raise Unsupported(
                "unsupported-store", f"setting .{name} of a tensor changes what the graph was traced with."
            )
        if self.source is None:
            raise Unsupported("unsupported-store", f"setting .{name} of a tensor that the graph computes.")
        if name == "grad" and not tracer.is_none(value) and not self._can_be_gradient(value.realize()):
            raise Unsupported(
                "unsupported-store", f"{value.realize().describe()} can't be the gradient of this tensor."
            )
        if name == "grad" and tracer.is_none(value) and tracer.side_effects.attribute(self, name) is None:
            tracer.output.gradient_dropped(self)
        tracer.side_effects.store_attribute(self, name, value)

    def _can_be_gradient(self, value: VariableTracker) -> bool:
        """Whether the store succeeds; the real one tells best why not, at once and not at the end of the graph."""
        return (
            isinstance(value, TensorVariable)
            and value is not self
            and tuple(value.fake.sizes) == tuple(self.fake.sizes)
            and value.fake.dtype is self.fake.dtype
            and value.fake.device == self.fake.device
        )

    # --- operations ---------------------------------------------------------------------------------------------------

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        replaced = self._replaced(tracer, name)
        if replaced is not None:
            return tracer.call(replaced, args, kwargs)
        if name in REFUSED_METHODS:
            self._refuse(name)
        if name == "storage_offset":
            tracer.output.guard_offset(self.fake)
        if name in SHAPE_METHODS:
            values = [tracer.constant(arg) for arg in args]
            return tracer.output.from_python(
                tracer.compute(getattr(self.fake, name), *values, **{k: tracer.constant(v) for k, v in kwargs.items()})
            )
        if name == "new_tensor" and args:
            from minitorch_compile.dynamo.variables.tensors.arrays import ArrayVariable, as_numbers

            array = args[0].realize()
            args = [as_numbers(array), *args[1:]] if isinstance(array, ArrayVariable) else args
        if name in ("__getitem__", "__setitem__"):
            return tracer.output.call("call_function", getattr(operator, name.strip("_")), [self, *args], kwargs)
        if name == "__len__":
            return self.length_value(tracer)
        if name == "detach_" and not self.fake.requires_grad and not args:
            return self
        rule = handler_of(getattr(Tensor, name, None))
        if rule is not None:
            return tracer.checked_call(rule, tracer, self, *args, **kwargs)
        if name in ops.table or name in CONVERSIONS or name in OPERATOR_METHODS:
            return tracer.output.call("call_method", name, [self, *args], kwargs)
        raise Unsupported("unsupported-tensor-access", f"the tensor method {name}() is not followed.")

    def _refuse(self, name: str) -> None:
        reason = REFUSED_METHODS[name]
        if reason == "autograd-call":
            raise Unsupported(reason, f".{name}() runs or changes the autograd tape.")
        what = "a shape that depends on the tensor's data" if reason == "data-dependent-shape" else "the tensor's data"
        raise Unsupported(reason, f".{name}() needs {what}, which does not exist while tracing.")

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
        if self.data_of is not None:
            return Template(self.data_of, ".data")
        if self.fake.storage in output.fakes.behind_data:
            raise Unsupported("unrebuildable-value", "a view of a tensor whose .data was read lives on.")
        reason = confinement(self.fake) if output.has_steps else ""
        if reason:
            raise Unsupported("unrebuildable-value", f"{reason}.")
        if output.backward_call is None or not self.fake.requires_grad:
            return Computed()
        return Computed(self._freed(output, output.backward_call))

    def _freed(self, output: Output, backward: BackwardCall) -> Template:
        """Gives a result of the graph its freed history; one whose history lives is refused."""
        if not is_freed(self.fake):
            raise backward.refused("a tensor")
        leaves = [output.tensor_of(leaf) for leaf in leaves_of([self.fake])]
        read = [Read(leaf.source) for leaf in leaves if leaf is not None and leaf.source is not None]
        history = repr(self.fake.grad_fn.name()), repr(self.fake.output_index)
        function = Held(backward.with_freed_history, "with_freed_history")
        return call(function, IT, *history, Template("(", commas(read), ",)"))
