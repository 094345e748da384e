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

import inspect
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.names import Namespace, snake_case
from minitorch_compile.fx.node import OPCODES, Node, Target
from minitorch_compile.fx.targets import short_name

if TYPE_CHECKING:
    from minitorch_compile.fx.code_generator import CodeGen, PythonCode
    from minitorch_compile.fx.graph_module import GraphModule
    from minitorch_compile.fx.graph_view import GraphView


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


class InsertPoint:
    """Where new nodes of a graph go, until the end of a `with`."""

    def __init__(self, graph: Graph, before: Node) -> None:
        if before.graph is not graph:
            raise AssertionError(f"inserting_before/after: node '{before.name}' is not in the graph.")
        self.graph, self.saved = graph, graph._insert_before
        graph._insert_before = before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.graph._insert_before = self.saved


class Graph:
    """Nodes in execution order, and the place where the next one will go (at the end, unless told otherwise)."""

    def __init__(
        self, owning_module: GraphModule | None = None, tracer_cls: type | None = None, tracer_extras: Any = None
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})  # closes the ring; never seen from outside
        self._insert_before = self._root
        self._names = Namespace()
        self._node_count = 0
        self.owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._own_codegen: CodeGen | None = None

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
        type_expr: Any | None = None,
    ) -> Node:
        """Insert a node of any kind. `name` is a wish; the node's name is unique in the graph. `type_expr`: how the
        program annotates the value."""
        if op not in OPCODES:
            raise AssertionError(f"op {op!r} is not in _legal_ops: expected one of {', '.join(OPCODES)}")
        unique = self._names.create_name(name or short_name(target))
        return self._inserted(Node(self, unique, op, target, args or (), kwargs or {}, type_expr))

    def _inserted(self, node: Node) -> Node:
        self._insert_before.prepend(node)
        self._node_count += 1
        if self.owning_module is not None:
            self.owning_module._node_created(node)
        return node

    def placeholder(
        self, name: str, type_expr: Any | None = None, default_value: Any = inspect.Signature.empty
    ) -> Node:
        """An argument of the function that the graph is."""
        default = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, default, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """A constant kept in the graph module under this name."""
        self._warn_unless_there("get_attr", qualified_name)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
        name: str | None = None,
    ) -> Node:
        """`the_function(*args, **kwargs)`."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
        name: str | None = None,
    ) -> Node:
        """`args[0].method_name(*args[1:], **kwargs)`."""
        if not args:
            raise ValueError(
                f"call_method: args must begin with the object whose {method_name!r} is called; it is empty."
            )
        return self.create_node("call_method", method_name, args, kwargs, name, type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
        name: str | None = None,
    ) -> Node:
        """Call the graph module's attribute `module_name`."""
        self._warn_unless_there("call_module", module_name)
        return self.create_node("call_module", module_name, args, kwargs, name, type_expr)

    def _warn_unless_there(self, op: str, name: str) -> None:
        if self.owning_module is not None and name not in self.owning_module.attributes:
            warnings.warn(
                f"Attempted to insert a {op} Node with no underlying reference in the owning GraphModule! Call"
                " GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the"
                " necessary Parameter, or nn.Module.register_buffer to add the necessary buffer",
                stacklevel=3,
            )

    def output(self, result: Any, type_expr: Any | None = None) -> Node:
        """What the function returns; the last node of a graph."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    # ------------------------------------------------------------------------------------------ copying

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node) -> Node:
        """Insert a copy of `node`, usually from another graph; `arg_transform` gives the counterpart of each input."""
        copy = node._copied_to(self, arg_transform)
        copy.name = self._names.create_name(node.name)  # now: the transform may have made nodes, or have failed
        return self._inserted(copy)

    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Insert copies of all nodes of `g` that are not keys of `val_map` yet, and enter them there.

        Returns the value that `g` returns, in terms of this graph (with `return_output_node`, also its output
        node). The output node itself is not copied, so that several graphs can be joined.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], val_map.__getitem__)
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """A graph with its own nodes; targets, constants and the values in `meta` are shared."""
        copy = Graph(tracer_cls=self._tracer_cls)
        copy._own_codegen = deepcopy(self._own_codegen, memo)
        val_map: dict[Node, Node] = {}
        memo[id(self)] = copy
        for node in self.nodes:
            val_map[node] = copy.node_copy(node, val_map.__getitem__)
            memo[id(node)] = val_map[node]
        return copy

    # ------------------------------------------------------------------------------------------ changing

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nobody uses."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph:"
                f" {to_erase.users}! Call {to_erase.name}.replace_all_uses_with(...) first."
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph: it belongs to another graph.")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        if self.owning_module is not None:
            self.owning_module._node_erased(to_erase)
        if self._insert_before is to_erase:
            self._insert_before = to_erase._next
        to_erase.args, to_erase.kwargs = (), {}
        to_erase._unlink()
        to_erase._erased = True  # it keeps its links: an iteration that stands on it can go on
        self._node_count -= 1

    def inserting_before(self, n: Node | None = None) -> InsertPoint:
        """Inside a `with`, new nodes go directly before `n` (before all others, if None), in the order in which they
        are made. Without a `with`, from now on."""
        return InsertPoint(self, self._root._next if n is None else n)

    def inserting_after(self, n: Node | None = None) -> InsertPoint:
        """As `inserting_before`, but behind `n`; behind all others, if None."""
        return InsertPoint(self, self._root if n is None else n._next)

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

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """All nodes of a kind (and target), in execution order, whatever `sort` says."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def lint(self) -> None:
        """Raise RuntimeError unless the graph is well formed; see lint.py for what that means."""
        from minitorch_compile.fx.lint import lint

        lint(self)

    def python_code(self, root_module: str = "self", **options: Any) -> PythonCode:
        """The graph as the source of a Python function `forward`, with the globals that it needs. Options: see
        `code_generator.CodeGen`."""
        return self._codegen._gen_python_code(self.nodes, root_module, **options)

    @property
    def _codegen(self) -> CodeGen:
        """Who writes the code: by default, PyTorch's text."""
        if self._own_codegen is None:
            from minitorch_compile.fx.code_generator import CodeGen

            self._own_codegen = CodeGen()
        return self._own_codegen

    @_codegen.setter
    def _codegen(self, codegen: CodeGen) -> None:
        self._own_codegen = codegen

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let `codegen` write the code from now on."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Any]) -> Any:
        """Let a function change the lines of the code: `make_transformer` is given the one before, or None. What is
        returned is a context manager, at whose end the one before holds again."""
        return self._codegen.transform_body(make_transformer)

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the function as those of the graph: they differ if the code flattens them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The value of the graph as that of the function."""
        return self._codegen.process_outputs(out)

    def _target_to_str(self, target: Target) -> str:
        """The name that a tracer wishes for a node."""
        return snake_case(short_name(target))

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


# PyTorch has these names in this module, too.
ELSEWHERE = ("CodeGen", "PythonCode", "inplace_methods", "magic_methods", "reflectable_magic_methods")


def __getattr__(name: str) -> Any:
    if name in ELSEWHERE:
        from minitorch_compile.fx import code_generator

        return getattr(code_generator, name)
    if name in ("_PyTreeCodeGen", "_PyTreeInfo"):
        from minitorch_compile.fx import pytree_code

        return getattr(pytree_code, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
