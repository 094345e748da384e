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

from minitorch_compile.fx.arguments import BaseNode, freeze, map_aggregate, map_arg, map_frozen

if TYPE_CHECKING:
    from minitorch_compile.fx.graph import Graph

__all__ = ["OPCODES", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
Target = Callable[..., Any] | str
Argument = Any  # nodes and constants in any nesting


class Node(BaseNode):
    """A node of `graph`, linked to its neighbours in execution order by `prev` and `next`.

    `meta` holds what passes know about the value: `meta["val"]`, a fake tensor (or a tuple of them) with its sizes,
    strides and dtype; `meta["stack"]`, the user's (filename, line number, source line).

    `op` is one of the six kinds, `target` what is called or read, with `args` and `kwargs`; `name` is unique in the
    graph, `return_type` an annotation.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x)).graph
    >>> [(node.op, node.name, node.args) for node in graph.nodes]
    [('placeholder', 'x', ()), ('call_function', 'relu', (x,)), ('output', 'output', (relu,))]
    """

    __slots__ = (
        "graph", "name", "op", "target", "users", "meta", "_args", "_kwargs", "_inputs", "_prev", "_next", "_erased",
        "type", "__dict__", "__weakref__",
    )  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        return_type: Any | None = None,
    ) -> None:
        if callable(target) != (op == "call_function"):
            wanted = "Callable" if op == "call_function" else "str"
            raise ValueError(
                f"Node [graph = {graph}, name = {name!r}] target {target} has type {type(target).__name__} but a"
                f" {wanted} is expected"
            )
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type  # the annotation that the program has for the value
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
        self._inputs = {}
        self._args = freeze(tuple(args), self._inputs.setdefault)
        self._kwargs = freeze(kwargs, self._inputs.setdefault)
        for node in self._inputs:
            node.users[self] = None

    def _copied_to(self, graph: Graph, arg_transform: Callable[[Node], Any]) -> Node:
        """A node like this one for `graph`, in one walk of the arguments, which are frozen; not in its list yet, and
        without a name."""
        copy = Node.__new__(Node)
        copy.graph, copy.op, copy.target, copy.type = graph, self.op, self.target, self.type
        copy.users, copy.meta = {}, dict(self.meta)
        copy._prev = copy._next = copy
        copy._erased = False
        inputs: dict[Node, None] = {}
        copy._inputs = inputs

        def counterpart(node: Node) -> Any:
            other = arg_transform(node)
            if isinstance(other, Node):
                inputs[other] = None
                return other
            return freeze(other, inputs.setdefault)

        copy._args = map_frozen(self._args, counterpart)
        copy._kwargs = map_frozen(self._kwargs, counterpart) if self._kwargs else self._kwargs
        for node in inputs:
            node.users[copy] = None
        return copy

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace the positional argument at `idx`."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put another positional argument before the one at `idx`."""
        if not 0 <= idx <= len(self._args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = self._args[:idx] + (arg,) + self._args[idx:]

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set the keyword argument `key`."""
        self.kwargs = {**self._kwargs, key: arg}

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes that stand anywhere in the arguments, each once, in order of appearance."""
        return list(self._inputs)

    @property
    def _input_nodes(self) -> dict[Node, None]:
        return self._inputs  # PyTorch's name

    @property
    def stack_trace(self) -> str | None:
        """Where in the program the node came from, if the tracer was asked to remember it; innermost frame last."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    # ------------------------------------------------------------------------------------------ rewriting

    def replace_input_with(self, old_input: Node, new_input: Any) -> None:
        """Let this node read `new_input` wherever it read `old_input`."""
        args, kwargs = map_arg((self._args, self._kwargs), lambda node: new_input if node is old_input else node)
        self._set_arguments(args, kwargs)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let each user (for which `delete_user_cb` is true) read `replace_with` instead. Returns those users."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already"
                    " has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            self._tell_replaced(replace_with, user)
            user.replace_input_with(self, replace_with)
        return changed

    def _tell_replaced(self, replacement: Node, user: Node) -> None:
        """To those who asked their graph module to be told (`GraphModule._register_replace_node_hook`)."""
        module = self.graph.owning_module
        for hook in getattr(module, "_replace_hooks", ()):
            hook(old=self, new=replacement.name, user=user)

    def _rename(self, candidate: str) -> None:
        """Give the node a name like `candidate`, unique in its graph."""
        if candidate != self.name:
            self.name = self.graph._names.create_name(candidate)

    # ------------------------------------------------------------------------------------------ order

    @property
    def next(self) -> Node:
        """The node executed after this one; the last node's is the graph's root."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node executed before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move `x` to directly before this node."""
        if x.graph is not self.graph:
            raise AssertionError(
                f"Attempting to move a Node into a different Graph: '{x.name}' belongs to another. Copy it with"
                " graph.node_copy."
            )
        if x is not self:
            x._unlink()
            x._prev, x._next = self._prev, self
            self._prev._next = self._prev = x

    def append(self, x: Node) -> None:
        """Move `x` to directly after this node."""
        if x is not self and x is not self._next:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    # ------------------------------------------------------------------------------------------ looking

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether running this node does more than compute its value, so that it must stay even if nobody uses it.

        `impure_random`: whether drawing random numbers counts.
        """
        from minitorch_compile.fx.effects import is_impure

        return is_impure(self, impure_random)

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """The arguments with defaults filled in, by keyword if wanted; None if there is no telling. `root` has the
        modules that are called."""
        from minitorch_compile.fx.operator_schemas import normalize_node

        return normalize_node(self, root, arg_types, kwarg_types, normalize_to_only_use_kwargs)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str:
        """The node as torch.fx prints it."""
        from minitorch_compile.fx.printer import format_node

        return format_node(self)

    @staticmethod
    def _pretty_print_target(target: Any) -> str:
        from minitorch_compile.fx.targets import listed_name

        return listed_name(target)

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return memo.get(id(self), self)  # a node is copied with its graph, and not for itself

    def __repr__(self) -> str:
        return self.name


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function whose calls must never be dropped or merged; also a decorator."""
    from minitorch_compile.fx import effects

    return effects.has_side_effect(fn)


def _format_arg(arg: Any, max_list_len: float = float("inf")) -> str:
    """An argument as listings have it, of a longer list only the beginning."""
    from minitorch_compile.fx.printer import listed_argument

    return listed_argument(arg, max_list_len)


def _get_qualified_name(func: Callable[..., Any]) -> str:
    """PyTorch's name for `targets.qualified_name`."""
    from minitorch_compile.fx.targets import qualified_name

    return qualified_name(func)
