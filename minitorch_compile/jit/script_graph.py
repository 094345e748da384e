"""A scripted function as a graph: `graph`, a node per operation.

>>> from minitorch_compile.jit.frontend import definition_of
>>> def positive(x):
...     if x.sum() > 0:
...         return x
...     return -x
>>> print(graph_of(definition_of(positive)))
graph(%x : Tensor):
  %0 = aten::sum(%x)
  %1 = prim::Constant[value=0]()
  %2 = aten::gt(%0, %1)
   = prim::If(%2)
    block0():
      return (%x)
  %3 = aten::neg(%x)
  return (%3)
<BLANKLINE>

In TorchScript's graphs each value has a type, and one name for good; here a variable that a branch or a loop assigns to
keeps its name, and a `return` stands where the program has it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from minitorch_compile.jit.frontend import Definition
from minitorch_compile.jit.script_types import type_text

OPERATORS: dict[type[ast.AST], str] = {
    **{ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "matmul", ast.Mod: "remainder"},
    **{ast.Pow: "pow", ast.FloorDiv: "floordiv", ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__"},
    **{ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.USub: "neg", ast.Not: "__not__"},
    **{ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Is: "__is__"},
    **{ast.IsNot: "__isnot__", ast.In: "__contains__", ast.NotIn: "__not_contains__", ast.UAdd: "pos"},
    **{ast.And: "__and__", ast.Or: "__or__", ast.Invert: "bitwise_not"},
}  # fmt: skip
CONSTRUCTED: dict[type[ast.AST], str] = {
    ast.Tuple: "prim::TupleConstruct",
    ast.List: "prim::ListConstruct",
    ast.Dict: "prim::DictConstruct",
    ast.JoinedStr: "aten::format",
    ast.Slice: "prim::slice",
}


@dataclass
class Node:
    """An operation: its kind, the names of what it takes and gives, its attributes as text, the blocks within it."""

    _kind: str
    _inputs: list[str]
    _outputs: list[str]
    attributes: str = ""
    _blocks: list[list[Node]] = field(default_factory=list)

    def kind(self) -> str:
        """`aten::add`, `prim::If`, ..."""
        return self._kind

    def inputs(self) -> Iterator[str]:
        """The names of what it takes."""
        return iter(self._inputs)

    def outputs(self) -> Iterator[str]:
        """The names of what it gives."""
        return iter(self._outputs)

    def blocks(self) -> Iterator[list[Node]]:
        """The nodes of each branch, or of the body of a loop."""
        return iter(self._blocks)

    def lines(self, indent: str) -> Iterator[str]:
        """As text."""
        inputs = ", ".join("%" + name for name in self._inputs)
        if self._kind == "prim::Return":
            yield f"{indent}return ({inputs})"
            return
        yield f"{indent}{', '.join('%' + name for name in self._outputs)} = {self._kind}{self.attributes}({inputs})"
        for number, block in enumerate(self._blocks):
            yield f"{indent}  block{number}():"
            for node in block:
                yield from node.lines(indent + "    ")

    def __str__(self) -> str:
        return "\n".join(self.lines("")) + "\n"


class ScriptGraph:
    """The nodes of a function in their order, and the names and types of its arguments."""

    def __init__(self, arguments: list[tuple[str, str]], nodes: list[Node]) -> None:
        self.arguments, self._nodes = arguments, nodes

    def nodes(self) -> Iterator[Node]:
        """The nodes outside of branches and loops."""
        return iter(self._nodes)

    def inputs(self) -> Iterator[str]:
        """The names of the arguments."""
        return iter([name for name, _ in self.arguments])

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """The nodes of a kind, with `recurse` also those within branches and loops."""
        return [node for node in _all(self._nodes, recurse) if node.kind() == kind]

    def findNode(self, kind: str, recurse: bool = True) -> Node | None:
        """The first node of a kind."""
        return next(iter(self.findAllNodes(kind, recurse)), None)

    def __str__(self) -> str:
        arguments = ",\n      ".join(f"%{name} : {kind}" for name, kind in self.arguments)
        lines = [line for node in self._nodes for line in node.lines("  ")]
        return "\n".join([f"graph({arguments}):", *lines]) + "\n"

    __repr__ = __str__


def _all(nodes: list[Node], recurse: bool) -> Iterator[Node]:
    for node in nodes:
        yield node
        for block in node.blocks() if recurse else ():
            yield from _all(block, recurse)


def graph_of(definition: Definition, itself: str = "") -> ScriptGraph:
    """The graph of a function. `itself`: what the class of a method is called."""
    arguments = [(name, type_text(wanted)) for name, wanted in definition.types.items()]
    every = [arg.arg for arg in definition.tree.args.args]
    mine = [(name, f"__torch__.{itself}") for name in every if name not in definition.types]
    writer = _Writer(mine[0][0] if mine else None)
    writer.statements(definition.tree.body)
    return ScriptGraph([*mine, *arguments], writer.nodes)


class _Writer:
    """Writes a node for each operation of a text; `values` says which value a variable names."""

    def __init__(self, itself: str | None) -> None:
        self.itself = itself
        self.nodes: list[Node] = []
        self.values: dict[str, str] = {}
        self.count = 0

    def add(self, kind: str, inputs: list[str], attributes: str = "", blocks: list[list[Node]] | None = None) -> str:
        name, self.count = str(self.count), self.count + 1
        self.nodes.append(Node(kind, inputs, [name], attributes, blocks or []))
        return name

    def block(self, body: list[ast.stmt] | ast.expr) -> list[Node]:
        """The nodes of a branch. What it assigns keeps the variable's name afterwards."""
        outer, self.nodes = self.nodes, []
        if isinstance(body, list):
            before = dict(self.values)
            self.statements(body)
            self.values = {name: value if before.get(name) == value else name for name, value in self.values.items()}
        else:
            self.nodes.append(Node("prim::Return", [self.expression(body)], []))
        made, self.nodes = self.nodes, outer
        return made

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            method = getattr(self, "write_" + type(statement).__name__, None)
            if method is not None:
                method(statement)

    # -------------------------------------------------------------------------------------------- statements

    def write_Expr(self, node: ast.Expr) -> None:
        self.expression(node.value)

    def write_Assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def write_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))

    def write_AugAssign(self, node: ast.AugAssign) -> None:
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        kind = f"aten::{OPERATORS[type(node.op)]}_"
        self.assign(node.target, self.add(kind, [self.expression(read), self.expression(node.value)]))

    def assign(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Name):
            self.values[target.id] = value
        elif isinstance(target, ast.Attribute):
            inputs = [self.expression(target.value), value]
            self.nodes.append(Node("prim::SetAttr", inputs, [], f'[name="{target.attr}"]'))
        elif isinstance(target, ast.Subscript):
            inputs = [self.expression(target.value), self.expression(target.slice), value]
            self.nodes.append(Node("aten::_set_item", inputs, []))
        elif isinstance(target, (ast.Tuple, ast.List)):
            names = [ast.unparse(part) for part in target.elts]
            self.nodes.append(Node("prim::TupleUnpack", [value], names))
            self.values.update({name: name for name in names})

    def write_Return(self, node: ast.Return) -> None:
        inputs = [self.expression(node.value)] if node.value is not None else []
        self.nodes.append(Node("prim::Return", inputs, []))

    def write_If(self, node: ast.If) -> None:
        condition = self.expression(node.test)
        branches = [self.block(body) for body in (node.body, node.orelse) if body]
        self.nodes.append(Node("prim::If", [condition], [], "", branches))

    def write_For(self, node: ast.For) -> None:
        over = self.expression(node.iter)
        for part in ast.walk(node.target):
            if isinstance(part, ast.Name):
                self.values[part.id] = part.id
        text = f"[for={ast.unparse(node.target)}]"
        self.nodes.append(Node("prim::Loop", [over], [], text, [self.block(node.body)]))

    def write_While(self, node: ast.While) -> None:
        self.nodes.append(Node("prim::Loop", [], [], "[while]", [self.block(node.test), self.block(node.body)]))

    def write_With(self, node: ast.With) -> None:
        inputs = [self.expression(item.context_expr) for item in node.items]
        self.nodes.append(Node("prim::With", inputs, [], "", [self.block(node.body)]))

    def write_Assert(self, node: ast.Assert) -> None:
        condition = self.expression(node.test)
        text = f"[value={ast.unparse(node.msg) if node.msg is not None else ''}]"
        raised = [Node("prim::RaiseException", [], [], text)]
        self.nodes.append(Node("prim::If", [condition], [], "", [[], raised]))

    def write_Raise(self, node: ast.Raise) -> None:
        text = ast.unparse(node.exc) if node.exc is not None else ""
        self.nodes.append(Node("prim::RaiseException", [], [], f"[value={text}]"))

    # -------------------------------------------------------------------------------------------- expressions

    def expression(self, node: ast.expr) -> str:
        """Writes what an expression needs, and says what its value is called."""
        if isinstance(node, ast.Name):
            return self.values.get(node.id, node.id)
        if isinstance(node, ast.Constant):
            return self.add("prim::Constant", [], f"[value={node.value!r}]")
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Attribute):
            return self.add("prim::GetAttr", [self.expression(node.value)], f'[name="{node.attr}"]')
        if isinstance(node, ast.IfExp):
            blocks = [self.block(node.body), self.block(node.orelse)]
            return self.add("prim::If", [self.expression(node.test)], "", blocks)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
            element = node.value if isinstance(node, ast.DictComp) else node.elt
            over = [self.expression(part.iter) for part in node.generators]
            return self.add(
                "prim::Loop", over, f"[for={ast.unparse(node.generators[0].target)}]", [self.block(element)]
            )
        operators: list[ast.AST] = [node.op] if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp)) else []
        kind = CONSTRUCTED.get(type(node), "aten::__getitem__")
        if isinstance(node, ast.Compare):
            operators = list(node.ops)
        if operators:
            kind = "aten::" + OPERATORS[type(operators[0])]
        return self.add(
            kind, [self.expression(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        )

    def call(self, node: ast.Call) -> str:
        """A call of a method of the module, of one of its parts, of a value's method, or of a function."""
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        called = node.func
        if isinstance(called, ast.Attribute) and self.is_module(called.value):
            owner = self.expression(called.value)
            return self.add("prim::CallMethod", [owner, *map(self.expression, given)], f'[name="{called.attr}"]')
        if isinstance(called, ast.Attribute) and isinstance(called.value, (ast.Attribute, ast.Name)):
            path = ast.unparse(called.value)
            if path.partition(".")[0] in ("torch", "F", "nn"):  # a function by its usual path
                return self.add(f"aten::{called.attr}", [*map(self.expression, given)])
        if isinstance(called, ast.Attribute):
            owner = self.expression(called.value)
            return self.add(f"aten::{called.attr}", [owner, *map(self.expression, given)])
        inputs = [*map(self.expression, given)]
        return self.add("prim::CallFunction", inputs, f'[name="{ast.unparse(called)}"]')

    def is_module(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.itself
