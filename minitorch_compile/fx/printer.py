"""Graphs and nodes as text: torch.fx's listing, a table, and one line.

>>> from minitorch_compile.fx import symbolic_trace
>>> graph = symbolic_trace(lambda x, w: (x @ w + x).relu()).graph
>>> print(tabular(graph))
opcode         name    target           args         kwargs
-------------  ------  ---------------  -----------  ------
placeholder    x       x                ()           {}
placeholder    w       w                ()           {}
call_function  matmul  operator.matmul  (x, w)       {}
call_function  add     operator.add     (matmul, x)  {}
call_method    relu    relu             (add,)       {}
output         output  output           (relu,)      {}
>>> print(compact(graph))
x, w -> ((x @ w) + x).relu()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.effects import writes
from minitorch_compile.fx.expressions import BINARY, UNARY, ExpressionWriter
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.targets import listed_name, short_name, target_name
from minitorch_compile.fx.type_names import type_name
from minitorch_compile.source_place import source_place
from minitorch_compile.symbolic import SymInt, surely_equal

_DTYPE_ABBREVIATIONS = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex32": "c32", "complex64": "c64",
    "complex128": "c128",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "bool": "b8",
}  # fmt: skip


# ---------------------------------------------------------------------------------------------- values


def value_text(value: Any, strides: bool = True) -> str:
    """A tensor as `f32[3, 4]` (with its strides, `f32[3, 4][1, 3]`, if it is not contiguous); "" for None.

    >>> from types import SimpleNamespace as Fake
    >>> value_text(Fake(sizes=(3, 4), strides=(1, 3), dtype="torch.float32"))
    'f32[3, 4][1, 3]'
    """
    if value is None:
        return ""
    if hasattr(value, "sizes") and hasattr(value, "dtype"):
        return _tensor_text(value, strides)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(value_text(item, strides) or 'None' for item in value)})"
    return repr(value) if isinstance(value, (bool, int, float, str, SymInt)) else type(value).__name__


def _tensor_text(tensor: Any, show_strides: bool) -> str:
    name = str(tensor.dtype).rpartition(".")[2]
    text = f"{_DTYPE_ABBREVIATIONS.get(name, name)}{list(tensor.sizes)}"
    strides = getattr(tensor, "strides", None)
    if show_strides and strides is not None and not _is_contiguous(tensor.sizes, strides):
        text += str(list(strides))
    place = str(getattr(tensor, "device", "cpu"))
    return text if place == "cpu" else f"{text} {place}"


def _is_contiguous(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if not surely_equal(size, 1) and not surely_equal(stride, expected):  # looking must not guard anything
            return any(surely_equal(n, 0) for n in sizes)
        expected *= size
    return True


def stack_text(node: Node) -> str:
    """The user's line that a node came from, `train.py:31: y = x @ w`; "" if unknown."""
    stack = node.meta.get("stack")
    if not stack:
        return ""
    filename, line_number, source = stack
    place = source_place(filename, line_number)
    return f"{place}: {source.strip()}" if source else place


# ---------------------------------------------------------------------------------------------- torch.fx's listing


def listed_argument(value: Any, most: float = float("inf")) -> str:
    """An argument in the listing: nodes as %name, as in LLVM; of a list at most so many items."""
    if hasattr(value, "_custom_fx_repr_fn"):
        return value._custom_fx_repr_fn()
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, (tuple, list)):
        shown = [listed_argument(item) for item in value[: len(value) if most == float("inf") else int(most)]]
        left = f", ...[total_len={len(value)}]" if most < len(value) else ""
        if isinstance(value, list):
            return f"[{', '.join(shown)}{left}]"
        return f"({shown[0]},)" if len(value) == 1 and not left else f"({', '.join(shown)}{left})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {listed_argument(item)}" for key, item in value.items()) + "}"
    return str(value)


def format_node(node: Node) -> str:
    """One line of torch.fx's listing."""
    if node.op == "output":
        return f"return {node.args[0]}"
    kind = "" if node.type is None else f"{type_name(node.type)} "
    head = f"%{node.name} : {kind}[num_users={len(node.users)}] = {node.op}[target={listed_name(node.target)}]"
    if node.op == "get_attr":
        return head
    if node.op == "placeholder":
        return f"{head}(default={node.args[0]})" if node.args else head
    return f"{head}(args = {listed_argument(node.args)}, kwargs = {listed_argument(node.kwargs)})"


def format_graph(graph: Graph) -> str:
    """The whole listing, as `print(graph)` shows it."""
    return "\n    ".join(["graph():", *map(format_node, graph.nodes)])


def tabular(graph: Graph) -> str:
    """A table with a row for each node."""
    write = ExpressionWriter().argument
    rows = [(n.op, n.name, target_name(n.target), write(n.args), write(n.kwargs)) for n in graph.nodes]
    return table(("opcode", "name", "target", "args", "kwargs"), rows)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned to the left under a heading.

    >>> print(table(("name", "sizes"), [("x", "[3]")]))
    name  sizes
    ----  -----
    x     [3]
    """
    widths = [max(len(row[column]) for row in (heading, *rows)) for column in range(len(heading))]
    lines = [heading, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


# ---------------------------------------------------------------------------------------------- one line


class _CompactWriter(ExpressionWriter):
    """Writes a node that is used once in place of its use; operators in operators get parentheses."""

    def __init__(self, graph: Graph) -> None:
        # Text that moves past a write would read another value than the program does.
        may_move = not any(map(writes, graph.nodes))
        self.inlined = {node for node in graph.nodes if may_move and _is_used_once(node)}

    def target(self, target: Any) -> str:
        return short_name(target)

    def node(self, node: Node) -> str:
        return self.expression(node) if node in self.inlined else node.name

    def operand(self, value: Any) -> str:
        text = super().operand(value)
        infix = isinstance(value, Node) and value in self.inlined and (value.target in BINARY or value.target in UNARY)
        return f"({text})" if infix else text

    receiver = operand


def _is_used_once(node: Node) -> bool:
    reads: list[Node] = []
    map_arg([(user.args, user.kwargs) for user in node.users], reads.append)
    return node.op not in ("placeholder", "output") and not node.is_impure() and reads.count(node) == 1


def compact(graph: Graph) -> str:
    """The graph in one line. What is used more than once is named first.

    >>> from minitorch_compile.fx import symbolic_trace
    >>> print(compact(symbolic_trace(lambda x: x.exp() / x.exp().sum(dim=1)).graph))
    x -> x.exp() / x.exp().sum(dim=1)
    >>> def softmax(x):
    ...     e = x.exp()
    ...     return e / e.sum(dim=1)
    >>> print(compact(symbolic_trace(softmax).graph))
    x -> exp = x.exp(); exp / exp.sum(dim=1)
    """
    writer = _CompactWriter(graph)
    inputs = [node.name for node in graph.find_nodes(op="placeholder")]
    steps = []
    for node in graph.nodes:
        if node.op == "output":
            steps.append(writer.expression(node))
        elif node.op != "placeholder" and node not in writer.inlined:
            steps.append(f"{node.name} = {writer.expression(node)}")
    return f"{', '.join(inputs)} -> {'; '.join(steps)}"
