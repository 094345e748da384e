"""What tensors have: attributes and methods that are known without data, that compute a tensor, that are refused.

`METHODS` has a rule for each method that is more, or less, than a node of the graph.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: x.add(x.size(0)).relu(), ones(2, 3)))
x -> (x.add(2).relu(),)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.tensor.memory.strides import numel

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
    from minitorch_compile.dynamo.variables.tracer import Tracer

MOST_ITEMS = 100  # of which tolist() makes numbers of the graph
# Gives None where the call is a node after all.
Rule = Callable[["Tracer", "TensorVariable", str, list[Value], dict[str, Value]], Value | None]


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
COMPUTING_METHODS = CONVERSIONS | {f"__{name}__" for name in OPERATORS}

# Methods that can't be in a graph, and why.
REFUSED_METHODS = {
    **dict.fromkeys(("item", "tolist", "data_ptr"), "data-dependent-value"),
    **dict.fromkeys(("retain_grad",), "autograd-call"),
}


def _refused(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> NoReturn:
    reason = REFUSED_METHODS[name]
    if reason == "autograd-call":
        raise Unsupported(reason, f".{name}() runs or changes the autograd tape.")
    raise Unsupported(reason, f".{name}() needs the tensor's data, which does not exist while tracing.")


def _shape(tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if name == "storage_offset":
        tracer.output.guard_offset(tensor.fake)
    values: list[Any] = [tracer.constant(arg) for arg in args]
    named = {key: tracer.constant(value) for key, value in kwargs.items()}
    return tracer.output.from_python(tracer.compute(getattr(tensor.fake, name), *values, **named))


def _item(tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return tracer.output.call("call_function", getattr(operator, name.strip("_")), [tensor, *args], kwargs)


def _length(tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return tensor.length_value(tracer)


def _new_tensor(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Of an array, which the graph doesn't know, its numbers."""
    from minitorch_compile.dynamo.variables.tensors.arrays import ArrayVariable, as_numbers

    array = args[0].realize() if args else None
    if not isinstance(array, ArrayVariable):
        return None
    return tracer.output.call("call_method", name, [tensor, as_numbers(array), *args[1:]], kwargs)


def _detach_(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    return tensor if not tensor.fake.requires_grad and not args else None


def _item_value(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """A number of the graph, if the output captures those."""
    number = None if args or kwargs else tracer.output.item_of(tensor)
    return _refused(tracer, tensor, name, args, kwargs) if number is None else number


def _list_of_items(
    tracer: Tracer, tensor: TensorVariable, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """A number for each element, of a tensor of few."""
    count = numel(tensor.fake.sizes)
    if args or kwargs or not tracer.output.captures_numbers or type(count) is not int or count > MOST_ITEMS:
        return _refused(tracer, tensor, name, args, kwargs)
    if not tensor.fake.sizes:
        return tensor.call_method(tracer, "item", [], {})
    return tracer.build("list", [tracer.call(tracer.load_attr(x, name), [], {}) for x in tracer.each(tensor)])


METHODS: dict[str, Rule] = {
    **dict.fromkeys(REFUSED_METHODS, _refused),
    **dict.fromkeys(SHAPE_METHODS, _shape),
    **dict.fromkeys(("__getitem__", "__setitem__"), _item),
    "__len__": _length,
    "new_tensor": _new_tensor,
    "detach_": _detach_,
    "item": _item_value,
    "tolist": _list_of_items,
}
