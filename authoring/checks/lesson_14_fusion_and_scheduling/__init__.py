"""Lesson 14: what runs between, half of the bytes, a planner, a ranking; and the steps of `mini/fusion.py`."""

from .between import BETWEEN
from .half_the_bytes import HALF_THE_BYTES
from .memory import MEMORY
from .own_flattening import OWN_FLATTENING
from .own_fusion import OWN_FUSION
from .own_groups import OWN_GROUPS
from .own_joining import OWN_JOINING
from .own_order import OWN_ORDER
from .ranking import RANKING

TITLE = "14 fusion and scheduling"
OWN_STACK = (OWN_GROUPS, OWN_ORDER, OWN_JOINING, OWN_FUSION, OWN_FLATTENING)
EXERCISES = (BETWEEN, HALF_THE_BYTES, MEMORY, RANKING, *OWN_STACK)
