"""Lesson 05: checks, their order, the cache, holes, predictions, a storm; and the steps of `mini/guards.py`."""

from .cache import CACHE
from .check_text import CHECK_TEXT
from .checking_order import CHECKING_ORDER
from .first_failing import FIRST_FAILING
from .holes import HOLES
from .move_to_front import MOVE_TO_FRONT
from .objects import OBJECTS
from .read_through import READ_THROUGH
from .reading import READING
from .recompiles import RECOMPILES
from .sharing import SHARING
from .sources import SOURCES
from .storm import STORM

TITLE = "05 guards and the cache"
EXERCISES = (
    CHECK_TEXT,
    CHECKING_ORDER,
    MOVE_TO_FRONT,
    HOLES,
    RECOMPILES,
    STORM,
    SOURCES,
    FIRST_FAILING,
    READING,
    READ_THROUGH,
    OBJECTS,
    SHARING,
    CACHE,
)
