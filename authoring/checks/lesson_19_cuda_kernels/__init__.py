"""Lesson 19: kernels, judged in the simulator by values, faults and counts."""

from .barriers import BARRIERS
from .count_predictions import COUNTING
from .grid_stride import GRID_STRIDE
from .one_walk import ONE_WALK
from .product_tiles import PRODUCT
from .right_by_luck import LUCKY
from .turned_tiles import TURNED
from .warp_maxima import MAXIMA

TITLE = "19 CUDA kernels"
EXERCISES = (COUNTING, GRID_STRIDE, BARRIERS, TURNED, LUCKY, MAXIMA, ONE_WALK, PRODUCT)
