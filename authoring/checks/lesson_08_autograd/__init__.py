"""Lesson 08: formulas, the walk back, what .grad holds, nudging, second derivatives."""

from .backward_order import BACKWARD_ORDER
from .division import DIVISION
from .gradients import GRADIENTS
from .hessian_vector import HESSIAN_VECTOR
from .numeric_gradient import NUMERIC_GRADIENT
from .sum_to import SUM_TO

TITLE = "08 autograd"
EXERCISES = (DIVISION, SUM_TO, BACKWARD_ORDER, GRADIENTS, NUMERIC_GRADIENT, HESSIAN_VECTOR)
