"""Lesson 12: planted bugs, two careful rules, a pass; and the steps of `mini/prims.py`."""

from .faults import FAULTS
from .few_and_accurate import FEW_AND_ACCURATE
from .log_softmax import LOG_SOFTMAX
from .merge import MERGE
from .own_decomposer import OWN_DECOMPOSER
from .own_layer import OWN_LAYER
from .own_rules import OWN_RULES

TITLE = "12 prims and decompositions"
OWN_STACK = (OWN_RULES, OWN_LAYER, OWN_DECOMPOSER)
EXERCISES = (FAULTS, LOG_SOFTMAX, FEW_AND_ACCURATE, MERGE, *OWN_STACK)
