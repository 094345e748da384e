"""What is to be saved, taken apart: its tensors as entries by name, and the rest as JSON that says where they go.

Containers keep their type and order, and what stands in two places stands in both again: a value that is met a second
time gets a number, and is referred to by it. So a list may hold itself.

>>> from minitorch_compile import tensor
>>> x = tensor([1.0])
>>> text, entries = take_apart({"weight": x, "tied": x, 3: (1, 2)})
>>> entries, text
({'weight': array([1.], dtype=float32)},
 '{"dict":[["weight",{"tensor":"weight","as":0}],["tied",{"again":0}],[3,{"tuple":[1,2]}]]}')
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minitorch_compile.nn import Buffer, Module, Parameter
from minitorch_compile.nn.uninitialized import Uninitialized
from minitorch_compile.serialization.data_kinds import (
    Filled,
    Leaf,
    Parted,
    filled_of,
    is_plain,
    leaf_of,
    numpy_name,
    parted_of,
)
from minitorch_compile.serialization.named_classes import (
    BASES,
    attributes_of,
    base_of,
    class_problem,
    enum_name,
    kinds_of,
    name_of,
)
from minitorch_compile.serialization.plain_data import DEEPEST
from minitorch_compile.serialization.safetensors_file import CODE_OF
from minitorch_compile.serialization.saved_storages import SavedStorages
from minitorch_compile.serialization.whole_modules import function_name, module_problem
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.tensor_class.own_attributes import OWN_ATTRIBUTES

Node = Any  # what JSON can hold
PLAIN = (str, bool, int, float, type(None))
QUICK = (str, bool, float, type(None))  # they stand for themselves
TENSOR_CLASSES = (Tensor, Parameter, Buffer)


def take_apart(value: Any) -> tuple[str, dict[str, np.ndarray]]:
    """(structure in JSON, arrays by name). TypeError for a value that isn't data, saying where it is."""
    taker = _Taker()
    node = taker.take(value)
    entries = taker.storages.entries()
    return json.dumps(node, separators=(",", ":")), entries


class _Taker:
    """Walks what is to be saved; `path` says where it is, as keys and indices."""

    def __init__(self) -> None:
        self.storages = SavedStorages()
        self.path: list[tuple[str, Any]] = []
        self.nodes: dict[int, Any] = {}  # by the id of what was met before; None while it is being taken
        self.met: list[Any] = []  # keeps what was met alive, so that no other object gets its id
        self.numbered = 0
        self.modules = 0  # how many modules lie around what is being taken

    def take(self, value: Any) -> Node:
        """The JSON for one value."""
        if type(value) in PLAIN:
            return {"int": hex(value)} if type(value) is int and abs(value) >> 64 else value
        if id(value) in self.nodes:
            return self.again(value)
        if len(self.path) > DEEPEST:
            raise ValueError(f"save: {self.where()} lies more than {DEEPEST} containers deep")
        self.nodes[id(value)] = None
        self.met.append(value)
        for fits, take in RULES:
            found = fits(value)
            if found:
                node = take(self, value, found)
                self.nodes[id(value)] = node
                return node
        raise TypeError(self.refusal(value))

    def again(self, value: Any) -> Node:
        """A reference to what was met before."""
        node = self.nodes[id(value)]
        if node is None:
            raise TypeError(
                f"save: {self.where()} is a {type(value).__name__} that holds itself; only lists, dictionaries and"
                " objects with attributes can be saved so"
            )
        if "as" not in node:
            node["as"], self.numbered = self.numbered, self.numbered + 1
        return {"again": node["as"]}

    def at(self, step: str, name: Any, value: Any) -> Node:
        """The JSON for a part of the value."""
        self.path.append((step, name))
        node = self.take(value)
        self.path.pop()
        return node

    def items(self, values: Iterable[Any]) -> list[Node]:
        return [item if type(item) in QUICK else self.at("index", i, item) for i, item in enumerate(values)]

    def pairs(self, pairs: Iterable[tuple[Any, Any]], step: str) -> list[Node]:
        """Keys and values, or attributes."""
        return [[k if type(k) is str else self.at("key of", k, k), self.at(step, k, v)] for k, v in pairs]

    # ------------------------------------------------------------------------------------------- kinds of values

    def leaf(self, value: Any, found: tuple[str, Leaf]) -> Node:
        kind, row = found
        return {kind: row.write(value)}

    def parted(self, value: Any, found: tuple[str, Parted]) -> Node:
        kind, row = found
        return {kind: self.items(row.parts(value))}

    def filled(self, value: Any, found: tuple[str, Filled]) -> Node:
        kind, row = found
        node: Node = {kind: []}
        self.nodes[id(value)] = node
        if row.head is not None:
            try:
                node["of"] = row.head(value)
            except TypeError as error:
                raise TypeError(f"save: {self.where()} {error}") from None
        step = "attribute" if kind.endswith("Namespace") else "key"
        node[kind] += self.pairs(row.items(value), step) if row.pairs else self.items(row.items(value))
        if type(value) is OrderedDict and vars(value):  # a state_dict's _metadata is one
            node["attributes"] = self.pairs(vars(value).items(), "attribute")
        return node

    def tensor(self, value: Any, found: bool) -> Node:
        if type(value) not in TENSOR_CLASSES:
            raise TypeError(
                f"save: {self.where()} is a tensor of the class {type(value).__name__}, which would be lost; save"
                " x.as_subclass(torch.Tensor)"
            )
        if value.is_fake:
            if value.device.type != "meta":
                raise TypeError(f"save: {self.where()} is a fake tensor, which has no data")
            node: Node = {"meta": [value.dtype.name, list(value.sizes), list(value.strides)]}
        else:
            node = self.storages.refer(self.storages.on_host(value.resolve_conj().resolve_neg()), self.name())
        if isinstance(value, Parameter):
            node["parameter"] = value.requires_grad
        elif value.requires_grad:
            node["requires_grad"] = True
        attributes = [(name, item) for name, item in vars(value).items() if name not in OWN_ATTRIBUTES]
        if isinstance(value, Buffer):
            node["buffer"] = bool(value.persistent)
            attributes = [(name, item) for name, item in attributes if name != "persistent"]
        if attributes:
            self.nodes[id(value)] = node
            node["attributes"] = self.pairs(attributes, "attribute")
        return node

    def array(self, value: np.ndarray, found: bool) -> Node:
        turned = bool(value.flags.f_contiguous and not value.flags.c_contiguous)
        order = {"order": "F"} if turned else {}
        if value.dtype in CODE_OF:
            return {"ndarray": self.storages.refer_to_array(value, self.name()), **order}
        raw = np.frombuffer(value.tobytes(), np.uint8)
        name = self.storages.refer_to_array(raw, self.name())
        return {"ndarray": name, "dtype": numpy_name(value.dtype), "shape": list(value.shape), **order}

    def enum(self, value: Any, cls: type) -> Node:
        return {"enum": name_of(cls), "name": enum_name(value)}

    def named_tuple(self, value: Any, cls: type) -> Node:
        return {"namedtuple": name_of(cls), "items": self.items(tuple(value))}

    def instance(self, value: Any, cls: type) -> Node:
        """A dataclass, or an object of a class that add_safe_globals() allowed."""
        kind = kinds_of(cls)[0]
        node = self.nodes[id(value)] = {kind: name_of(cls), "attributes": []}
        node["attributes"] += self.pairs(attributes_of(value), "attribute")
        return node

    def module(self, value: Any, found: bool) -> Node:
        """A module: the name of its class, and its attributes."""
        problem = module_problem(type(value))
        if problem:
            raise TypeError(f"save: {self.where()} {problem}; save its state_dict()")
        node = self.nodes[id(value)] = {"module": name_of(type(value)), "attributes": []}
        self.modules += 1
        node["attributes"] += self.pairs(value.__getstate__().items(), "attribute")
        self.modules -= 1
        return node

    def function(self, value: Any, name: str) -> Node:
        """A function in a module, by its name."""
        if not self.modules:
            raise TypeError(self.refusal(value))
        return {"function": name}

    def subclass(self, value: Any, cls: type) -> Node:
        """A string, a number or a container of a class that is made on Python's own."""
        base: Any = base_of(cls)
        node: Node = {"subclass": name_of(cls), "base": base.__name__}
        if issubclass(base, (dict, list)):
            self.nodes[id(value)] = node
        if issubclass(base, dict):
            node["items"] = self.pairs(base.items(value), "key")
        elif base in (str, bytes, int, float):
            node["items"] = [self.take(base.__new__(base, value) if base is not str else str.__str__(value))]
        else:
            node["items"] = self.items(list(base.__iter__(value)))
        node["attributes"] = self.pairs(attributes_of(value), "attribute")
        return node

    # ------------------------------------------------------------------------------------------- names and errors

    def name(self) -> str:
        """The path as the name of an entry: model.weight."""
        return ".".join(str(name) for _, name in self.path)

    def where(self) -> str:
        """The path as Python would write it: checkpoint['model'].weight[0]."""
        text = "checkpoint"
        for step, name in self.path:
            if step == "key of":
                return f"{text}: its key {name!r:.100}"
            text += f".{name}" if step == "attribute" else f"[{name!r:.100}]"
        return text

    def refusal(self, value: Any) -> str:
        place = self.where()
        if isinstance(value, type) or callable(value) and hasattr(value, "__qualname__"):
            kind = "class" if isinstance(value, type) else "function"
            return f"save: {place} is a {kind}, {getattr(value, '__qualname__', value)}; no file of ours holds code"
        if hasattr(value, "state_dict"):
            return f"save: {place} is a {type(value).__name__}; save its state_dict()"
        problem = class_problem(type(value)) if type(value).__module__ != "builtins" else None
        return (
            f"save: {place} {problem or f'is a {type(value).__name__}'}; save takes tensors, arrays, numbers, strings,"
            " containers of them, dataclasses, enums and named tuples; save what it consists of, such as vars(x), or"
            " allow its class with add_safe_globals([...])"
        )


def _named(kind: str) -> Callable[[Any], type | None]:
    """Whether a value is of a class that a file may name, as that kind; the class."""

    def fits(value: Any) -> type | None:
        cls = type(value)
        return cls if class_problem(cls) is None and cls not in BASES.values() and kind in kinds_of(cls) else None

    return fits


def _is_object(value: Any) -> type | None:
    """An object whose state is its attributes, of a class that was allowed."""
    cls: Any = type(value)
    usual = cls.__reduce_ex__ is object.__reduce_ex__ and cls.__reduce__ is object.__reduce__
    return cls if usual and not hasattr(cls, "__setstate__") and _named("object")(value) else None


RULES: list[tuple[Callable[[Any], Any], Callable[[_Taker, Any, Any], Node]]] = [
    (filled_of, _Taker.filled),
    (parted_of, _Taker.parted),
    (leaf_of, _Taker.leaf),
    (lambda value: isinstance(value, Tensor) and not isinstance(value, Uninitialized), _Taker.tensor),
    (lambda value: type(value) in (np.ndarray, np.memmap) and is_plain(value.dtype), _Taker.array),
    (_named("enum"), _Taker.enum),
    (_named("namedtuple"), _Taker.named_tuple),
    (_named("dataclass"), _Taker.instance),
    (_named("subclass"), _Taker.subclass),
    (lambda value: isinstance(value, Module), _Taker.module),
    (function_name, _Taker.function),
    (_is_object, _Taker.instance),
]
