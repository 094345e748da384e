"""Lesson 10: planted bugs, second derivatives in many directions; and the steps of `mini/transforms.py`."""

from .batches import BATCHES
from .boxes import BOXES
from .faults import FAULTS
from .hessian_products import HESSIAN_PRODUCTS
from .moved_dims import MOVED_DIMS
from .own_vmap import OWN_VMAP
from .tangents import TANGENTS

TITLE = "10 function transforms"
EXERCISES = (
    *(FAULTS, HESSIAN_PRODUCTS),
    *(BOXES, BATCHES, MOVED_DIMS, OWN_VMAP, TANGENTS),
)
