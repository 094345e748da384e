"""Lesson 06: liveness, the rest of a function, breaks made and mended; and the steps of `mini/breaks.py`."""

from .broken_to_order import BROKEN_TO_ORDER
from .copying import COPYING
from .liveness import LIVENESS
from .mended import MENDED
from .new_objects import NEW_OBJECTS
from .regions import REGIONS
from .replaying import REPLAYING
from .rest_of import REST_OF
from .segments import SEGMENTS

TITLE = "06 graph breaks"
EXERCISES = (
    LIVENESS,
    REST_OF,
    BROKEN_TO_ORDER,
    MENDED,
    COPYING,
    NEW_OBJECTS,
    REPLAYING,
    SEGMENTS,
    REGIONS,
)
