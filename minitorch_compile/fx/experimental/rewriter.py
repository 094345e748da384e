"""A tracer that sees `assert` and annotations: both are rewritten to calls before the program is traced.

assert x.sum() > 0, "empty"      becomes    torch._assert(x.sum() > 0, "empty")
y: Tensor = x + 1                becomes    y = annotate(x + 1, Tensor)
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minitorch_compile.fx.annotate import annotate
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.targets import package
from minitorch_compile.fx.tracer import Tracer
from minitorch_compile.nn.module import Module

PACKAGE_NAME, ANNOTATE_NAME = "_rewriter_torch", "_rewriter_annotate"


class AST_Rewriter(ast.NodeTransformer):
    """Rewrites the source of functions."""

    def rewrite(self, fn: Any) -> FunctionType:
        """The function with its asserts and annotated assignments as calls. Of a decorated one, what is inside."""
        inner = inspect.unwrap(fn)
        tree = ast.parse(textwrap.dedent(inspect.getsource(inner)))
        definition = self.visit(tree).body[0]
        definition.decorator_list = []
        code = compile(ast.fix_missing_locations(tree), inspect.getsourcefile(inner) or "", "exec")
        inner.__globals__.update({PACKAGE_NAME: package(), ANNOTATE_NAME: annotate})  # the function keeps its globals
        made: dict[str, Any] = {}
        exec(code, inner.__globals__, made)
        new = made[definition.name]
        return FunctionType(new.__code__, inner.__globals__, inner.__name__, inner.__defaults__, _closure(new, inner))

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """`assert test, msg` as a call."""
        function = ast.parse(f"{PACKAGE_NAME}._assert", mode="eval").body
        call = ast.Call(function, [node.test, node.msg or ast.Constant("")], [])
        return ast.copy_location(ast.Expr(call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`name: type = value` as a call."""
        if node.value is None:
            return node
        function = ast.parse(ANNOTATE_NAME, mode="eval").body
        call = ast.Call(function, [node.value, node.annotation], [])
        return ast.copy_location(ast.Assign([node.target], call), node)


def _closure(new: Any, old: Any) -> Any:
    """The cells of the function's variables from outside; NotImplementedError if rewriting loses one."""
    if old.__closure__ is None:
        return None
    raise NotImplementedError(
        f"RewritingTracer: {old.__qualname__} uses variables of the function around it"
        f" ({', '.join(old.__code__.co_freevars)}); hand them over as arguments"
    )


class RewritingTracer(Tracer):
    """Rewrites what it traces: a function, or the forward of a module and of all modules in it."""

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        return super().trace(_rewritten(root), concrete_args)


def _rewritten(root: Any) -> Any:
    if not isinstance(root, Module):
        return AST_Rewriter().rewrite(root)
    twin = copy.copy(root)
    vars(twin).update(_modules={name: m and _rewritten(m) for name, m in root._modules.items()})
    if type(root).__module__.startswith("minitorch_compile.nn"):
        return twin
    rewritten = {"forward": AST_Rewriter().rewrite(type(root).forward), "__module__": type(root).__module__}
    twin.__class__ = type(type(root).__name__, (type(root),), rewritten)
    return twin


__all__ = ["AST_Rewriter", "RewritingTracer"]
