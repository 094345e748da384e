"""A graph as the source of a Python function, as PyTorch writes it: what `GraphModule.code` is.

>>> from minitorch_compile.fx import Graph
>>> from minitorch_compile.tensor import ops
>>> graph = Graph()
>>> x, w = graph.placeholder("x"), graph.get_attr("layers.0.weight")
>>> _ = graph.output(graph.call_function(ops.mul, (graph.call_method("relu", (x,)), w)))
>>> print(graph.python_code().src.strip())
def forward(self, x):
    layers_0_weight = getattr(self.layers, "0").weight
    relu = x.relu();  x = None
    mul = torch.mul(relu, layers_0_weight);  relu = layers_0_weight = None
    return mul

A value is let go after its last use. What has no name that the text could use is passed to it as a global. A subclass
of CodeGen writes other signatures and results (`pytree_code.py`); `codegen.py` writes for readers.
"""

from __future__ import annotations

import inspect
import json
import math
import operator
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from minitorch_compile import pytree
from minitorch_compile.fx.expressions import BINARY, UNARY, ExpressionWriter
from minitorch_compile.fx.names import Namespace
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import value_text
from minitorch_compile.fx.targets import PACKAGE, package, qualified_name, reachable, torch_name
from minitorch_compile.fx.type_names import type_name
from minitorch_compile.tensor.memory.device import device

INDENT = "    "
NoneType = type(None)
# Names that every text may use, each with the statement that brings it.
COMMON = {
    "inf": ("from math import inf", math.inf),
    "nan": ("from math import nan", math.nan),
    "NoneType": ("NoneType = type(None)", NoneType),
    "torch": (f"import {PACKAGE} as torch", None),
    "device": (f"from {PACKAGE} import device", device),
    "fx_pytree": (f"import {PACKAGE}.fx._pytree as fx_pytree", None),
    "pytree": (f"import {PACKAGE}.pytree as pytree", pytree),
}
IN_PLACE = {getattr(operator, f"i{f.__name__.strip('_')}"): f"{text}="
            for f, text in BINARY.items() if hasattr(operator, f"i{f.__name__.strip('_')}")}  # fmt: skip
# By the names of the functions in `operator`, as PyTorch has them.
magic_methods = {f.__name__: f"{{}} {text} {{}}" for f, text in BINARY.items()}
magic_methods |= {f.__name__: f"{text}{{}}" for f, text in UNARY.items()} | {"getitem": "{}[{}]"}
inplace_methods = {f.__name__: f"{{}} {text} {{}}" for f, text in IN_PLACE.items()}
reflectable_magic_methods = {f.__name__: f"{{}} {text} {{}}" for f, text in BINARY.items() if text not in "==!=<=>="}
_FRAME = re.compile(r'File "(.+)", line (\d+), in (.+)')

LineTransformer = Callable[[list[str]], list[str]]


@dataclass
class PythonCode:
    """The source of a function, the globals that it refers to, and which node each line (from 1) came from."""

    src: str
    globals: dict[str, Any]
    line_map: dict[int, Node] = field(default_factory=dict)

    @property
    def _lineno_map(self) -> dict[int, int | None]:
        """PyTorch's form: by the number of a node."""
        order: dict[Node, int] = {}
        for node in self.line_map.values():
            order.setdefault(node, len(order))
        return {line: order[node] for line, node in self.line_map.items()}


class CodeGen:
    """Writes the function. A subclass overrides the beginning, the end, or what the text may refer to."""

    def __init__(self) -> None:
        self._body_transformer: LineTransformer | None = None
        self._func_name = "forward"

    # ------------------------------------------------------------------------------------------ to override

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """`def forward(self, x):`. `free_vars` are the parameters, with annotations and defaults."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, repr_fn: Callable[[Any], str] = repr) -> str:
        """The statement that returns."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of the function as those of the graph."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The value of the graph as that of the function."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the text uses besides those of the nodes, with their values."""
        return []

    # ------------------------------------------------------------------------------------------ the text

    def transform_body(self, make_transformer: Callable[[LineTransformer | None], LineTransformer]) -> BodyChange:
        """See `Graph.on_generate_code`."""
        return BodyChange(self, make_transformer(self._body_transformer))

    def _gen_python_code(
        self,
        nodes: Iterable[Node],
        root_module: str = "self",
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        **_: Any,
    ) -> PythonCode:
        """`verbose`: with the user's lines and with what is known about the values, with strides if wanted."""
        text = _Text(self, list(nodes), root_module)
        text.verbose, text.strides = verbose, include_stride
        return text.code()


class BodyChange:
    """A change of how bodies are written, in force from the beginning; a `with` ends it."""

    def __init__(self, codegen: CodeGen, transformer: LineTransformer) -> None:
        self.codegen, self.before = codegen, codegen._body_transformer
        codegen._body_transformer = transformer

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.codegen._body_transformer = self.before


class _Text(ExpressionWriter):
    """One text, while it is being written."""

    verbose = strides = False

    def __init__(self, codegen: CodeGen, nodes: list[Node], root_module: str) -> None:
        self.codegen, self.nodes, self.root_module = codegen, nodes, root_module
        self.parameters: list[str] = []
        self.body: list[str] = []
        self.sources: list[Node] = []  # of each entry of the body
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.returns = ""
        self._names = Namespace(for_globals=True)
        self._global_names: dict[int, tuple[str, Any]] = {}
        self._last_place = ""
        for node in nodes:
            self._names.create_name(node.name)
        for name, (_, value) in COMMON.items():
            self.globals[name] = package(name) if value is None else value
            self._names.create_name(name)

    def code(self) -> PythonCode:
        dead_after = last_uses(self.nodes)
        for node in self.nodes:
            self._emit(node, dead_after.get(node, []))
        body = self.body or ["pass\n"]
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        for name, value in self.codegen.additional_globals():
            self.globals[name] = value
        prologue = self.codegen.gen_fn_def(self.parameters, self.returns)
        wraps = "".join(f'\ntorch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped) or "\n"
        head = f"{wraps}\n\n{prologue}\n"
        lines = "".join(body).lstrip("\n").split("\n")
        return PythonCode(head + "\n".join(INDENT + line for line in lines), self.globals, self._line_map(head, body))

    def _line_map(self, head: str, body: list[str]) -> dict[int, Node]:
        if len(body) != len(self.sources):  # somebody has changed it
            return {}
        line, result, skipped = head.count("\n") + 1, {}, not self.body or not self.body[0].startswith("\n")
        for text, node in zip(body, self.sources):
            for piece in text.splitlines():
                if not piece and not skipped:  # blank lines at the beginning are left out
                    continue
                skipped = True
                result[line] = node
                line += 1
        return result

    # ------------------------------------------------------------------------------------------ statements

    def _emit(self, node: Node, dead: list[Node]) -> None:
        if self.verbose and node.op not in ("placeholder", "output"):
            self._place(node)
        statement = self._statement(node)
        if statement is not None:
            if dead and node.op != "placeholder":
                statement += f";  {' = '.join([*(each.name for each in dead), 'None'])}"
            self._add(f"{statement}\n", node)

    def _add(self, text: str, node: Node) -> None:
        self.body.append(text)
        self.sources.append(node)

    def _statement(self, node: Node) -> str | None:
        if node.op == "placeholder":
            return self._parameter(node)
        if node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type_text(node.type)}"
            return self._output(node.args[0])
        if node.op == "call_function" and node.target in IN_PLACE and len(node.args) == 2 and not node.kwargs:
            first, second = map(self.argument, node.args)
            return f"{first} {IN_PLACE[node.target]} {second};  {self._annotated(node)} = {first}"
        return f"{self._annotated(node)} = {self.expression(node)}"

    def _output(self, value: Any) -> str:
        generate = self.codegen.generate_output
        if "repr_fn" in inspect.signature(generate).parameters:
            return generate(value, repr_fn=self.argument)
        return generate(value)  # of a subclass, which writes arguments as they print themselves

    def _parameter(self, node: Node) -> str | None:
        name = str(node.target)
        default = f" = {self.argument(node.args[0])}" if node.args else ""
        self.parameters.append(f"{name}{self._annotation(node)}{default}")
        bare = name.lstrip("*")
        return f"{node.name} = {bare}" if bare != node.name else None

    def _annotated(self, node: Node) -> str:
        return node.name + self._annotation(node)

    def _annotation(self, node: Node) -> str:
        known = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        text = value_text(known, self.strides) if self.verbose and hasattr(known, "dtype") else ""
        if text:
            return f': "{text}"'
        return "" if node.type is None else f" : {self.type_text(node.type)}"

    def _place(self, node: Node) -> None:
        """A comment with the line that the node came from, unless it is that of the node before."""
        found = _FRAME.findall(node.stack_trace or "")
        place = "# No stacktrace found for following nodes"
        if found:
            file, line, function = found[-1]
            source = (node.stack_trace or "").rstrip().splitlines()[-1].strip()
            place = f"# File: {file}:{line} in {function}, code: {source}"
        if place != self._last_place:
            self._last_place = place
            self._add(f"\n{place}\n", node)

    # ------------------------------------------------------------------------------------------ expressions

    def expression(self, node: Node) -> str:
        if node.op == "call_function" and node.target not in BINARY and node.target not in UNARY:
            return self._call(node)
        return super().expression(node)

    def _call(self, node: Node) -> str:
        target, args = node.target, node.args
        plain = len(args) == 2 and not node.kwargs
        if target is operator.getitem and plain:
            return f"{self.receiver(args[0])}[{self.argument(args[1])}]"
        if target is getattr and plain and isinstance(args[1], str) and args[1].isidentifier():
            return f"{self.receiver(args[0])}.{args[1]}"
        name = self.target(target)
        if node.meta.get("is_wrapped"):
            self.wrapped[name] = None
        return f"{name}({self.arguments(args, node.kwargs)})"

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        return ", ".join([*map(self.argument, args), *(f"{key} = {self.argument(v)}" for key, v in kwargs.items())])

    def argument(self, value: Any) -> str:
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.target(type(value))}{self.argument(tuple(value))}"
        return "Ellipsis" if value is ... else super().argument(value)

    def attribute(self, name: str) -> str:
        return attribute_path(self.root_module, name)

    def constant(self, value: Any) -> str:
        if isinstance(value, Enum):
            return f"{self._global(type(value).__name__, type(value))}.{value.name}"
        if isinstance(value, type):
            return self.type_text(value)
        text = super().constant(value) if type(value) is complex else repr(value)
        if _evaluates(text, value, self.globals):
            return text
        return self._global(f"{type(value).__name__.lower()}_constant", value)

    def target(self, target: Any) -> str:
        """A callable, under PyTorch's name if the text can find it there."""
        name = qualified_name(target)
        if name.startswith("torch.") and reachable(name) is target:
            return name
        return self._global(name.replace(".", "_"), target)

    def type_text(self, annotation: Any) -> str:
        """An annotation; the classes in it become globals."""
        if annotation == ():
            return "()"
        if isinstance(annotation, types.UnionType):
            return "|".join(map(self.type_text, typing.get_args(annotation)))
        if isinstance(annotation, str):
            return repr(annotation)
        origin = typing.get_origin(annotation)
        bare = origin is not None and not typing.get_args(annotation) and "[" not in repr(annotation)
        if bare:  # typing.Tuple, of whatever
            return self._global(f"typing_{annotation._name}", annotation)
        if origin is None:
            name = type_name(annotation)
            if name.startswith("torch.") and reachable(name) is annotation:
                return name
            return self._global(name.replace(".", "_"), annotation)
        alias = getattr(typing, getattr(annotation, "_name", None) or "Union", origin)
        outer = alias if isinstance(annotation, typing._GenericAlias) else origin  # type: ignore[attr-defined]
        outer = typing.Union if origin is typing.Union else outer
        parts = ",".join(map(self.type_text, typing.get_args(annotation))) or "()"
        return f"{self._global(type_name(outer).replace('.', '_'), outer)}[{parts}]"

    def _global(self, wish: str, value: Any) -> str:
        """The global name of `value`, `wish` if it is free."""
        known = self._global_names.get(id(value))
        if known is None:
            is_builtin = self.globals.get("__builtins__") is None and _builtin(wish) is value
            known = (wish if is_builtin else self._names.create_name(wish), value)
            self._global_names[id(value)] = known
            self.globals[known[0]] = value
        return known[0]


def _builtin(name: str) -> Any:
    import builtins

    return getattr(builtins, name, None)


def _evaluates(text: str, value: Any, names: dict[str, Any]) -> bool:
    """Whether `text` is Python that gives the value again."""
    if type(value) in (bool, int, str, bytes, complex, float, NoneType):
        return True
    if not re.match(r"[\w.]+(\(.*\))?$", text, re.DOTALL):
        return False
    try:
        again = eval(text, dict(names))  # of a constant: a dtype, a device, a size
    except (SyntaxError, NameError, AttributeError, TypeError, ValueError):
        return False
    return type(again) is type(value) and bool(again == value)


def attribute_path(root: str, target: str) -> str:
    """`layers.0.weight` of `self`: `getattr(self.layers, "0").weight`."""
    path = root
    for name in target.split("."):
        path = f"{path}.{name}" if name.isidentifier() else f"getattr({path}, {json.dumps(name)})"
    return path


def last_uses(nodes: Sequence[Node]) -> dict[Node, list[Node]]:
    """For each node, the values that nobody needs once it has run; of calls that nobody uses, also their own."""
    seen: set[Node] = set()
    dead_after: dict[Node, list[Node]] = {}
    for node in reversed(nodes):
        for source in node.all_input_nodes:
            if source not in seen:
                seen.add(source)
                dead_after.setdefault(node, []).append(source)
        if not node.users and node.op not in ("placeholder", "output"):
            dead_after.setdefault(node, []).append(node)
    return {node: dead for node, dead in dead_after.items() if node.op != "output"}


def import_lines(code: PythonCode) -> str:
    """Statements that bring the globals of a text, for a file of its own. ImportError if one can't be imported."""
    lines = set()
    for name, value in code.globals.items():
        if name in COMMON:
            lines.add(COMMON[name][0])
        elif isinstance(value, types.ModuleType):
            lines.add(f"import {value.__name__} as {name}")
        else:
            module, qualified = getattr(value, "__module__", None), getattr(value, "__name__", None)
            if not module or not qualified or not qualified.isidentifier():
                raise ImportError(f"the code refers to {value!r}, which has no name that could be imported")
            lines.add(f"from {module} import {qualified} as {name}")
    return "\n".join(sorted(lines)) + "\n"


__all__ = ["COMMON", "CodeGen", "PythonCode", "attribute_path", "import_lines", "torch_name"]
