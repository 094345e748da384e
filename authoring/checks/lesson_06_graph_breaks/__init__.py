"""Lesson 06: graphs counted, liveness, the rest of a function, merged effects, breaks to order, and one to mend."""

from .broken_to_order import BROKEN_TO_ORDER
from .graph_counts import GRAPH_COUNTS
from .liveness import LIVENESS
from .mended import MENDED
from .merged_effects import MERGED_EFFECTS
from .rest_of import REST_OF

TITLE = "06 graph breaks"
EXERCISES = (GRAPH_COUNTS, LIVENESS, REST_OF, MERGED_EFFECTS, BROKEN_TO_ORDER, MENDED)
