"""Lesson 02: broadcasting, type promotion, and interpreters of ops."""

from .bytes_written import BYTES
from .distances import DISTANCES
from .dtypes import DTYPES
from .expand_strides import EXPAND_STRIDES
from .promotion import PROMOTION
from .sizes import SIZES

TITLE = "02 ops, broadcasting, promotion, dispatch"
EXERCISES = (SIZES, EXPAND_STRIDES, DTYPES, PROMOTION, BYTES, DISTANCES)
