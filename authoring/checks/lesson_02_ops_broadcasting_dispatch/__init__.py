"""Lesson 02: a computation under par; and the steps of `mini/ops.py`."""

from .distances import DISTANCES
from .own_composites import OWN_COMPOSITES
from .own_dimensions import OWN_DIMENSIONS
from .own_indexing import OWN_INDEXING
from .own_op import OWN_OP
from .own_pointwise import OWN_POINTWISE
from .own_promotion import OWN_PROMOTION
from .own_reductions import OWN_REDUCTIONS
from .own_views import OWN_VIEWS

TITLE = "02 ops, broadcasting, promotion, dispatch"
EXERCISES = (
    DISTANCES,
    *(OWN_OP, OWN_PROMOTION, OWN_POINTWISE, OWN_REDUCTIONS, OWN_VIEWS, OWN_DIMENSIONS, OWN_INDEXING, OWN_COMPOSITES),
)
