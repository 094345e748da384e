"""Lesson 13: a lowering, planted bugs; and the steps of `mini/index.py` and `mini/loops.py`."""

from .faults import FAULTS
from .own_atoms import OWN_ATOMS
from .own_boxes import OWN_BOXES
from .own_handlers import OWN_HANDLERS
from .own_inverses import OWN_INVERSES
from .own_loops import OWN_LOOPS
from .own_lowering import OWN_LOWERING
from .own_nodes import OWN_NODES
from .own_pointwise import OWN_POINTWISE
from .own_positions import OWN_POSITIONS
from .own_quotients import OWN_QUOTIENTS
from .own_reductions import OWN_REDUCTIONS
from .own_stores import OWN_STORES
from .own_sums import OWN_SUMS
from .pad import PAD

TITLE = "13 loop IR and lowering"
OWN_STACK = (
    OWN_ATOMS,
    OWN_SUMS,
    OWN_QUOTIENTS,
    OWN_POSITIONS,
    OWN_BOXES,
    OWN_HANDLERS,
    OWN_LOOPS,
    OWN_POINTWISE,
    OWN_INVERSES,
    OWN_LOWERING,
    OWN_STORES,
    OWN_NODES,
    OWN_REDUCTIONS,
)
EXERCISES = (PAD, FAULTS, *OWN_STACK)
