"""The plain function whose callees are compiled: what runs where a frame can't be split.

A break inside a loop leaves the loop to Python. The functions that it calls can still be compiled, each by itself. So
the function is copied with every call `f(x)` turned into `compiled(f)(x)`; all else, line numbers included, stays as
it is.

>>> def total(items):
...     result = 0
...     for item in items:
...         result += abs(item)
...     return result
>>> def loud(function):
...     print("calls", function.__name__)
...     return function
>>> wrapping_calls(total, loud)([1, -2])
calls abs
calls abs
3
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction, Program
from minitorch_compile.dynamo.execution.stack_shapes import Shape, stack_shapes


def wrapping_calls(function: FunctionType, compiled: Callable[[Any], Any]) -> FunctionType:
    """A copy of the function that calls `compiled(f)` wherever the function calls `f`."""
    code = _with_calls_through(decode(function.__code__), compiled)
    copy = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _with_calls_through(program: Program, compiled: Callable[[Any], Any]) -> CodeType:
    shapes = stack_shapes(program)
    blocks = [
        [*_replacing(inst, shapes[index], compiled), inst] if index in shapes else [inst]
        for index, inst in enumerate(program.instructions)
    ]
    starts = [0]
    for block in blocks:
        starts.append(starts[-1] + len(block))
    moved = [i if i.target is None else replace(i, target=starts[i.target]) for block in blocks for i in block]
    table = tuple(
        replace(entry, start=starts[entry.start], end=starts[entry.end], target=starts[entry.target])
        for entry in program.exception_table
    )
    return assemble(Program(program.code, tuple(moved), table))


def _replacing(inst: Instruction, shape: Shape, compiled: Callable[[Any], Any]) -> list[Instruction]:
    """Instructions that exchange the function of a call, below its arguments, for its compiled form."""
    depth = _depth_of_function(inst, shape)
    if depth is None:
        return []
    load, null = Instruction("LOAD_CONST", compiled), Instruction("PUSH_NULL")
    pair = [load, null] if sys.version_info >= (3, 13) else [null, load]
    steps = [*pair, Instruction("COPY", depth + 2), Instruction("CALL", (1, ())), Instruction("SWAP", depth + 1)]
    return [replace(step, positions=inst.positions) for step in (*steps, Instruction("POP_TOP"))]


def _depth_of_function(inst: Instruction, shape: Shape) -> int | None:
    """How deep the function lies (1 is the top); None for another instruction, or a pair with a first argument."""
    if inst.opname == "CALL":
        above = inst.argval[0]
    elif inst.opname == "CALL_FUNCTION_EX":
        above = 1 + bool(inst.argval)
    else:
        return None
    first, second = shape[len(shape) - above - 2 : len(shape) - above]
    if first is NULL:
        return above + 1
    return above + 2 if second is NULL else None
