"""The text of a function as `script` sees it: a tree of Python's, of which some kinds of statements are refused.

>>> def later(x):
...     yield x
>>> definition_of(later)
Traceback (most recent call last):
minitorch_compile.jit.frontend.UnsupportedNodeError: Yield aren't supported:
...

TorchScript's language is a part of Python. What it leaves out (generators, `try`, functions within functions, arguments
without number) is left out here as well, although it could run: a program that scripts here shall script there.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from minitorch_compile.jit.markers import is_scripting


class FrontendError(Exception):
    """A function's text can't be taken as a script. The message shows the line."""

    def __init__(self, source_range: str, msg: str) -> None:
        super().__init__(f"{msg}:\n{source_range}")
        self.source_range = source_range
        self.msg = msg


class NotSupportedError(FrontendError):
    """It has something that TorchScript leaves out."""


class UnsupportedNodeError(NotSupportedError):
    """It has a statement or an expression that TorchScript leaves out."""


REFUSED: dict[type[ast.AST], str] = {
    ast.FunctionDef: "function definitions",
    ast.AsyncFunctionDef: "async function definitions",
    ast.ClassDef: "class definitions",
    ast.Import: "import statements",
    ast.ImportFrom: "import statements",
    ast.Global: "global variables",
    ast.Nonlocal: "nonlocal variables",
    ast.Try: "try blocks",
    ast.AsyncFor: "async for loops",
    ast.AsyncWith: "async with statements",
    **{kind: kind.__name__ for kind in (ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda, ast.NamedExpr, ast.Match)},
    **{kind: kind.__name__ for kind in (ast.Set, ast.SetComp)},
}
NO_VARIABLE_ARGUMENTS = (
    "Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults"
)
MUTABLE_DEFAULT = (
    "Mutable default parameters are not supported because Python binds them to the function and they persist across"
    " function calls.\n As a workaround, make the default None and instantiate the default parameter within the body of"
    " the function. Found {} on parameter {}"
)

CONTAINED = {name: f"{name}[int]" for name in ("List", "Tuple", "Optional")} | {"Dict": "Dict[int, int]"}


@dataclass
class Definition:
    """A function and its text. `types` are those of its parameters as the text has them; `returns` that of its
    result, None if it isn't said."""

    function: FunctionType
    tree: ast.FunctionDef
    lines: list[str]
    file: str
    first_line: int
    types: dict[str, ast.expr] = field(default_factory=dict)
    returns: ast.expr | None = None

    @property
    def name(self) -> str:
        return self.tree.name

    def place(self, node: ast.AST) -> str:
        """The line of a part of the text, marked as in PyTorch's messages."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        shown = self.lines[: self.tree.end_lineno]
        same_line = getattr(node, "end_lineno", line) == line
        width = getattr(node, "end_col_offset", column + 1) - column if same_line else len(shown[line - 1]) - column
        marked = [*shown[:line], " " * column + "~" * max(width, 1) + " <--- HERE", *shown[line:]]
        text = "\n".join("    " + line for line in marked)
        return f'  File "{self.file}", line {self.first_line + line - 1}\n{text}\n'

    def error(self, kind: type[Exception], message: str, node: ast.AST) -> Exception:
        """The error that says what is wrong with a part of the text."""
        if issubclass(kind, FrontendError):
            return kind(self.place(node), message)
        return kind(f"\n{message}:\n{self.place(node)}")


def definition_of(function: FunctionType, of_a_method: bool = False) -> Definition:
    """The text of a function. A FrontendError if TorchScript has no such statement, OSError if there is no text."""
    function = inspect.unwrap(function)
    lines, first_line = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines))
    file = function.__code__.co_filename
    try:
        body = ast.parse(text, type_comments=True).body
    except SyntaxError:
        body = []  # a lambda within an expression
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise RuntimeError(f"Expected a single top-level function: {file}:{first_line}")
    made = Definition(function, body[0], text.splitlines(), file, first_line)
    _check_arguments(made, of_a_method)
    made.tree.body = [_LivingExpressions().visit(statement) for statement in _living(made.tree.body)]
    for statement in made.tree.body:
        _check(made, statement)
    return made


def _check_arguments(made: Definition, of_a_method: bool) -> None:
    """Notes the types of parameters; refuses *args, **kwargs, keywords with defaults, and defaults that can change."""
    arguments, function = made.tree.args, made.function
    with_defaults = [arg for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is not None]
    for several in filter(None, [arguments.vararg, arguments.kwarg, *with_defaults]):
        raise made.error(NotSupportedError, NO_VARIABLE_ARGUMENTS, several)
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for name, parameter in inspect.signature(function).parameters.items():
        if isinstance(parameter.default, (list, dict, set)):
            message = MUTABLE_DEFAULT.format(type(parameter.default), name)
            raise made.error(RuntimeError, message, made.tree)
    made.returns = made.tree.returns
    typed = every[1:] if of_a_method else every
    made.types = {arg.arg: arg.annotation or ast.Name("Tensor") for arg in typed}
    if made.tree.type_comment:
        types = ast.parse(made.tree.type_comment, mode="func_type")
        assert isinstance(types, ast.FunctionType)
        made.types.update({arg.arg: given for arg, given in zip(typed, types.argtypes)})
        made.returns = types.returns
    for wanted in made.types.values():
        name = getattr(wanted, "attr", getattr(wanted, "id", ""))
        if name in CONTAINED:
            raise RuntimeError(
                f"Attempted to use {name} without a contained type. Please add a contained type, e.g. {CONTAINED[name]}"
            )


def _check(made: Definition, tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if type(node) in REFUSED:
            raise made.error(UnsupportedNodeError, f"{REFUSED[type(node)]} aren't supported", node)
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            kind = "for loops" if isinstance(node, ast.For) else "while loops"
            raise made.error(NotSupportedError, f"else branches of {kind} aren't supported", node.orelse[0])


def _living(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without docstring, and without what only runs as Python."""
    kept: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.If):
            answer = known_answer(statement.test)
            if answer is not None:
                kept += _living(statement.body if answer else statement.orelse)
                continue
            statement.body, statement.orelse = _living(statement.body), _living(statement.orelse)
        elif isinstance(statement, (ast.For, ast.While, ast.With)):
            statement.body = _living(statement.body)
        kept.append(statement)
        if isinstance(statement, (ast.Return, ast.Raise)):
            break
    return kept or [ast.Pass(lineno=1, col_offset=0) for _ in body[:1]]


class _LivingExpressions(ast.NodeTransformer):
    """The same for `a if is_scripting() else b`."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        answer = known_answer(node.test)
        if answer is None:
            return self.generic_visit(node)
        return self.visit(node.body if answer else node.orelse)


def known_answer(test: ast.expr) -> bool | None:
    """Whether a condition holds in every scripted run, which is when it asks for scripting. None if it is open."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = known_answer(test.operand)
        return None if answer is None else not answer
    if isinstance(test, ast.BoolOp):
        answers = [known_answer(part) for part in test.values]
        decided = isinstance(test.op, ast.Or)  # one True decides an `or`, one False an `and`
        return decided if decided in answers else None if None in answers else not decided
    if isinstance(test, ast.Call) and not test.args:
        called: Any = test.func
        return True if getattr(called, "attr", getattr(called, "id", "")) == is_scripting.__name__ else None
    return None
