"""One operation of a graph.

A node knows what it calls (`op`, `target`), on what (`args`, `kwargs`, in which other nodes stand for their values)
and who uses its value (`users`). There are six kinds, PyTorch's:

| op              | target               | meaning                                     |
|-----------------|----------------------|---------------------------------------------|
| `placeholder`   | name                 | an argument of the function                 |
| `get_attr`      | name                 | a constant kept in the graph module         |
| `call_function` | the callable         | `target(*args, **kwargs)`                   |
| `call_method`   | name                 | `args[0].target(*args[1:], **kwargs)`       |
| `call_module`   | name                 | `attribute(*args, **kwargs)`                |
| `output`        | "output"             | what the function returns, in `args[0]`     |

>>> import operator
>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x = graph.placeholder("x")
>>> double = graph.call_function(operator.mul, (x, 2))
>>> print(double.format_node())
%mul : [num_users=0] = call_function[target=operator.mul](args = (%x, 2), kwargs = {})
>>> x.users, double.all_input_nodes
({mul: None}, [x])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.arguments import freeze, map_arg

if TYPE_CHECKING:
    from minitorch_compile.fx.graph import Graph

OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
Target = Callable[..., Any] | str


class Node:
    """A node of `graph`, linked to its neighbours in execution order by `prev` and `next`.

    `meta` holds what passes know about the value: `meta["val"]`, a fake tensor (or a tuple of them) with its sizes,
    strides and dtype; `meta["stack"]`, the user's (filename, line number, source line).
    """

    __slots__ = (
        "graph", "name", "op", "target", "users", "meta", "_args", "_kwargs", "_inputs", "_prev", "_next", "_erased",
        "__weakref__",
    )  # fmt: skip

    def __init__(
        self, graph: Graph, name: str, op: str, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.users: dict[Node, None] = {}  # a dict, not a set: iteration order must not depend on addresses
        self.meta: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._set_arguments(args, kwargs)

    # ------------------------------------------------------------------------------------------ arguments

    @property
    def args(self) -> tuple[Any, ...]:
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set_arguments(self._args, kwargs)

    def _set_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for node in self._inputs:
            del node.users[self]
        self._args = freeze(tuple(args))
        self._kwargs = freeze(dict(kwargs))
        self._inputs = {}
        map_arg((self._args, self._kwargs), self._inputs.setdefault)
        for node in self._inputs:
            node.users[self] = None

    def update_arg(self, index: int, value: Any) -> None:
        """Replace the positional argument at `index`."""
        self.args = self._args[:index] + (value,) + self._args[index + 1 :]

    def update_kwarg(self, name: str, value: Any) -> None:
        """Set the keyword argument `name`."""
        self.kwargs = {**self._kwargs, name: value}

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes that stand anywhere in the arguments, each once, in order of appearance."""
        return list(self._inputs)

    # ------------------------------------------------------------------------------------------ rewriting

    def replace_input_with(self, old_input: Node, new_input: Any) -> None:
        """Let this node read `new_input` wherever it read `old_input`."""
        args, kwargs = map_arg((self._args, self._kwargs), lambda node: new_input if node is old_input else node)
        self._set_arguments(args, kwargs)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let each user (for which `delete_user_cb` is true) read `replace_with` instead. Returns those users."""
        if propagate_meta:
            replace_with.meta = {**self.meta, **replace_with.meta}
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # ------------------------------------------------------------------------------------------ order

    @property
    def next(self) -> Node:
        """The node executed after this one; the last node's is the graph's root."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node executed before this one."""
        return self._prev

    def prepend(self, node: Node) -> None:
        """Move `node` to directly before this one."""
        if node.graph is not self.graph:
            raise RuntimeError(f"prepend: node '{node.name}' belongs to another graph. Copy it with graph.node_copy.")
        if node is not self:
            node._unlink()
            node._prev, node._next = self._prev, self
            self._prev._next = self._prev = node

    def append(self, node: Node) -> None:
        """Move `node` to directly after this one."""
        if node is not self and node is not self._next:
            self._next.prepend(node)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    # ------------------------------------------------------------------------------------------ looking

    def is_impure(self) -> bool:
        """Whether running this node does more than compute its value, so that it must stay even if nobody uses it."""
        from minitorch_compile.fx.effects import is_impure

        return is_impure(self)

    def format_node(self) -> str:
        """The node as torch.fx prints it."""
        from minitorch_compile.fx.printer import format_node

        return format_node(self)

    def __repr__(self) -> str:
        return self.name
