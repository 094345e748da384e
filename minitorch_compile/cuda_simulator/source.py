"""The text of a kernel: its syntax tree, its lines, and what its names mean outside.

>>> def double(x):
...     return x * FACTOR
>>> definition = Definition.of(double)
>>> ast.unparse(definition.body[0]), definition.place(definition.body[0]).text
('return x * FACTOR', 'return x * FACTOR')
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
import weakref
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import Any

from minitorch_compile.cuda_simulator.arithmetic import typed
from minitorch_compile.cuda_simulator.faults import Place

_known: weakref.WeakKeyDictionary[Any, Definition] = weakref.WeakKeyDictionary()


class Definition:
    """A function as a kernel's author wrote it."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self.function = weakref.ref(function)  # which keeps this definition alive, not the other way round
        self.name, self.file = function.__name__, code.co_filename
        self.lines = linecache.getlines(self.file, function.__globals__)
        if not self.lines:
            raise OSError(f"the simulator needs the text of {self.name}, but {self.file} can't be read")
        self.body = self.statements_from(code.co_firstlineno)
        self.signature = inspect.signature(function)
        self.simple = all(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in self.parameters)
        self.names = [p.name for p in self.parameters]
        self.places: dict[int, Place] = {}

    @property
    def parameters(self) -> list[inspect.Parameter]:
        return list(self.signature.parameters.values())

    @staticmethod
    def of(function: FunctionType) -> Definition:
        """The definition, read once."""
        if function not in _known:
            _known[function] = Definition(function)
        return _known[function]

    def statements_from(self, first: int) -> list[ast.stmt]:
        """The body of the function that begins on a line; a lambda's is a return statement."""
        if self.name == "<lambda>":
            tree = ast.parse("".join(self.lines))
            found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == first]
            if len(found) != 1:
                raise NotImplementedError(f"{self.file}:{first}: the simulator reads one lambda a line; use def")
            body: list[ast.stmt] = [ast.copy_location(ast.Return(found[0].body), found[0].body)]
        else:
            text = textwrap.dedent("".join(inspect.getblock(self.lines[first - 1 :])))
            (definition,) = ast.parse(text).body
            assert isinstance(definition, ast.FunctionDef), f"{self.name} is a function"
            body = definition.body
            for statement in body:
                ast.increment_lineno(statement, first - 1)
        return [Folding().visit(statement) for statement in body]

    def place(self, node: Any) -> Place:
        line = node.lineno
        if line not in self.places:
            text = self.lines[line - 1].strip() if line <= len(self.lines) else ""
            self.places[line] = Place(self.file, line, self.name, text)
        return self.places[line]

    def outside(self, name: str) -> Any:
        """What a name means that is no variable of the function: in the closure, the module, or Python."""
        function = self.function()
        assert function is not None, "a frame has the function that it runs"
        code = function.__code__
        if name in code.co_freevars and function.__closure__ is not None:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        if name in function.__globals__:
            return function.__globals__[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined in {self.name}, {self.file}")

    def bind(self, values: list[Any], named: dict[str, Any]) -> dict[str, Any]:
        """The function's parameters, for a call."""
        if self.simple and not named and len(values) == len(self.names):
            return dict(zip(self.names, values))
        bound = self.signature.bind(*values, **named)
        bound.apply_defaults()
        return {name: typed(value) for name, value in bound.arguments.items()}  # defaults are Python's numbers


class Folding(ast.NodeTransformer):
    """Computes what consists of literals, as Python's compiler does: `-9223372036854775808` is one number.

    >>> ast.unparse(Folding().visit(ast.parse("x = -(2**63) + y")))
    'x = -9223372036854775808 + y'
    """

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self.folded(node, node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self.folded(node, node.left, node.right)

    def folded(self, node: ast.expr, *operands: ast.expr) -> ast.expr:
        if not all(isinstance(o, ast.Constant) and isinstance(o.value, int | float) for o in operands):
            return node
        with suppress(ArithmeticError, TypeError, ValueError):  # what fails is left to fail when it runs
            value = eval(compile(ast.Expression(node), "<literals>", "eval"), {})
            return ast.copy_location(ast.Constant(value), node)
        return node


def plain_function(kernel: Any) -> FunctionType:
    """The Python function behind a kernel: of Numba's dispatcher, of `cuda.jit` here, or itself."""
    function: Callable[..., Any] = getattr(kernel, "py_func", kernel)
    if not isinstance(function, FunctionType):
        raise TypeError(f"simulate: expected a Python function or a kernel made by cuda.jit, got {kernel!r}")
    return function
