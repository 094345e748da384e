"""Lesson 06: graphs counted, liveness, the rest of a function, effects, breaks; and the steps of `mini/breaks.py`."""

from .broken_to_order import BROKEN_TO_ORDER
from .copying import COPYING
from .graph_counts import GRAPH_COUNTS
from .liveness import LIVENESS
from .mended import MENDED
from .merged_effects import MERGED_EFFECTS
from .new_objects import NEW_OBJECTS
from .regions import REGIONS
from .replaying import REPLAYING
from .rest_of import REST_OF
from .segments import SEGMENTS

TITLE = "06 graph breaks"
EXERCISES = (
    GRAPH_COUNTS,
    LIVENESS,
    REST_OF,
    MERGED_EFFECTS,
    BROKEN_TO_ORDER,
    MENDED,
    COPYING,
    NEW_OBJECTS,
    REPLAYING,
    SEGMENTS,
    REGIONS,
)
