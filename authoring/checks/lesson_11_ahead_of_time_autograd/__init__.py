"""Lesson 11: the other narrowest cut, a partition within a limit; and the steps of `mini/aot.py`."""

from .call_notes import CALL_NOTES
from .cut_near_the_sink import CUT_NEAR_THE_SINK
from .kept_for_later import KEPT_FOR_LATER
from .one_graph import ONE_GRAPH
from .own_backend import OWN_BACKEND
from .shared_memory import SHARED_MEMORY
from .through_views import THROUGH_VIEWS
from .two_graphs import TWO_GRAPHS
from .within import WITHIN
from .without_writes import WITHOUT_WRITES

TITLE = "11 ahead-of-time autograd"
EXERCISES = (
    *(CUT_NEAR_THE_SINK, WITHIN),
    *(SHARED_MEMORY, WITHOUT_WRITES, THROUGH_VIEWS, ONE_GRAPH, KEPT_FOR_LATER, TWO_GRAPHS, CALL_NOTES, OWN_BACKEND),
)
