"""Lesson 12: broadcasting as a prim, counts of prims, planted bugs, two careful rules, and a pass."""

from .broadcast import BROADCAST
from .counts import COUNTS
from .faults import FAULTS
from .few_and_accurate import FEW_AND_ACCURATE
from .log_softmax import LOG_SOFTMAX
from .merge import MERGE

TITLE = "12 prims and decompositions"
EXERCISES = (BROADCAST, COUNTS, FAULTS, LOG_SOFTMAX, FEW_AND_ACCURATE, MERGE)
