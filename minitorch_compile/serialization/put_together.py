"""What take_apart() took apart, put together again. Whatever the text says, only data comes of it.

>>> put_together('{"dict":[["lr",0.1],["sizes",{"tuple":[1,2]}]]}', {}, MemoryBudget(100))
{'lr': 0.1, 'sizes': (1, 2)}
>>> put_together('{"dict":[["lr"]]}', {}, MemoryBudget(100))
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: the file's structure is damaged: ...
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.nn import Buffer, Parameter
from minitorch_compile.serialization.checked_tensor import (
    check_differentiable,
    checked_meta_tensor,
    checked_tensor,
    counts,
)
from minitorch_compile.serialization.data_kinds import FILLED, PARTED, READ_AS, Filled, numpy_dtype
from minitorch_compile.serialization.json_text import parse
from minitorch_compile.serialization.memory_budget import CONTAINER, PER_ENTRY, PER_ITEM, TENSOR, MemoryBudget
from minitorch_compile.serialization.named_classes import BASES, base_of, class_named, enum_member, set_attributes
from minitorch_compile.serialization.plain_data import DEEPEST, check_key
from minitorch_compile.serialization.saved_storages import fills
from minitorch_compile.serialization.unreadable_file import MISFITS, UnreadableFileError, refuse
from minitorch_compile.serialization.whole_modules import function_called, module_class
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import FROM_NAME, FROM_NUMPY
from minitorch_compile.tensor.ops.reinterpretation import ReinterpretedStorage
from minitorch_compile.tensor.tensor_class.own_attributes import OWN_ATTRIBUTES

SCALARS = (str, bool, int, float, type(None))


def put_together(text: str, arrays: dict[str, np.ndarray], budget: MemoryBudget, trusted: bool = False) -> Any:
    """What take_apart() was given. UnreadableFileError for a structure that is damaged."""
    builder = _Builder(arrays, budget, trusted)
    try:
        return builder.build(parse(text, budget, "structure"))
    except UnreadableFileError:
        raise
    except (*MISFITS, RuntimeError) as error:
        raise refuse(f"the file's structure is damaged: {type(error).__name__}: {error}") from error


class _Builder:
    """Makes values of nodes; `numbered` are those that others refer to."""

    def __init__(self, arrays: dict[str, np.ndarray], budget: MemoryBudget, trusted: bool) -> None:
        self.arrays = arrays
        self.budget = budget
        self.trusted = trusted
        self.storages: dict[str, Storage] = {}
        self.turned: dict[str, Storage] = {}
        self.numbered: dict[int, Any] = {}
        self.depth = 0

    def build(self, node: Any) -> Any:
        """The value of a node."""
        if type(node) in SCALARS:
            return node
        if type(node) is not dict or not node:
            raise refuse("the file's structure is damaged: a value is neither plain nor of a kind")
        kind = next(iter(node))
        if kind == "again":
            return self.numbered[node["again"]]
        self.depth += 1
        if self.depth > DEEPEST + 2:
            raise refuse(f"the file holds containers nested deeper than {DEEPEST}")
        if kind in FILLED:
            value = self.filled(node, node[kind], FILLED[kind])
        elif kind in SPECIAL:
            value = SPECIAL[kind](self, node)
        elif kind in PARTED:
            value = self.known(node, PARTED[kind].make(self.items(node[kind])))
        elif kind in READ_AS:
            self.budget.spend(CONTAINER)
            value = self.known(node, READ_AS[kind](node[kind]))
        else:
            raise refuse(f"the file holds a {kind[:100]!r}, which this version does not know")
        self.depth -= 1
        return value

    def known(self, node: Any, value: Any) -> Any:
        """The value, noted if it has a number."""
        if "as" in node:
            if type(node["as"]) is not int or node["as"] in self.numbered:
                raise refuse("the file gives one number to two values; it is damaged")
            self.numbered[node["as"]] = value
        return value

    def items(self, nodes: Any) -> list[Any]:
        if type(nodes) is not list:
            raise refuse("the file's structure is damaged: a container's items are no list")
        self.budget.spend(CONTAINER + PER_ITEM * len(nodes))
        return [node if type(node) in SCALARS else self.build(node) for node in nodes]

    def pairs(self, nodes: Any) -> list[tuple[Any, Any]]:
        self.budget.spend(CONTAINER + PER_ENTRY * len(nodes))
        return [(self.build(key), self.build(value)) for key, value in nodes]

    # ------------------------------------------------------------------------------------------- containers

    def filled(self, node: Any, content: Any, row: Filled) -> Any:
        made: Any = self.known(node, row.type() if row.make is None else row.make(node.get("of")))
        row.fill(made, self.pairs(content) if row.pairs else self.items(content))
        if row.type is OrderedDict:
            for name, value in self.pairs(node.get("attributes", [])):
                if type(name) is not str or hasattr(OrderedDict, name):
                    raise refuse(f"the file sets an attribute {name!r:.100} of an OrderedDict")
                vars(made)[name] = value
        return made

    def named_tuple(self, node: Any) -> Any:
        cls: Any = class_named(node["namedtuple"], "namedtuple")
        items = self.items(node["items"])
        if len(items) != len(cls._fields):
            raise refuse(f"the file holds a {cls.__name__} of {len(items)} fields; it has {len(cls._fields)}")
        return self.known(node, tuple.__new__(cls, items))

    def enum(self, node: Any) -> Any:
        return self.known(node, enum_member(class_named(node["enum"], "enum"), node["name"]))

    def instance(self, node: Any) -> Any:
        kind = "dataclass" if "dataclass" in node else "object"
        cls = class_named(node[kind], kind)
        self.budget.spend(TENSOR)
        made: Any = self.known(node, object.__new__(cls))
        set_attributes(made, self.pairs(node["attributes"]))
        return made

    def module(self, node: Any) -> Any:
        self.budget.spend(TENSOR)
        made: Any = self.known(node, object.__new__(module_class(node["module"], self.trusted)))
        set_attributes(made, self.pairs(node["attributes"]))
        return made

    def function(self, node: Any) -> Any:
        return self.known(node, function_called(node["function"], self.trusted))

    def subclass(self, node: Any) -> Any:
        cls: Any = class_named(node["subclass"], "subclass")
        base: Any = BASES[node["base"]]
        if base_of(cls) is not base:
            raise refuse(f"the file holds a {cls.__name__} as a {base.__name__}, which it is not")
        self.budget.spend(TENSOR)
        if issubclass(base, dict):
            made = self.known(node, base.__new__(cls))
            for key, value in self.pairs(node["items"]):
                base.__setitem__(made, check_key(key), value)
        elif base is list:
            made = self.known(node, list.__new__(cls))
            list.extend(made, self.items(node["items"]))
        elif base is set:
            made = self.known(node, set.__new__(cls))
            set.update(made, map(check_key, self.items(node["items"])))
        else:
            items = self.items(node["items"])
            single = base in (str, bytes, int, float)
            if single and (len(items) != 1 or type(items[0]) is not base):
                raise refuse(f"the file holds a {cls.__name__} that is no {base.__name__}")
            members = items if base is tuple else map(check_key, items)
            made = self.known(node, base.__new__(cls, items[0] if single else members))
        set_attributes(made, self.pairs(node.get("attributes", [])))
        return made

    # ------------------------------------------------------------------------------------------- tensors

    def tensor(self, node: Any) -> Any:
        """A tensor over the storage of an entry."""
        self.budget.spend(TENSOR)
        made = self.looking_at(node["tensor"], node)
        return self.with_gradient(made, node)

    def meta(self, node: Any) -> Any:
        self.budget.spend(TENSOR)
        name, sizes, strides = node["meta"]
        return self.with_gradient(checked_meta_tensor(sizes, strides, FROM_NAME[name]), node)

    def with_gradient(self, made: Any, node: Any) -> Any:
        """The tensor as a parameter, a buffer, or with requires_grad, and with the attributes that the user set."""
        if "parameter" in node:
            made = Parameter(made, check_differentiable(made.dtype, node["parameter"]))
        elif "buffer" in node:
            made = Buffer(made, persistent=bool(node["buffer"]))
        if check_differentiable(made.dtype, node.get("requires_grad", False)):
            made.requires_grad_()
        self.known(node, made)
        for name, value in self.pairs(node.get("attributes", [])):
            if type(name) is not str or name in OWN_ATTRIBUTES or hasattr(type(made), name):
                raise refuse(f"a tensor gets {name!r:.100} as an attribute, which is its own")
            made.__dict__[name] = value
        return made

    def looking_at(self, name: Any, node: Any) -> Tensor:
        array = self.entry(name)
        element = FROM_NUMPY.get(array.dtype)
        if element is None:
            raise refuse(f"the tensor {name!r:.100} is of {array.dtype}, which tensors can't be of")
        if "strides" in node:
            turned = self.storage_turned(name, array, node["strides"])
            return checked_tensor(turned, 0, array.shape, node["strides"], element)
        storage = self.storages.setdefault(name, Storage(array.reshape(-1)))
        if "view" not in node:
            return checked_tensor(storage, 0, array.shape, contiguous_strides(array.shape), element)
        dtype_name, offset, sizes, strides = node["view"]
        seen_as = FROM_NAME[dtype_name]
        if seen_as is not element:
            storage = ReinterpretedStorage(storage, seen_as.numpy)
        return checked_tensor(storage, offset, sizes, strides, seen_as)

    def storage_turned(self, name: str, array: np.ndarray, strides: Any) -> Storage:
        """The memory of an entry whose elements lay in another order when it was saved."""
        if name not in self.turned:
            flat = np.empty(array.size, array.dtype)
            memory = Storage(flat)
            tensor = checked_tensor(memory, 0, array.shape, strides, FROM_NUMPY[array.dtype])
            if not fills(tensor, flat.nbytes):
                raise refuse(f"the tensor {name[:100]!r} has strides by which its elements overlap")
            tensor.store(array)
            self.turned[name] = memory
        return self.turned[name]

    def array(self, node: Any) -> np.ndarray:
        """A NumPy array."""
        array = self.entry(node["ndarray"])
        if "dtype" in node:
            element, shape = numpy_dtype(node["dtype"]), counts("sizes", node["shape"])
            if array.dtype != np.uint8 or math.prod(shape) * element.itemsize != array.size:
                raise refuse(f"the array {node['ndarray'][:100]!r} has not as many bytes as its shape says")
            array = array.view(element).reshape(shape) if array.size else np.empty(shape, element)
        if node.get("order") == "F":
            array = np.asfortranarray(array)
        made: np.ndarray = self.known(node, array)
        return made

    def entry(self, name: Any) -> np.ndarray:
        if type(name) is not str or name not in self.arrays:
            raise refuse(f"the tensor {name!r:.100} is missing; the file is damaged")
        return self.arrays[name]


SPECIAL: dict[str, Callable[[_Builder, Any], Any]] = {
    "tensor": _Builder.tensor,
    "meta": _Builder.meta,
    "ndarray": _Builder.array,
    "enum": _Builder.enum,
    "namedtuple": _Builder.named_tuple,
    "dataclass": _Builder.instance,
    "object": _Builder.instance,
    "module": _Builder.module,
    "function": _Builder.function,
    "subclass": _Builder.subclass,
}
