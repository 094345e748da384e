"""Lesson 15: which loops are vector code, a float64 to find, a tanh, a long sum, and chunks for threads."""

from .chunks import CHUNKS
from .long_sum import LONG_SUM
from .promotion import PROMOTION
from .tanh import TANH
from .which_loops import WHICH_LOOPS

TITLE = "15 Numba kernels on the CPU"
EXERCISES = (WHICH_LOOPS, PROMOTION, TANH, LONG_SUM, CHUNKS)
