"""Lesson 10: two batching rules, shapes, planted bugs, clipped gradients, second derivatives; and `mini.transforms`."""

from .batches import BATCHES
from .boxes import BOXES
from .clipped_gradient import CLIPPED_GRADIENT
from .faults import FAULTS
from .hessian_products import HESSIAN_PRODUCTS
from .jacobians import JACOBIANS
from .matrix_products import MATRIX_PRODUCTS
from .moved_dims import MOVED_DIMS
from .own_vmap import OWN_VMAP
from .shapes import SHAPES
from .shifted import SHIFTED
from .tangent_rules import TANGENT_RULES
from .tangents import TANGENTS

TITLE = "10 function transforms"
EXERCISES = (
    *(SHIFTED, MATRIX_PRODUCTS, SHAPES, FAULTS, CLIPPED_GRADIENT, HESSIAN_PRODUCTS),
    *(BOXES, BATCHES, MOVED_DIMS, OWN_VMAP, TANGENTS, TANGENT_RULES, JACOBIANS),
)
