"""Generators that a frame leaves behind half-way in a `try` or `with`: their blocks end when the last reference goes.

>>> from minitorch_compile.dynamo.explaining.explain import explain
>>> from minitorch_compile.tensor import ones
>>> def f(x, log):
...     def parts():
...         try:
...             yield x + 1
...         finally:
...             log.append("closed")
...     return next(parts())
>>> print(explain(f)(ones(2), []).break_reasons[0].reason)
the generator f.<locals>.parts is left before the end of its block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.control_flow import is_written_after
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.resuming.resume_prefix import CannotResume

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter
    from minitorch_compile.dynamo.rewriting.codegen import Codegen


def check_left(codegen: Codegen) -> None:
    """A generator that is left half-way in a try or with block ends at a moment that the trace can't tell; one that
    lives on, when the program drops it."""
    for generator in codegen.output.generators:
        if generator.waits_in_a_block and not codegen.has_made(generator):
            raise Unsupported("generator-frame", f"{generator.describe()} is left before the end of its block.")


def check_owners(frame: SymbolicInterpreter, codegen: Codegen) -> None:
    """The parts of a split frame all hold what is passed on, so a generator in a block may end later than it does
    plainly. Not if a `with` ends it, whose context manager it is, or a variable has it as long as the frame, or
    another such generator delegates to it."""
    last = [*codegen.output.side_effects.attribute_values("gen"), *_lasting(frame)]
    for generator in codegen.output.generators:
        if generator in last:
            last += generator.frame.stack
        elif generator.waits_in_a_block and codegen.has_made(generator):
            raise CannotResume(f"{generator.describe()} waits in a block, which ends with its last reference.")


def _lasting(frame: SymbolicInterpreter) -> list[Any]:
    """What variables of the frame hold from the break to its end."""
    return [value for name, value in frame.locals.items() if not is_written_after(frame.program, frame.index, name)]
