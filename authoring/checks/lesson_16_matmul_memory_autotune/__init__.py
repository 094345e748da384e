"""Lesson 16: the roofline, an order for the cache, epilogues, online softmax, memory in place, timing, one's own"
" program."""

from .choosing import CHOOSING
from .epilogue import EPILOGUE
from .in_place import IN_PLACE
from .online_softmax import ONLINE_SOFTMAX
from .order import ORDER
from .own_call import OWN_CALL
from .own_door import OWN_DOOR
from .own_epilogues import OWN_EPILOGUES
from .own_plan import OWN_PLAN
from .own_product import OWN_PRODUCT
from .own_steps import OWN_STEPS
from .pieces import PIECES
from .work_and_bytes import WORK_AND_BYTES

TITLE = "16 Matmul, memory planning, autotune"
OWN_STACK = (OWN_PRODUCT, OWN_EPILOGUES, OWN_STEPS, OWN_PLAN, OWN_CALL, OWN_DOOR)
EXERCISES = (WORK_AND_BYTES, ORDER, EPILOGUE, PIECES, ONLINE_SOFTMAX, IN_PLACE, CHOOSING, *OWN_STACK)
