"""Checks of data that lead to an exception: `assert (x > 0).all()`, `if scale <= 0: raise ValueError`.

Which way such a branch goes depends on data, but one way does nothing else than raise. So the trace expects the other,
and the condition becomes one more output of the graph. Should it turn out different, what the graph wrote is put
back, and the plain function is run from its start; it raises the exception itself.

>>> from minitorch_compile.dynamo.testing import captured, generated
>>> from minitorch_compile.tensor import ones
>>> def root(x):
...     if (x < 0).any():
...         raise ValueError("negative")
...     return x.sqrt()
>>> print(generated(root, ones(2)))
(out_0, out_1) = graph(x)
if out_1: return run_plainly(None, None, plain, x)
return out_0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.bytecode.instructions import Program
from minitorch_compile.dynamo.rewriting.graph_failure import Before, run_plainly
from minitorch_compile.fx.effects import is_random

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.rewriting.codegen import Codegen
    from minitorch_compile.dynamo.variables.tensor import TensorVariable

LONGEST_RAISE = 80  # instructions that make an exception and its message


@dataclass(frozen=True)
class Expectation:
    """A tensor of one element is true, or is not."""

    condition: TensorVariable
    outcome: bool


def only_raises(program: Program, index: int) -> bool:
    """Whether the instructions from here on make an exception, raise it, and do nothing else."""
    for inst in program.instructions[index : index + LONGEST_RAISE]:
        if inst.opname == "RAISE_VARARGS":
            return True
        if inst.target is not None or not inst.falls_through or inst.opname.startswith(("STORE", "DELETE")):
            return False
    return False


def expected_outcome(program: Program, jump: int) -> bool | None:
    """Which truth of its condition a jump is expected to find, if the other one only raises."""
    inst = program.instructions[jump]
    if inst.opname not in ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE") or inst.target is None:
        return None
    when_jumping, when_not = only_raises(program, inst.target), only_raises(program, jump + 1)
    if when_jumping == when_not:
        return None
    jumps = not when_jumping
    return jumps if inst.opname == "POP_JUMP_IF_TRUE" else not jumps


def checks(output: OutputGraph, codegen: Codegen, arguments: str) -> tuple[list[str], list[str]]:
    """Statements for the generated code, in front of and behind the call of the graph."""
    if not output.expectations:
        return [], []
    before, prepared = "None", []
    if output.written_inputs or any(map(is_random, output.graph.nodes)):
        written = [codegen.read(variable.source) for variable in output.written_inputs if variable.source is not None]
        before = output.names.fresh("before")
        prepared = [f"{before} = {codegen.constant(Before, 'Before')}([{', '.join(written)}])"]
    again = f"return {codegen.constant(run_plainly, 'run_plainly')}(None, {before}, plain, {arguments})"
    return prepared, [_check(expectation, codegen, again) for expectation in output.expectations]


def _check(expectation: Expectation, codegen: Codegen, otherwise: str) -> str:
    return f"if {'not ' if expectation.outcome else ''}{codegen.value(expectation.condition)}: {otherwise}"
