"""Lesson 05: checks, their order, the cache, holes, predictions, and a storm."""

from .check_text import CHECK_TEXT
from .checking_order import CHECKING_ORDER
from .holes import HOLES
from .move_to_front import MOVE_TO_FRONT
from .recompiles import RECOMPILES
from .storm import STORM

TITLE = "05 guards and the cache"
EXERCISES = (CHECK_TEXT, CHECKING_ORDER, MOVE_TO_FRONT, HOLES, RECOMPILES, STORM)
