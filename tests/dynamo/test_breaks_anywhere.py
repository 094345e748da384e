"""A graph break at any statement or expression of a program changes nothing: the frame is rebuilt and resumed as it
was. `EVERY=1 pytest` takes all places; otherwise some, to be quick."""

import ast
import inspect
import os
import textwrap
import types
from collections.abc import Callable, Iterator

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import disable, graph_break, optimize
from minitorch_compile.dynamo.testing import eager
from tests.dynamo.programs import observe, program_id, programs

BREAK = "_tensor = _tensor * 2; _graph_break(); _tensor = _tensor + 1"
PROGRAMS = list(programs())
EVERY_STATEMENT, EVERY_EXPRESSION = (int(os.environ["EVERY"]),) * 2 if "EVERY" in os.environ else (7, 43)


class AtStatement(ast.NodeTransformer):
    """Puts a graph break, between two tensor operations, before the n-th statement of a function."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.seen = 0

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        result = []
        for statement in statements:
            if self.seen == self.place:
                result += ast.parse(BREAK).body
            self.seen += 1
            result.append(self.visit(statement))
        return result

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list) and statements and isinstance(statements[0], ast.stmt):
                setattr(node, field, self.block(statements))
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            part.body = self.block(part.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # inner functions and classes stay as they are

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node


class AtExpression(ast.NodeTransformer):
    """Sends the value of the n-th expression through a function that breaks the graph; also in inner functions,
    lambdas, comprehensions, decorators, bases, defaults, conditions and f-strings."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.seen = 0

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [self.visit(statement) for statement in statements]

    def visit(self, node: ast.AST) -> ast.AST:
        kept = isinstance(node, (ast.pattern, ast.Starred, ast.Slice, ast.JoinedStr, ast.FormattedValue))
        if not isinstance(node, ast.expr) or kept or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node if isinstance(node, ast.pattern) else self.generic_visit(node)
        here = self.seen == self.place
        self.seen += 1
        changed = self.generic_visit(node)
        return ast.Call(ast.Name("_passed", ast.Load()), [changed], []) if here else changed


def with_breaks(
    program: types.FunctionType, make: Callable[[int], AtStatement | AtExpression], every: int
) -> Iterator[types.FunctionType]:
    """The program with a break at the first place, at one some places on, ..."""
    source = textwrap.dedent(inspect.getsource(program))
    place = len(program.__name__) % every  # not always the first
    while True:
        tree = ast.parse(source)
        function = tree.body[0]
        insert = make(place)
        function.body = ast.parse("_tensor = _make_tensor() + 1").body + insert.block(function.body)
        if insert.seen <= place:
            return
        breaks = {"_make_tensor": lambda: torch.ones(1), "_graph_break": graph_break, "_passed": passed}
        namespace = {**program.__globals__, **breaks}
        exec(compile(ast.fix_missing_locations(tree), program.__code__.co_filename, "exec"), namespace)
        yield namespace[program.__name__]
        place += every


@disable
def passed(value: object) -> object:
    return value


def assert_unchanged(broken: types.FunctionType) -> None:
    expected = observe(broken)
    compiled = optimize(broken, eager)
    assert observe(compiled) == expected
    assert observe(compiled) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=program_id)
def test_a_break_before_any_statement_changes_nothing(program):
    for broken in with_breaks(program, AtStatement, EVERY_STATEMENT):
        assert_unchanged(broken)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=program_id)
def test_a_break_at_any_expression_changes_nothing(program):
    for broken in with_breaks(program, AtExpression, EVERY_EXPRESSION):
        assert_unchanged(broken)
