"""Lesson 02: broadcasting, type promotion, interpreters of ops; and `mini.ops`."""

from .bytes_written import BYTES
from .distances import DISTANCES
from .dtypes import DTYPES
from .expand_strides import EXPAND_STRIDES
from .own_composites import OWN_COMPOSITES
from .own_dimensions import OWN_DIMENSIONS
from .own_indexing import OWN_INDEXING
from .own_op import OWN_OP
from .own_pointwise import OWN_POINTWISE
from .own_promotion import OWN_PROMOTION
from .own_reductions import OWN_REDUCTIONS
from .own_views import OWN_VIEWS
from .promotion import PROMOTION
from .sizes import SIZES

TITLE = "02 ops, broadcasting, promotion, dispatch"
EXERCISES = (
    *(SIZES, EXPAND_STRIDES, DTYPES, PROMOTION, BYTES, DISTANCES),
    *(OWN_OP, OWN_PROMOTION, OWN_POINTWISE, OWN_REDUCTIONS, OWN_VIEWS, OWN_DIMENSIONS, OWN_INDEXING, OWN_COMPOSITES),
)
