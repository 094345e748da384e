"""Lesson 15: a float64 to find, a long sum; and the steps of `mini/emit.py`."""

from .long_sum import LONG_SUM
from .own_exponential import OWN_EXPONENTIAL
from .promotion import PROMOTION
from .row_threads import ROW_THREADS
from .rows import ROWS
from .stages import STAGES
from .stores import STORES
from .writer import WRITER
from .writer_calls import WRITER_CALLS

TITLE = "15 Numba kernels on the CPU"
OWN_STACK = (OWN_EXPONENTIAL, WRITER, WRITER_CALLS, ROWS, STAGES, STORES, ROW_THREADS)
EXERCISES = (PROMOTION, LONG_SUM, *OWN_STACK)
