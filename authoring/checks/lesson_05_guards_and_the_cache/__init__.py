"""Lesson 05: holes in guards, a storm of recompiles; and the steps of `mini/guards.py` and `mini/sizes.py`."""

from .cache import CACHE
from .dynamic_inputs import DYNAMIC_INPUTS
from .first_failing import FIRST_FAILING
from .holes import HOLES
from .objects import OBJECTS
from .own_formulas import OWN_FORMULAS
from .own_sizes import OWN_SIZES
from .read_through import READ_THROUGH
from .reading import READING
from .sharing import SHARING
from .sources import SOURCES
from .storm import STORM

TITLE = "05 guards and the cache"
EXERCISES = (
    HOLES,
    STORM,
    SOURCES,
    FIRST_FAILING,
    READING,
    READ_THROUGH,
    OBJECTS,
    SHARING,
    CACHE,
    OWN_FORMULAS,
    OWN_SIZES,
    DYNAMIC_INPUTS,
)
