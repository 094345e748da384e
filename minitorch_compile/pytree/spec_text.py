"""The shape of a tree as text, and back: PyTorch's format, so that either reads what the other wrote.

>>> from minitorch_compile.pytree.trees import tree_structure
>>> text = treespec_dumps(tree_structure([1, {"a": 2}]))
>>> print(text[:80])
[1, {"type": "builtins.list", "context": "null", "children_spec": [{"type": null
>>> treespec_loads(text).unflatten([10, 20])
[10, {'a': 20}]

Source: torch/utils/_pytree.py, for the format: protocol 1.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from enum import Enum
from functools import reduce
from types import ModuleType
from typing import Any

from minitorch_compile.pytree.containers import (
    SUPPORTED_NODES,
    Context,
    Dumpable,
    NodeDef,
    dumpables,
)
from minitorch_compile.pytree.tree_spec import LEAF, TreeSpec

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A shape as JSON. `protocol` is 1, the only one.

    NotImplementedError for a type that was registered without `serialized_type_name`, TypeError for a context that is
    no JSON and has no `to_dumpable_context`, or if `treespec` is no TreeSpec.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"treespec_dumps: expected `treespec` to be a TreeSpec, but got {type(treespec).__name__}")
    protocol = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _check_protocol(protocol)
    return json.dumps((protocol, _to_json(treespec)), default=_enum_as_json)


def treespec_loads(serialized: str) -> TreeSpec:
    """The shape that `treespec_dumps` wrote. NotImplementedError if it has a type of a name that is not registered."""
    protocol, written = json.loads(serialized)
    _check_protocol(protocol)
    return _from_json(written)


def _check_protocol(protocol: int) -> None:
    if protocol != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")


# ------------------------------------------------------------------------------------------------ nodes


def _to_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    dumpable = dumpables[spec.type]
    if dumpable.name is None:
        raise NotImplementedError(
            f"treespec_dumps: {spec.type} has no name in files; give register_pytree_node a serialized_type_name"
        )
    if dumpable.to_dumpable is not None:
        context = dumpable.to_dumpable(spec.context)
    else:
        try:
            context = json.dumps(spec.context, default=_enum_as_json)
        except TypeError as error:
            raise TypeError(
                f"treespec_dumps: the context of {spec.type} can't be written as JSON ({error}); give"
                " register_pytree_node a to_dumpable_context and a from_dumpable_context"
            ) from error
    return {"type": dumpable.name, "context": context, "children_spec": [_to_json(child) for child in spec.children()]}


def _from_json(written: dict[str, Any]) -> TreeSpec:
    if written["type"] is None:
        return LEAF
    cls, dumpable = _named(written["type"])
    context = written["context"]
    if dumpable.from_dumpable is not None:
        context = dumpable.from_dumpable(context)
    else:
        context = json.loads(context, object_hook=_enum_from_json)
    return TreeSpec(cls, context, [_from_json(child) for child in written["children_spec"]])


def _named(name: str) -> tuple[Any, Dumpable]:
    """The type of that name: the last that was registered with it."""
    for cls, dumpable in reversed(dumpables.items()):
        if dumpable.name == name:
            return cls, dumpable
    raise NotImplementedError(
        f"treespec_loads: no type is registered as {name!r}; import the module that registers it, or give"
        " register_pytree_node this serialized_type_name"
    )


# ------------------------------------------------------------------------------------------------ contexts


def _enum_as_json(value: object) -> dict[str, Any]:
    if isinstance(value, Enum):
        cls = type(value)
        return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": value.name}
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _imported(module: str) -> ModuleType:
    """The module, which a text may only name: to import it would run its code."""
    if module not in sys.modules:
        raise ModuleNotFoundError(
            f"treespec_loads: the text names the module {module!r}; import that first", name=module
        )
    return sys.modules[module]


def _enum_from_json(written: dict[str, Any]) -> Any:
    if "__enum__" not in written:
        return written
    module, _, name = written["fqn"].partition(":")
    cls = reduce(getattr, name.split("."), _imported(module))
    if not (isinstance(cls, type) and issubclass(cls, Enum)):
        raise TypeError(f"treespec_loads: {written['fqn']} is no Enum")
    return cls[written["name"]]


def _namedtuple_serialize(cls: Context) -> str:
    name = dumpables[cls].name if cls in dumpables else None
    if name is None:
        raise NotImplementedError(
            f"treespec_dumps: the namedtuple {cls} has no name in files; register it with _register_namedtuple"
        )
    return name


def _defaultdict_serialize(context: Context) -> dict[str, Any]:
    factory, keys = context
    if factory is None:
        raise TypeError("treespec_dumps: a defaultdict without a default_factory can't be written; use a dict")
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _defaultdict_deserialize(written: dict[str, Any]) -> Context:
    factory = getattr(_imported(written["default_factory_module"]), written["default_factory_name"])
    if not isinstance(factory, type):
        raise TypeError(f"treespec_loads: a defaultdict's factory is to be a class, but is {factory!r}")
    return [factory, written["dict_context"]]


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Gives a namedtuple the name that `treespec_dumps` writes. Tree functions look into all namedtuples anyway."""
    known: NodeDef = SUPPORTED_NODES[namedtuple]
    SUPPORTED_NODES[cls] = known._replace(type=cls)
    dumpables[cls] = Dumpable(serialized_type_name, _namedtuple_serialize, lambda name: _named(name)[0])


for _cls in (tuple, list, dict, OrderedDict, deque):
    dumpables[_cls] = Dumpable(f"{_cls.__module__}.{_cls.__name__}")
dumpables[namedtuple] = Dumpable("collections.namedtuple", _namedtuple_serialize, lambda name: _named(name)[0])
dumpables[defaultdict] = Dumpable("collections.defaultdict", _defaultdict_serialize, _defaultdict_deserialize)
