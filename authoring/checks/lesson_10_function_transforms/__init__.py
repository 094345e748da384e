"""Lesson 10: two batching rules, shapes, planted bugs, clipped gradients, second derivatives in many directions."""

from .clipped_gradient import CLIPPED_GRADIENT
from .faults import FAULTS
from .hessian_products import HESSIAN_PRODUCTS
from .matrix_products import MATRIX_PRODUCTS
from .shapes import SHAPES
from .shifted import SHIFTED

TITLE = "10 function transforms"
EXERCISES = (SHIFTED, MATRIX_PRODUCTS, SHAPES, FAULTS, CLIPPED_GRADIENT, HESSIAN_PRODUCTS)
