"""The arguments of a node: any nesting of tuples, lists, dicts and slices whose leaves are nodes or constants.

`map_arg` walks such a nesting and replaces the nodes; everything else that needs to look into arguments is written
with it.

>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x, n = graph.placeholder("x"), graph.placeholder("n")
>>> map_arg(([x, 2], {"dim": slice(None, n)}), lambda node: node.name.upper())
(['X', 2], {'dim': slice(None, 'N', None)})
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

USUAL_LEAVES = frozenset((int, float, bool, str, type(None)))  # and nodes; asking for these first takes half the time


class BaseNode:
    """What a node is known by here; `fx.Node` is the only one."""

    __slots__ = ()


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The same nesting with `fn` applied to every leaf. A namedtuple keeps its class."""
    if type(a) in USUAL_LEAVES or isinstance(a, BaseNode):
        return fn(a)
    if isinstance(a, tuple):
        items = [fn(item) if type(item) in USUAL_LEAVES else map_aggregate(item, fn) for item in a]
        return tuple(items) if type(a) is tuple or not hasattr(a, "_fields") else type(a)(*items)
    if isinstance(a, list):
        return [fn(item) if type(item) in USUAL_LEAVES else map_aggregate(item, fn) for item in a]
    if isinstance(a, dict):
        return {key: map_aggregate(item, fn) for key, item in a.items()}
    if isinstance(a, slice):
        return slice(*(map_aggregate(item, fn) for item in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The same nesting with `fn` applied to every node; constants stay."""
    if isinstance(a, BaseNode):
        return fn(a)
    return _rebuilt(a, map_arg, fn, list, dict)


def freeze(argument: Any, found: Callable[[Any], Any]) -> Any:
    """A copy whose lists and dicts refuse to change; `found` is called with each node in it, in order.

    Nodes count their users when their arguments are set. `node.args[0].append(x)` would go unnoticed, so it is an
    error.
    """
    if isinstance(argument, BaseNode):
        found(argument)
        return argument
    return _rebuilt(argument, freeze, found, immutable_list, immutable_dict)


def map_frozen(a: Any, fn: Callable[[Any], Any]) -> Any:
    """As `map_arg`, of arguments that refuse to change, to such arguments; `fn` gives what is frozen itself."""
    if isinstance(a, BaseNode):
        return fn(a)
    return _rebuilt(a, map_frozen, fn, immutable_list, immutable_dict)


def _rebuilt(a: Any, walk: Callable[..., Any], fn: Callable[[Any], Any], as_list: type, as_dict: type) -> Any:
    """The same nesting of what `walk(item, fn)` makes of its items; a constant is itself.

    Copies of graphs spend their time here: a usual constant isn't walked to, and no class is asked for twice.
    """
    if type(a) in USUAL_LEAVES:
        return a
    if isinstance(a, tuple):
        items = [item if type(item) in USUAL_LEAVES else walk(item, fn) for item in a] if a else a
        return tuple(items) if type(a) is tuple or not hasattr(a, "_fields") else type(a)(*items)
    if isinstance(a, list):
        return as_list([item if type(item) in USUAL_LEAVES else walk(item, fn) for item in a])
    if isinstance(a, dict):
        return as_dict({key: walk(item, fn) for key, item in a.items()})
    if isinstance(a, slice):
        return slice(walk(a.start, fn), walk(a.stop, fn), walk(a.step, fn))
    return a


def _refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args"
        " of a torch.fx.Node object, instead create a new copy of it and assign the copy to the node: new_args = ... ;"
        " node.args = new_args"
    )


class immutable_list(list):
    """A list, to isinstance and ==, whose mutators raise TypeError."""

    append = extend = insert = pop = remove = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dict, to isinstance and ==, whose mutators raise TypeError."""

    update = pop = popitem = clear = setdefault = _refuse
    __setitem__ = __delitem__ = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return immutable_dict, (dict(self),)
