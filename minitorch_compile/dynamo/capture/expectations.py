"""Checks of data that lead to an exception: `assert (x > 0).all()`, `if scale <= 0: raise ValueError`.

Which way such a branch goes depends on data, but one way does nothing else than raise. So the trace expects the other,
and the condition becomes one more output of the graph. Should it turn out different, what the graph wrote is put
back, and the plain function is run from its start; it raises the exception itself
(`rewriting/expectation_checks.py`).

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def root(x):
...     if (x < 0).any():
...         raise ValueError("negative")
...     return x.sqrt()
>>> print(captured(root, ones(2)))
x -> (x.sqrt(), (x < 0).any())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.bytecode.instructions import Program

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

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
