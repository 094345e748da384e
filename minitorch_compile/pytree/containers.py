"""Which types are containers, and how each is taken apart and put together again.

>>> class Point:
...     def __init__(self, x, y): self.x, self.y = x, y
>>> register_pytree_node(Point, lambda p: ([p.x, p.y], None), lambda children, _: Point(*children))
>>> children, context = container_of(Point(1, 2)).flatten(Point(1, 2))
>>> children
[1, 2]
>>> container_of(3) is None
True
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

Context = Any
FlattenFn = Callable[[Any], tuple[Iterable[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], Any]


class Container(NamedTuple):
    """`flatten(obj)` gives (children, context), `unflatten(children, context)` the object again.

    `keys(obj)` says how each child is reached, for key paths; None if the type was registered without.
    """

    type: Any
    flatten: FlattenFn
    unflatten: UnflattenFn
    keys: Callable[[Any], list[Any]] | None = None


class SequenceKey(NamedTuple):
    """A child at a position of a list, tuple or deque."""

    idx: int

    def __repr__(self) -> str:
        return f"SequenceKey(idx={self.idx!r})"

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.idx]


class MappingKey(NamedTuple):
    """A child under a key of a dict."""

    key: Any

    def __repr__(self) -> str:
        return f"MappingKey(key={self.key!r})"

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, parent: Any) -> Any:
        return parent[self.key]


class GetAttrKey(NamedTuple):
    """A child that is an attribute: of a namedtuple or a dataclass."""

    name: str

    def __repr__(self) -> str:
        return f"GetAttrKey(name={self.name!r})"

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, parent: Any) -> Any:
        return getattr(parent, self.name)


_containers: dict[type, Container] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None,
) -> None:
    """Teach every tree function to look inside `cls`.

    `flatten_fn(obj)` returns (children, context); `unflatten_fn(children, context)` rebuilds the object. The context
    holds what is not a child (names, lengths, ...) and must be comparable with ``==``. `flatten_with_keys_fn(obj)`
    returns ([(key, child), ...], context), for the functions that tell paths. The three options about serialised
    specs are taken and not used: specs are not serialised here.

    TypeError if `cls` is no class, ValueError if it is registered already.
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_pytree_node: cls must be a class, but got {cls!r} of type {type(cls).__name__}.")
    if cls in _containers:
        raise ValueError(f"register_pytree_node: {cls!r} is already registered as pytree node.")
    keys = None
    if flatten_with_keys_fn is not None:
        keys = lambda obj: [key for key, _ in flatten_with_keys_fn(obj)[0]]
    _containers[cls] = Container(cls, flatten_fn, unflatten_fn, keys)


def register_dataclass(
    cls: type, *, field_names: Sequence[str] | None = None, drop_field_names: Sequence[str] | None = None
) -> None:
    """Teach every tree function that the fields of a dataclass are its children.

    `field_names` are those that are, for a dataclass by default all that `__init__` takes, but for `drop_field_names`,
    which keep their default values. Other classes must name their fields.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> register_dataclass(Point)
    >>> children, context = container_of(Point(1, 2)).flatten(Point(1, 2))
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
        flatten_with_keys_fn=lambda obj: ([(GetAttrKey(name), None) for name in flatten(obj)[1][0]], None),
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


class NamedTupleNode:
    """The node type under which every namedtuple class is filed; the class itself is the context."""


def is_namedtuple_class(cls: Any) -> bool:
    """Whether `cls` was made by namedtuple or NamedTuple, or derives from such a class."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple_instance(value: Any) -> bool:
    return is_namedtuple_class(type(value))


def is_namedtuple(value: Any) -> bool:
    """Whether `value` is a namedtuple or a class of them."""
    return is_namedtuple_class(value if isinstance(value, type) else type(value))


def _is_plain_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields") and type(value).__bases__ == (tuple,)


_NAMEDTUPLE = Container(
    NamedTupleNode,
    lambda value: (list(value), type(value)),
    lambda children, cls: cls(*children),
    lambda value: [GetAttrKey(name) for name in type(value)._fields],
)


def container_of(tree: Any) -> Container | None:
    """How the root of a tree is taken apart; None when it is a leaf."""
    if type(tree) in _containers:
        return _containers[type(tree)]
    if _is_plain_namedtuple(tree):
        return _NAMEDTUPLE
    return None


# ------------------------------------------------------------------------------------------------ Python's own


def _positions(value: Any) -> list[Any]:
    return [SequenceKey(i) for i in range(len(value))]


def _mapping_keys(value: Any) -> list[Any]:
    return [MappingKey(key) for key in value]


# Classes that derive from dict are registered by these, under PyTorch's names.


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Context]:
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values))


for _cls, _flatten, _unflatten, _keys in (
    (tuple, lambda value: (value, None), lambda children, _: tuple(children), _positions),
    (list, lambda value: (value, None), lambda children, _: list(children), _positions),
    (dict, _dict_flatten, _dict_unflatten, _mapping_keys),
    (OrderedDict, _dict_flatten, lambda children, keys: OrderedDict(zip(keys, children)), _mapping_keys),
    (
        defaultdict,
        lambda d: (d.values(), [d.default_factory, list(d)]),
        lambda children, context: defaultdict(context[0], zip(context[1], children)),
        _mapping_keys,
    ),
    (deque, lambda d: (d, d.maxlen), lambda children, maxlen: deque(children, maxlen), _positions),
):
    _containers[_cls] = Container(_cls, _flatten, _unflatten, _keys)
