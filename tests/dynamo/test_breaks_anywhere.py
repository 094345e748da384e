"""A graph break before any statement of a program changes nothing: the frame is rebuilt and resumed as it was."""

import ast
import inspect
import textwrap
import types
from collections.abc import Iterator

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import graph_break, optimize
from minitorch_compile.dynamo.testing import eager
from tests.dynamo.programs import observe, program_id, programs

BREAK = "_tensor = _tensor * 2; _graph_break(); _tensor = _tensor + 1"
# A resume function says NameError where the whole function says UnboundLocalError, see test_resume.py.
PROGRAMS = [p for p in programs() if program_id(p) != "closures.deleted_cell_in_its_own_function"]
EVERY = 3  # of the places, to be quick


class InsertBreak(ast.NodeTransformer):
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


def with_breaks(program: types.FunctionType) -> Iterator[types.FunctionType]:
    """The program with a break at the first place, at one some places on, ..."""
    source = textwrap.dedent(inspect.getsource(program))
    place = len(program.__name__) % 5  # not always the first statement
    while True:
        tree = ast.parse(source)
        function = tree.body[0]
        insert = InsertBreak(place)
        function.body = ast.parse("_tensor = _make_tensor() + 1").body + insert.block(function.body)
        if insert.seen <= place:
            return
        namespace = {**program.__globals__, "_make_tensor": lambda: torch.ones(1), "_graph_break": graph_break}
        exec(compile(ast.fix_missing_locations(tree), program.__code__.co_filename, "exec"), namespace)
        yield namespace[program.__name__]
        place += EVERY


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=program_id)
def test_a_break_before_any_statement_changes_nothing(program):
    for broken in with_breaks(program):
        expected = observe(broken)
        compiled = optimize(broken, eager)
        assert observe(compiled) == expected
        assert observe(compiled) == expected
