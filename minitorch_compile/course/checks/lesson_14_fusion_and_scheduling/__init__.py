"""Lesson 14: kernels and bytes predicted, two rules of a scheduler, three broken ones, a program to par, a planner."""

from .between import BETWEEN
from .faults import FAULTS
from .half_the_bytes import HALF_THE_BYTES
from .memory import MEMORY
from .pairs import PAIRS
from .predictions import PREDICTIONS

TITLE = "14 fusion and scheduling"
EXERCISES = (PREDICTIONS, PAIRS, FAULTS, BETWEEN, HALF_THE_BYTES, MEMORY)
