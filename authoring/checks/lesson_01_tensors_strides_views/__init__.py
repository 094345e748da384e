"""Lesson 01: strides, views, contiguity, windows; and the steps of `mini/tensor.py`."""

from .contiguity import CONTIGUITY
from .contiguous_strides import CONTIGUOUS_STRIDES
from .own_factories import OWN_FACTORIES
from .own_layout import OWN_LAYOUT
from .own_sizes import OWN_SIZES
from .own_tensor import OWN_TENSOR
from .own_view import OWN_VIEW
from .prediction import PREDICTION
from .windows import WINDOWS

TITLE = "01 tensors, strides, views"
EXERCISES = (
    *(CONTIGUOUS_STRIDES, PREDICTION, CONTIGUITY, WINDOWS),
    *(OWN_SIZES, OWN_LAYOUT, OWN_VIEW, OWN_TENSOR, OWN_FACTORIES),
)
