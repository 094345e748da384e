"""Lesson 04: bugs in a pass; and the steps of `mini/graph.py` and `mini/tracer.py`."""

from .equal_nodes import EQUAL_NODES
from .own_apply import OWN_APPLY
from .own_attributes import OWN_ATTRIBUTES
from .own_computing import OWN_COMPUTING
from .own_graphs import OWN_GRAPHS
from .own_inlining import OWN_INLINING
from .own_meaning import OWN_MEANING
from .own_recording import OWN_RECORDING
from .own_trace import OWN_TRACE
from .own_undoing import OWN_UNDOING

TITLE = "04 from interpreter to tracer: graphs"
EXERCISES = (
    EQUAL_NODES,
    *(OWN_GRAPHS, OWN_MEANING, OWN_RECORDING),
    *(OWN_TRACE, OWN_UNDOING, OWN_APPLY, OWN_INLINING, OWN_COMPUTING, OWN_ATTRIBUTES),
)
