"""Lesson 19: kernels, judged in the simulator by values, faults and counts."""

from .barriers import BARRIERS
from .count_predictions import COUNTING
from .grid_stride import GRID_STRIDE
from .turned_tiles import TURNED

TITLE = "19 CUDA kernels"
EXERCISES = (COUNTING, GRID_STRIDE, BARRIERS, TURNED)
