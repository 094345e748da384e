"""Lesson 16: the roofline, an order for the cache, epilogues; and `mini.products`."""

from .epilogue import EPILOGUE
from .order import ORDER
from .own_epilogues import OWN_EPILOGUES
from .own_product import OWN_PRODUCT
from .pieces import PIECES
from .work_and_bytes import WORK_AND_BYTES

TITLE = "16 Products and epilogues"
EXERCISES = (WORK_AND_BYTES, ORDER, EPILOGUE, PIECES, OWN_PRODUCT, OWN_EPILOGUES)
