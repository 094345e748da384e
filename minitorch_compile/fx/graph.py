"""A program as a list of nodes in execution order.

>>> import operator
>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x, w = graph.placeholder("x"), graph.placeholder("w")
>>> product = graph.call_function(operator.matmul, (x, w))
>>> relu = graph.call_method("relu", (product,))
>>> _ = graph.output((relu,))
>>> print(graph)
graph():
    %x : [num_users=1] = placeholder[target=x]
    %w : [num_users=1] = placeholder[target=w]
    %matmul : [num_users=1] = call_function[target=operator.matmul](args = (%x, %w), kwargs = {})
    %relu : [num_users=1] = call_method[target=relu](args = (%matmul,), kwargs = {})
    return (relu,)
>>> print(graph.compact())
x, w -> ((x @ w).relu(),)

Nodes form a doubly linked list, so a pass can insert and erase while it walks:

>>> with graph.inserting_after(product):
...     scaled = graph.call_function(operator.mul, (product, 2))
>>> relu.replace_input_with(product, scaled)
>>> graph.lint()
>>> print(graph.compact())
x, w -> (((x @ w) * 2).relu(),)

API and semantics are those of torch.fx.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.names import Namespace
from minitorch_compile.fx.node import OPCODES, Node, Target
from minitorch_compile.fx.targets import short_name

if TYPE_CHECKING:
    from minitorch_compile.fx.codegen import PythonCode
    from minitorch_compile.fx.graph_module import GraphModule
    from minitorch_compile.fx.graph_view import GraphView

REQUIRED = object()  # a placeholder without a default value


class NodeList:
    """The nodes of a graph in execution order. The node at hand may be erased, or others inserted, while iterating."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __len__(self) -> int:
        return self._graph._node_count

    def __iter__(self) -> Iterator[Node]:
        return self._walk("_next")

    def __reversed__(self) -> Iterator[Node]:
        return self._walk("_prev")

    def _walk(self, link: str) -> Iterator[Node]:
        root = self._graph._root
        node = getattr(root, link)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, link)

    def __repr__(self) -> str:
        return repr(list(self))


class Graph:
    """Nodes in execution order, and the place where the next one will go (at the end, unless told otherwise)."""

    def __init__(self) -> None:
        self._root = Node(self, "", "root", "", (), {})  # closes the ring; never seen from outside
        self._insert_before = self._root
        self._names = Namespace()
        self._node_count = 0
        self.owning_module: GraphModule | None = None

    @property
    def nodes(self) -> NodeList:
        return NodeList(self)

    # ------------------------------------------------------------------------------------------ making nodes

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Node:
        """Insert a node of any kind. `name` is a wish; the node's name is unique in the graph."""
        if op not in OPCODES:
            raise ValueError(f"create_node: op must be one of {', '.join(OPCODES)}, but got {op!r}.")
        if op == "call_function" and not callable(target):
            raise TypeError(f"create_node: the target of a call_function must be callable, but got {target!r}.")
        if op != "call_function" and not isinstance(target, str):
            raise TypeError(f"create_node: the target of a {op} must be a string, but got {target!r}.")
        unique = self._names.create_name(name or short_name(target))
        node = Node(self, unique, op, target, args or (), kwargs or {})
        self._insert_before.prepend(node)
        self._node_count += 1
        return node

    def placeholder(self, name: str, default_value: Any = REQUIRED) -> Node:
        """An argument of the function that the graph is."""
        return self.create_node("placeholder", name, () if default_value is REQUIRED else (default_value,))

    def get_attr(self, qualified_name: str) -> Node:
        """A constant kept in the graph module under this name."""
        return self.create_node("get_attr", qualified_name)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Node:
        """`the_function(*args, **kwargs)`."""
        return self.create_node("call_function", the_function, args, kwargs, name)

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Node:
        """`args[0].method_name(*args[1:], **kwargs)`."""
        if not args:
            raise ValueError(
                f"call_method: args must begin with the object whose {method_name!r} is called; it is empty."
            )
        return self.create_node("call_method", method_name, args, kwargs, name)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Node:
        """Call the graph module's attribute `module_name`."""
        return self.create_node("call_module", module_name, args, kwargs, name)

    def output(self, result: Any) -> Node:
        """What the function returns; the last node of a graph."""
        return self.create_node("output", "output", (result,))

    # ------------------------------------------------------------------------------------------ copying

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node) -> Node:
        """Insert a copy of `node`, usually from another graph; `arg_transform` gives the counterpart of each input."""
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        copy = self.create_node(node.op, node.target, args, kwargs, node.name)
        copy.meta = dict(node.meta)
        return copy

    def graph_copy(self, graph: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Insert copies of all nodes of `graph` that are not keys of `val_map` yet, and enter them there.

        Returns the value that `graph` returns, in terms of this graph (with `return_output_node`, also its output
        node). The output node itself is not copied, so that several graphs can be joined.
        """
        for node in graph.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], val_map.__getitem__)
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """A graph with its own nodes; targets, constants and the values in `meta` are shared."""
        copy = Graph()
        val_map: dict[Node, Node] = {}
        memo[id(self)] = copy
        for node in self.nodes:
            val_map[node] = copy.node_copy(node, val_map.__getitem__)
        return copy

    # ------------------------------------------------------------------------------------------ changing

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nobody uses."""
        if to_erase.graph is not self:
            raise RuntimeError(f"erase_node: node '{to_erase.name}' belongs to another graph.")
        if to_erase.users:
            users = ", ".join(user.name for user in to_erase.users)
            raise RuntimeError(
                f"erase_node: tried to erase node '{to_erase.name}' but it still has {len(to_erase.users)} users in "
                f"the graph: {users}. Call {to_erase.name}.replace_all_uses_with(...) first."
            )
        if to_erase._erased:
            return
        if self._insert_before is to_erase:
            self._insert_before = to_erase._next
        to_erase.args, to_erase.kwargs = (), {}
        to_erase._unlink()
        to_erase._erased = True  # it keeps its links: an iteration that stands on it can go on
        self._node_count -= 1

    @contextmanager
    def inserting_before(self, node: Node) -> Iterator[None]:
        """Inside, new nodes go directly before `node`, in the order in which they are made."""
        if node.graph is not self:
            raise RuntimeError(f"inserting_before/after: node '{node.name}' belongs to another graph.")
        saved, self._insert_before = self._insert_before, node
        try:
            yield
        finally:
            self._insert_before = saved

    def inserting_after(self, node: Node) -> Any:
        """Inside, new nodes go behind `node`, in the order in which they are made."""
        return self.inserting_before(node._next)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase what has no users and no effect. Returns whether anything changed."""
        impure = is_impure_node or Node.is_impure
        before = len(self.nodes)
        for node in reversed(self.nodes):  # users first, so that a dead chain goes in one sweep
            if not node.users and not impure(node):
                self.erase_node(node)
        return len(self.nodes) < before

    # ------------------------------------------------------------------------------------------ looking

    def output_node(self) -> Node:
        """The output node; RuntimeError if the graph has none."""
        for node in reversed(self.nodes):
            if node.op == "output":
                return node
        raise RuntimeError("output_node: the graph has no output node. Finish it with graph.output(value).")

    def find_nodes(self, *, op: str, target: Target | None = None) -> list[Node]:
        """All nodes of a kind (and target), in execution order."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def lint(self) -> None:
        """Raise RuntimeError unless the graph is well formed; see lint.py for what that means."""
        from minitorch_compile.fx.lint import lint

        lint(self)

    def python_code(self) -> PythonCode:
        """The graph as the source of a Python function `forward`, with the globals that it needs."""
        from minitorch_compile.fx.codegen import python_code

        return python_code(self)

    def compact(self) -> str:
        """The graph in one line, `x, w -> (x @ w).relu()`: for docstrings and small examples."""
        from minitorch_compile.fx.printer import compact

        return compact(self)

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        from minitorch_compile.fx.printer import tabular

        print(tabular(self))

    def draw(self, **options: Any) -> GraphView:
        """A drawing, shown by notebooks as a picture and by terminals as a table. Options: see draw.py."""
        from minitorch_compile.fx.draw import draw

        return draw(self, **options)

    def __str__(self) -> str:
        from minitorch_compile.fx.printer import format_graph

        return format_graph(self)

    __repr__ = __str__
