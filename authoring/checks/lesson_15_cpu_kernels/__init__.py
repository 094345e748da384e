"""Lesson 15: which loops are vector code, a float64 to find, a tanh, a long sum, chunks, one's own emitter."""

from .chunks import CHUNKS
from .long_sum import LONG_SUM
from .own_exponential import OWN_EXPONENTIAL
from .promotion import PROMOTION
from .row_threads import ROW_THREADS
from .rows import ROWS
from .stages import STAGES
from .stores import STORES
from .tanh import TANH
from .which_loops import WHICH_LOOPS
from .writer import WRITER
from .writer_calls import WRITER_CALLS

TITLE = "15 Numba kernels on the CPU"
OWN_STACK = (OWN_EXPONENTIAL, WRITER, WRITER_CALLS, ROWS, STAGES, STORES, ROW_THREADS)
EXERCISES = (WHICH_LOOPS, PROMOTION, TANH, LONG_SUM, CHUNKS, *OWN_STACK)
