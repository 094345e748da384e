"""Lesson 08: what .grad holds; and the steps of `mini/tape.py`."""

from .dimension_rules import DIMENSION_RULES
from .element_rules import ELEMENT_RULES
from .engine import ENGINE
from .gradients import GRADIENTS
from .histories import HISTORIES
from .node_order import NODE_ORDER
from .notes import NOTES
from .tape_layer import TAPE_LAYER
from .what_users_call import WHAT_USERS_CALL

TITLE = "08 autograd"
EXERCISES = (
    GRADIENTS,
    *(HISTORIES, NOTES, TAPE_LAYER, ELEMENT_RULES, DIMENSION_RULES, NODE_ORDER, ENGINE, WHAT_USERS_CALL),
)
