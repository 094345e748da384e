"""Lesson 17: online softmax, memory in place, timing; and `mini.program`, `mini.front`."""

from .choosing import CHOOSING
from .in_place import IN_PLACE
from .online_softmax import ONLINE_SOFTMAX
from .own_call import OWN_CALL
from .own_door import OWN_DOOR
from .own_plan import OWN_PLAN
from .own_steps import OWN_STEPS

TITLE = "17 Memory, attention, autotune"
EXERCISES = (ONLINE_SOFTMAX, IN_PLACE, CHOOSING, OWN_STEPS, OWN_PLAN, OWN_CALL, OWN_DOOR)
