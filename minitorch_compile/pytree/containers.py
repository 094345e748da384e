"""Which types are containers, and how each is taken apart and put together again.

>>> class Point:
...     def __init__(self, x, y): self.x, self.y = x, y
>>> register_pytree_node(Point, lambda p: ([p.x, p.y], None), lambda children, _: Point(*children))
>>> children, context = container_of(Point(1, 2)).flatten_fn(Point(1, 2))
>>> children
[1, 2]
>>> container_of(3) is None
True
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

Context = Any
FlattenFn = Callable[[Any], tuple[Iterable[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], Any]
FlattenWithKeysFn = Callable[[Any], tuple[list[tuple[Any, Any]], Context]]


class NodeDef(NamedTuple):
    """`flatten_fn(obj)` gives (children, context), `unflatten_fn(children, context)` the object again.

    `flatten_with_keys_fn(obj)` gives ([(key, child), ...], context), where a key says how the child is reached; it is
    None if the type was registered without.
    """

    type: Any
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None = None


class Dumpable(NamedTuple):
    """The name of a type in a shape that is written as text, and how its context is written and read."""

    name: str | None
    to_dumpable: Callable[[Context], Any] | None = None
    from_dumpable: Callable[[Any], Context] | None = None


class SequenceKey(NamedTuple):
    """A child at a position of a list, tuple or deque."""

    idx: int

    def __repr__(self) -> str:
        return f"SequenceKey(idx={self.idx!r})"

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """A child under a key of a dict."""

    key: Any

    def __repr__(self) -> str:
        return f"MappingKey(key={self.key!r})"

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """A child that is an attribute: of a namedtuple or a dataclass."""

    name: str

    def __repr__(self) -> str:
        return f"GetAttrKey(name={self.name!r})"

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


# What tree functions look into. All namedtuples are filed under the function that makes their classes.
SUPPORTED_NODES: dict[Any, NodeDef] = {}
dumpables: dict[Any, Dumpable] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Teach every tree function to look inside `cls`.

    `flatten_fn(obj)` returns (children, context); `unflatten_fn(children, context)` rebuilds the object. The context
    holds what is not a child (names, lengths, ...) and must be comparable with ``==``. `flatten_with_keys_fn(obj)`
    returns ([(key, child), ...], context), for the functions that tell paths. `treespec_dumps` writes the type as
    `serialized_type_name`, and its context as JSON, or as what `to_dumpable_context` makes of it.

    TypeError if `cls` is no class; ValueError if it is registered already, or has one of the two context functions.
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_pytree_node: cls must be a class, but got {cls!r} of type {type(cls).__name__}.")
    if cls in SUPPORTED_NODES:
        raise ValueError(f"register_pytree_node: {cls!r} is already registered as pytree node.")
    if (to_dumpable_context is None) is not (from_dumpable_context is None):
        raise ValueError(
            f"register_pytree_node: {cls!r} needs both to_dumpable_context and from_dumpable_context, or neither."
        )
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    dumpables[cls] = Dumpable(serialized_type_name, to_dumpable_context, from_dumpable_context)


def register_dataclass(
    cls: type,
    *,
    field_names: Sequence[str] | None = None,
    drop_field_names: Sequence[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Teach every tree function that the fields of a dataclass are its children.

    `field_names` are those that are, for a dataclass by default all that `__init__` takes, but for `drop_field_names`,
    which keep their default values. Other classes must name their fields. `serialized_type_name` is for shapes that are
    written as text.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> register_dataclass(Point)
    >>> children, context = container_of(Point(1, 2)).flatten_fn(Point(1, 2))
    >>> children
    [1, 2]
    """
    if field_names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError(
                f"field_names must be specified with a list of all fields used to initialize {cls},"
                " as it is not a dataclass."
            )
        dropped = set(drop_field_names or ())
        field_names = [f.name for f in dataclasses.fields(cls) if f.init and f.name not in dropped]
    names = list(field_names)

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        present = [name for name in names if hasattr(obj, name)]
        return [getattr(obj, name) for name in present], [present, [n for n in names if n not in present]]

    def unflatten(children: Iterable[Any], context: Context) -> Any:
        return cls(**dict(zip(context[0], children)), **dict.fromkeys(context[1]))

    register_pytree_node(
        cls,
        flatten,
        unflatten,
        flatten_with_keys_fn=lambda obj: (
            [(GetAttrKey(name), getattr(obj, name)) for name in flatten(obj)[1][0]],
            flatten(obj)[1],
        ),
        serialized_type_name=serialized_type_name,
    )


def register_constant(cls: type) -> None:
    """Objects of `cls` are no leaves but part of the shape: two trees are of one shape if these are equal.

    TypeError for a class whose objects are equal to nothing but themselves, or that have no hash.
    """
    equals: Any = cls.__eq__
    hashes: Any = cls.__hash__
    if equals is object.__eq__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.")
    if hashes is None or hashes is object.__hash__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__hash__` implementation.")
    register_pytree_node(
        cls, lambda obj: ([], obj), lambda children, obj: obj, flatten_with_keys_fn=lambda obj: ([], obj)
    )


# ------------------------------------------------------------------------------------------------ namedtuples


MAY_BE_DERIVED_FROM = 1 << 10  # Py_TPFLAGS_BASETYPE of CPython's object.h


def is_namedtuple_class(cls: Any) -> bool:
    """Whether `cls` was made by namedtuple or NamedTuple, or derives from such a class."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(fields := getattr(cls, "_fields", None), tuple)
        and all(type(name) is str for name in fields)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_structseq_class(cls: type) -> bool:
    """Whether `cls` is one of those tuples with names that are built in, such as `time.struct_time`: no namedtuple."""
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, f"n_{n}fields", None), int) for n in ("", "sequence_", "unnamed_"))
        and not cls.__flags__ & MAY_BE_DERIVED_FROM
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether the class of `obj` is one of those."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object | type) -> bool:
    """Whether `obj` is one of those, or the class of some."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: Any) -> bool:
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Whether `obj` is a namedtuple or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def _get_node_type(tree: Any) -> Any:
    """What a tree's root is filed under in `SUPPORTED_NODES`, if it is: its class, `namedtuple` for all of these."""
    cls = type(tree)
    return namedtuple if issubclass(cls, tuple) and cls is not tuple and is_namedtuple_class(cls) else cls


def container_of(tree: Any) -> NodeDef | None:
    """How the root of a tree is taken apart; None when it is a leaf."""
    return SUPPORTED_NODES.get(_get_node_type(tree))


# ------------------------------------------------------------------------------------------------ Python's own


def _sequence_with_keys(flatten_fn: FlattenFn) -> FlattenWithKeysFn:
    """For containers whose children have positions."""

    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Context]:
        children, context = flatten_fn(value)
        return [(SequenceKey(i), child) for i, child in enumerate(children)], context

    return flatten_with_keys


# Classes that derive from dict are registered by these, under PyTorch's names.


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Context]:
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values))


def _defaultdict_flatten(d: defaultdict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), [d.default_factory, list(d)]


def _namedtuple_flatten(value: Any) -> tuple[list[Any], Context]:
    return list(value), type(value)


def _tuple_flatten(value: Any) -> tuple[list[Any], Context]:
    return list(value), None


def _deque_flatten(value: deque[Any]) -> tuple[list[Any], Context]:
    return list(value), value.maxlen


for _node in (
    NodeDef(tuple, _tuple_flatten, lambda children, _: tuple(children), _sequence_with_keys(_tuple_flatten)),
    NodeDef(list, _tuple_flatten, lambda children, _: list(children), _sequence_with_keys(_tuple_flatten)),
    NodeDef(dict, _dict_flatten, _dict_unflatten, _dict_flatten_with_keys),
    NodeDef(
        namedtuple,
        _namedtuple_flatten,
        lambda children, cls: cls(*children),
        lambda value: ([(GetAttrKey(n), child) for n, child in zip(type(value)._fields, value)], type(value)),
    ),
    NodeDef(
        OrderedDict,
        _dict_flatten,
        lambda children, keys: OrderedDict(zip(keys, children)),
        _dict_flatten_with_keys,
    ),
    NodeDef(
        defaultdict,
        _defaultdict_flatten,
        lambda children, context: defaultdict(context[0], zip(context[1], children)),
        lambda d: (_dict_flatten_with_keys(d)[0], _defaultdict_flatten(d)[1]),
    ),
    NodeDef(
        deque, _deque_flatten, lambda children, maxlen: deque(children, maxlen), _sequence_with_keys(_deque_flatten)
    ),
):
    SUPPORTED_NODES[_node.type] = _node
