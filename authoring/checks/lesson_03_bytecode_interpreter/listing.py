"""Programs written down by hand, as `decode` prints them: the exercises' own bytecode, the same for every Python.

>>> program = read_listing('''
...   0 LOAD_FAST            'a'
...   1 POP_JUMP_IF_FALSE    to 4
...   2 LOAD_CONST           1
...   3 RETURN_VALUE
...   4 POP_TOP
...     on error in 0..2: to 4, depth 0
... ''')
>>> program
  0 LOAD_FAST            'a'
  1 POP_JUMP_IF_FALSE    to 4
  2 LOAD_CONST           1
  3 RETURN_VALUE
  4 POP_TOP
    on error in 0..2: to 4, depth 0
"""

from __future__ import annotations

import ast
import re
from typing import Any

from minitorch_compile.dynamo.bytecode.instructions import ExceptionEntry, Instruction, Program
from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter

LINE = re.compile(r"(\d+) (\w+)\s*(?:to (\d+)|(.*))$")
ROW = re.compile(r"on error in (\d+)\.\.(\d+): to (\d+), depth (\d+)(, lasti)?$")
NO_CODE = (lambda: None).__code__


def read_listing(text: str) -> Program:
    """The program. A row that pushes the raising index ends in `, lasti`."""
    instructions, table = [], []
    for line in filter(None, map(str.strip, text.splitlines())):
        row = ROW.match(line)
        if row is not None:
            first, last, target, depth = map(int, row.groups()[:4])
            table.append(ExceptionEntry(first, last + 1, target, depth, row.group(5) is not None))
        else:
            instructions.append(_instruction(line))
    return Program(NO_CODE, tuple(instructions), tuple(table))


def _instruction(line: str) -> Instruction:
    found = LINE.match(line)
    assert found is not None, line
    _, opname, target, operand = found.groups()
    if target is not None:
        return Instruction(opname, target=int(target))
    return Instruction(opname, ast.literal_eval(operand) if operand else None)


def frame_of(program: Program, **slots: Any) -> ConcreteInterpreter:
    """A frame that runs the program on plain Python objects."""
    return ConcreteInterpreter(program, dict(slots), {})
