"""Lesson 11: the inverse of a view, what is saved, planted bugs, the other cut, a limit, recomputation that loses."""

from .cut_near_the_sink import CUT_NEAR_THE_SINK
from .losing import LOSING
from .repairs import REPAIRS
from .saved import SAVED
from .slice_replaced import SLICE_REPLACED
from .within import WITHIN

TITLE = "11 ahead-of-time autograd"
EXERCISES = (SLICE_REPLACED, SAVED, REPAIRS, CUT_NEAR_THE_SINK, WITHIN, LOSING)
