"""Lesson 16: the roofline, an order for the cache, epilogues, online softmax, memory in place, choosing by timing."""

from .choosing import CHOOSING
from .epilogue import EPILOGUE
from .in_place import IN_PLACE
from .online_softmax import ONLINE_SOFTMAX
from .order import ORDER
from .pieces import PIECES
from .work_and_bytes import WORK_AND_BYTES

TITLE = "16 Matmul, memory planning, autotune"
EXERCISES = (WORK_AND_BYTES, ORDER, EPILOGUE, PIECES, ONLINE_SOFTMAX, IN_PLACE, CHOOSING)
