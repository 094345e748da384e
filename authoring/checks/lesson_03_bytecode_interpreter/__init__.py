"""Lesson 03: the value stack, loops, the exception table, unwinding, bytecode by hand, stack depths."""

from .depths import DEPTHS
from .exception_rows import EXCEPTION_ROWS
from .for_loop import FOR_LOOP
from .greatest_divisor import GREATEST_DIVISOR
from .stacks import STACKS
from .unwinding import UNWINDING

TITLE = "03 a bytecode interpreter"
EXERCISES = (STACKS, FOR_LOOP, EXCEPTION_ROWS, UNWINDING, GREATEST_DIVISOR, DEPTHS)
