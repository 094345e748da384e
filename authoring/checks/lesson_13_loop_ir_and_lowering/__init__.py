"""Lesson 13: loops and bytes, a rule of the index algebra, a lowering, planted bugs, a handler, and loops to par."""

from .common_factor import COMMON_FACTOR
from .faults import FAULTS
from .few_loops import FEW_LOOPS
from .loops_and_bytes import LOOPS_AND_BYTES
from .pad import PAD
from .work import WORK

TITLE = "13 loop IR and lowering"
EXERCISES = (LOOPS_AND_BYTES, COMMON_FACTOR, PAD, FAULTS, WORK, FEW_LOOPS)
