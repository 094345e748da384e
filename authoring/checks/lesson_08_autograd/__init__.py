"""Lesson 08: formulas, the walk back, what .grad holds, nudging, second derivatives; and `mini.tape`."""

from .backward_order import BACKWARD_ORDER
from .dimension_rules import DIMENSION_RULES
from .division import DIVISION
from .element_rules import ELEMENT_RULES
from .engine import ENGINE
from .gradients import GRADIENTS
from .hessian_vector import HESSIAN_VECTOR
from .histories import HISTORIES
from .node_order import NODE_ORDER
from .notes import NOTES
from .numeric_gradient import NUMERIC_GRADIENT
from .sum_to import SUM_TO
from .tape_layer import TAPE_LAYER
from .what_users_call import WHAT_USERS_CALL

TITLE = "08 autograd"
EXERCISES = (
    *(DIVISION, SUM_TO, BACKWARD_ORDER, GRADIENTS, NUMERIC_GRADIENT, HESSIAN_VECTOR),
    *(HISTORIES, NOTES, TAPE_LAYER, ELEMENT_RULES, DIMENSION_RULES, NODE_ORDER, ENGINE, WHAT_USERS_CALL),
)
