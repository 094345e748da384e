"""What is to be saved, taken apart: its tensors by name, and the rest as JSON that says where they go.

Containers keep their type and order, keys may be numbers, and a tensor that stands in two places is stored once.

>>> from minitorch_compile import tensor
>>> x = tensor([1.0])
>>> text, tensors = take_apart({"weight": x, "tied": x, 3: (1, 2)})
>>> tensors, text
({'weight': tensor([1.])},
 '{"dict": [["weight", {"tensor": "weight"}], ["tied", {"tensor": "weight"}], [3, {"tuple": [1, 2]}]]}')
>>> put_together(text, tensors)
{'weight': tensor([1.]), 'tied': tensor([1.]), 3: (1, 2)}
"""

from __future__ import annotations

import itertools
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.nn import Module, Parameter
from minitorch_compile.tensor import Size, Tensor, device, dtype
from minitorch_compile.tensor.dtype import FROM_NAME

PLAIN = (str, bool, int, float, type(None))


def take_apart(value: Any) -> tuple[str, dict[str, Tensor]]:
    """(structure in JSON, tensors by name). TypeError for a value that isn't data, saying where it is."""
    tensors: dict[str, Tensor] = {}
    structure = _Taker(tensors).take(value, "")
    return json.dumps(structure), tensors


class _Taker:
    """Walks containers; notes tensors, each only once."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors
        self.names: dict[tuple[Any, ...], str] = {}

    def take(self, value: Any, path: str) -> Any:
        """The JSON for one value."""
        if type(value) in PLAIN:
            return value
        if isinstance(value, Tensor):
            return self.take_tensor(value, path)
        if type(value) in (dict, OrderedDict):
            kind = "dict" if type(value) is dict else "OrderedDict"
            return {
                kind: [[self.key(k, path), self.take(v, f"{path}.{k}" if path else str(k))] for k, v in value.items()]
            }
        for kind, (types, encode) in ENCODERS.items():
            if type(value) in types:
                return {kind: encode(self, value, path)}
        raise TypeError(_refusal(value, path))

    def take_tensor(self, value: Tensor, path: str) -> dict[str, Any]:
        """A reference to the tensor, which may have been met before."""
        where = (id(value.storage.memory), value.offset, value.sizes, value.strides)
        if where not in self.names:
            self.names[where] = self.free_name(path or "tensor")
        name = self.names[where]
        self.tensors[name] = value
        reference: dict[str, Any] = {"tensor": name}
        if isinstance(value, Parameter):
            reference["parameter"] = value.requires_grad
        elif value.requires_grad:
            reference["requires_grad"] = True
        return reference

    def free_name(self, path: str) -> str:
        """The path, or if another tensor has that name, the path with a number."""
        if path not in self.tensors and path != "__metadata__":
            return path
        return next(name for i in itertools.count(2) if (name := f"{path}#{i}") not in self.tensors)

    def key(self, key: Any, path: str) -> Any:
        """A key of a dictionary. TypeError unless it is plain."""
        if type(key) not in PLAIN:
            raise TypeError(f"save: the keys of {path or 'the dictionary'} must be strings or numbers, got {key!r}")
        return key

    def take_all(self, values: Any, path: str) -> list[Any]:
        """The JSON for the items of a sequence."""
        return [self.take(item, f"{path}.{i}" if path else str(i)) for i, item in enumerate(values)]


ENCODERS: dict[str, tuple[tuple[type, ...], Callable[[_Taker, Any, str], Any]]] = {
    "list": ((list,), _Taker.take_all),
    "tuple": ((tuple,), _Taker.take_all),
    "set": ((set,), lambda taker, value, path: taker.take_all(sorted(value, key=repr), path)),
    "Size": ((Size,), lambda taker, value, path: list(value)),
    "complex": ((complex,), lambda taker, value, path: [value.real, value.imag]),
    "dtype": ((dtype,), lambda taker, value, path: value.name),
    "device": ((device,), lambda taker, value, path: str(value)),
    "number": ((np.float64, np.float32, np.int64, np.int32, np.bool_), lambda taker, value, path: value.item()),
}
DECODERS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "Size": Size,
    "complex": lambda parts: complex(*parts),
    "dtype": lambda name: FROM_NAME[name],
    "device": device,
    "number": lambda number: number,
}


def _refusal(value: Any, path: str) -> str:
    place = f"at {path!r}" if path else "given"
    if isinstance(value, Module):
        return (
            f"save: the module {type(value).__name__} {place} is code, which no file of ours holds; save its"
            " state_dict() and load that into a module you build"
        )
    return (
        f"save: {type(value).__name__} {place} is no data: save takes tensors, numbers, strings, None, and lists,"
        " tuples, sets and dictionaries of them; save what it consists of, such as vars(args)"
    )


def put_together(text: str, tensors: dict[str, Tensor]) -> Any:
    """What take_apart() was given. ValueError for a structure that names what isn't there."""
    return _build(json.loads(text), tensors)


def _build(node: Any, tensors: dict[str, Tensor]) -> Any:
    if not isinstance(node, dict):
        return node
    kind, content = next(iter(node.items()))
    if kind == "tensor":
        return _build_tensor(node, tensors)
    if kind in ("dict", "OrderedDict"):
        pairs = [(key, _build(value, tensors)) for key, value in content]
        return dict(pairs) if kind == "dict" else OrderedDict(pairs)
    if kind not in DECODERS:
        raise ValueError(f"load: the file holds a {kind!r}, which this version does not know")
    return DECODERS[kind]([_build(item, tensors) for item in content] if isinstance(content, list) else content)


def _build_tensor(node: dict[str, Any], tensors: dict[str, Tensor]) -> Tensor:
    if node["tensor"] not in tensors:
        raise ValueError(f"load: the tensor {node['tensor']!r} is missing; the file is damaged")
    value = tensors[node["tensor"]]
    if "parameter" in node:
        return Parameter(value, node["parameter"])
    return value.requires_grad_() if node.get("requires_grad") else value
