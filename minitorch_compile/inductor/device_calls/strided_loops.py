"""Loops for the compiler: `for i in range(first, end, step)` without a division, and a few long rounds without a loop.

Numba counts the rounds of such a range before it begins, by a division of 64 bits, which takes a GPU some hundred
instructions: as many as all of what a thread has to do, where each has a few elements. Adding until the end is reached
takes none. Kernels are written, shown and simulated with `range`; what is compiled is this.

>>> print(by_adding('''def double(x, n):
...     for i in range(cuda.grid(1), n, cuda.gridsize(1)):
...         x[i] *= 2
... '''))
def double(x, n):
    i_at, i_end, i_step = (cuda.grid(1), n, cuda.gridsize(1))
    while i_at < i_end:
        i = i_at
        x[i] *= 2
        i_at += i_step
"""

from __future__ import annotations

import ast
import copy
from functools import lru_cache

MOST_ROUNDS = 8
LONG = 400  # what all rounds take, counted in operations, from which on LLVM leaves the loop
OPERATIONS_OF_CALL = 8


@lru_cache(maxsize=4096)  # a call with other sizes has the same text
def by_adding(text: str) -> str:
    """The text with loops over ranges whose steps are positive and not written as numbers as loops that add."""
    return ast.unparse(ast.fix_missing_locations(_ByAdding().visit(ast.parse(text))))


class _ByAdding(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> ast.AST | list[ast.AST]:
        self.generic_visit(node)
        rounds = _few_rounds(node)
        if rounds * _operations(node.body) > LONG:
            begins = [ast.parse(f"step = {n}").body[0] for n in range(rounds)]
            return [line for begin in begins for line in (begin, *copy.deepcopy(node.body))]
        if not _is_strided(node) or any(isinstance(inner, ast.Continue) for inner in ast.walk(node)):
            return node
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        at, end, step = (f"{node.target.id}_{what}" for what in ("at", "end", "step"))
        begin = f"{at}, {end}, {step} = {', '.join(map(ast.unparse, node.iter.args))}"
        loop = ast.parse(f"while {at} < {end}:\n    {node.target.id} = {at}\n    {at} += {step}").body[0]
        assert isinstance(loop, ast.While)
        loop.body[1:1] = node.body
        return [*ast.parse(begin).body, loop]


def _is_strided(node: ast.For) -> bool:
    """Whether the loop is over a range of three, of which the last is no number."""
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not isinstance(node.target, ast.Name):
        return False
    return call.func.id == "range" and len(call.args) == 3 and not isinstance(call.args[2], (ast.Constant, ast.UnaryOp))


def _few_rounds(node: ast.For) -> int:
    """How many rounds a loop over a thread's vectors has, if few; else 0."""
    leaves = any(isinstance(inner, (ast.Break, ast.Continue)) for inner in ast.walk(node))
    rounds = _rounds(node)
    is_over_vectors = isinstance(node.target, ast.Name) and node.target.id == "step"
    return rounds if is_over_vectors and not leaves and 1 < rounds <= MOST_ROUNDS else 0


def _operations(body: list[ast.stmt]) -> int:
    """What a round takes, roughly."""
    total = 0
    for line in body:
        inner = [node for node in ast.walk(line) if isinstance(node, (ast.BinOp, ast.Call))]
        total += _rounds(line) * sum(OPERATIONS_OF_CALL if isinstance(node, ast.Call) else 1 for node in inner)
    return total


def _rounds(line: ast.stmt) -> int:
    """How often what is inside runs: the number that the text of a loop says, else once."""
    if not isinstance(line, ast.For) or not isinstance(line.iter, ast.Call) or len(line.iter.args) != 1:
        return 1
    (last,) = line.iter.args
    return last.value if isinstance(last, ast.Constant) and isinstance(last.value, int) else 1
