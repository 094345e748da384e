"""Lesson 14: kernels and bytes predicted, rules for fusing, broken ones, a program to par, a planner, a ranking."""

from .between import BETWEEN
from .faults import FAULTS
from .half_the_bytes import HALF_THE_BYTES
from .memory import MEMORY
from .pairs import PAIRS
from .predictions import PREDICTIONS
from .ranking import RANKING

TITLE = "14 fusion and scheduling"
EXERCISES = (PREDICTIONS, PAIRS, FAULTS, BETWEEN, HALF_THE_BYTES, MEMORY, RANKING)
