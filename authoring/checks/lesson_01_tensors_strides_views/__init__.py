"""Lesson 01: where an element lies, strides, views, contiguity, reshaping and windows; and `mini.tensor`."""

from .contiguity import CONTIGUITY
from .contiguous_strides import CONTIGUOUS_STRIDES
from .own_factories import OWN_FACTORIES
from .own_layout import OWN_LAYOUT
from .own_sizes import OWN_SIZES
from .own_tensor import OWN_TENSOR
from .own_view import OWN_VIEW
from .position import POSITION
from .prediction import PREDICTION
from .view_strides import VIEW_STRIDES
from .windows import WINDOWS

TITLE = "01 tensors, strides, views"
EXERCISES = (
    *(POSITION, CONTIGUOUS_STRIDES, PREDICTION, CONTIGUITY, VIEW_STRIDES, WINDOWS),
    *(OWN_SIZES, OWN_LAYOUT, OWN_VIEW, OWN_TENSOR, OWN_FACTORIES),
)
