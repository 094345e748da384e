"""Magics for notebooks: `%%compiled` compiles what a cell defines, `%stages` shows what becomes of a call.

    %load_ext minitorch_compile.magics

    %%compiled fullgraph=True
    def step(x, w):
        return (x @ w).relu()

    %stages step(x, w)

The line of `%%compiled` has arguments of `torch.compile`. `%stages` is `torch.compiler.inspect` of a call that is
written as a call; `seen = %stages step(x, w)` keeps what it shows. They need nothing but IPython, so they work in
JupyterLab, Notebook, VS Code, Colab and in a terminal.

>>> [name.id for name in compiling(ast.parse("def f(x): return x"), "marker").body[0].decorator_list]
['marker']
>>> ast.unparse(inspecting("f(x, k=2)", "show"))
'show(f, x, k=2)'
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from minitorch_compile import compiler

MARKER = "_used_by_a_magic"  # a name that the user has none of, while a magic runs


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext` calls."""

    def compiled(line: str, cell: str) -> Any:
        return run_compiled(shell, line, cell)

    def stages(line: str) -> Any:
        return show_stages(shell, line)

    shell.register_magic_function(compiled, magic_kind="cell", magic_name="compiled")
    shell.register_magic_function(stages, magic_kind="line", magic_name="stages")


def run_compiled(shell: Any, line: str, cell: str) -> Any:
    """Runs a cell whose functions are compiled where they are defined; returns the value of its last expression."""
    options = options_of(line, shell.user_ns)
    text = shell.transform_cell(cell)
    tree = compiling(ast.parse(text), MARKER)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    place = shell.compile.cache(text)  # where tracebacks, and the tracer, find the lines
    shell.user_ns[MARKER] = lambda function: compiler.compile(function, **options)
    try:
        exec(shell.compile(tree, place, "exec"), shell.user_ns)
        if isinstance(last, ast.Expr):
            return eval(shell.compile(ast.Expression(last.value), place, "eval"), shell.user_ns)
    finally:
        del shell.user_ns[MARKER]
    return None


def show_stages(shell: Any, line: str) -> Any:
    """The Inspection of a call; a notebook shows it as a page below the cell."""
    return value_of(inspecting(line, MARKER), {**shell.user_ns, MARKER: compiler.inspect})


def options_of(line: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `torch.compile` in a line; SyntaxError says how they are written.

    >>> options_of("backend='eager', fullgraph=True", {})
    {'backend': 'eager', 'fullgraph': True}
    >>> options_of("eager", {})
    Traceback (most recent call last):
    SyntaxError: %%compiled takes arguments of torch.compile by name, as in `%%compiled fullgraph=True`, got: eager
    """
    call = call_in(f"options({line})")
    if call is None or call.args or any(word.arg is None for word in call.keywords):
        known = "%%compiled takes arguments of torch.compile by name, as in `%%compiled fullgraph=True`"
        raise SyntaxError(f"{known}, got: {line}")
    return {str(word.arg): value_of(word.value, names) for word in call.keywords}


def compiling(tree: ast.Module, name: str) -> ast.Module:
    """The cell with a decorator of that name around each function; SyntaxError if it defines none."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        raise SyntaxError("%%compiled compiles the functions that a cell defines at its left margin; here is none")
    for function in functions:
        function.decorator_list.insert(0, ast.copy_location(ast.Name(name, ast.Load()), function))
    return tree


def inspecting(line: str, name: str) -> ast.expr:
    """The call `f(x)` as `name(f, x)`; SyntaxError for what is no call."""
    call = call_in(line.strip())
    if call is None:
        raise SyntaxError(f"%stages takes a call, as in `%stages f(x)`, got: {line}")
    return ast.Call(ast.Name(name, ast.Load()), [call.func, *call.args], call.keywords)


def call_in(text: str) -> ast.Call | None:
    """The call that a text is; None for another text."""
    try:
        found = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    return found if isinstance(found, ast.Call) else None


def value_of(expression: ast.expr, names: Mapping[str, Any]) -> Any:
    whole = ast.fix_missing_locations(ast.Expression(expression))
    return eval(compile(whole, "<magic>", "eval"), dict(names))
