"""Lesson 03: bugs in unwinding; and the steps of `mini/interpreter.py`."""

from .own_behind import OWN_BEHIND
from .own_calls import OWN_CALLS
from .own_containers import OWN_CONTAINERS
from .own_decoding import OWN_DECODING
from .own_frame import OWN_FRAME
from .own_functions import OWN_FUNCTIONS
from .own_items import OWN_ITEMS
from .own_loops import OWN_LOOPS
from .own_names import OWN_NAMES
from .own_parts_of_instructions import OWN_PARTS
from .unwinding import UNWINDING

TITLE = "03 a bytecode interpreter"
EXERCISES = (
    UNWINDING,
    *(OWN_ITEMS, OWN_PARTS, OWN_DECODING, OWN_FRAME, OWN_NAMES, OWN_CONTAINERS, OWN_LOOPS, OWN_CALLS, OWN_FUNCTIONS),
    OWN_BEHIND,
)
