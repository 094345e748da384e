"""Lesson 01: where an element lies, strides, views, contiguity, reshaping and windows."""

from .contiguity import CONTIGUITY
from .contiguous_strides import CONTIGUOUS_STRIDES
from .position import POSITION
from .prediction import PREDICTION
from .view_strides import VIEW_STRIDES
from .windows import WINDOWS

TITLE = "01 tensors, strides, views"
EXERCISES = (POSITION, CONTIGUOUS_STRIDES, PREDICTION, CONTIGUITY, VIEW_STRIDES, WINDOWS)
