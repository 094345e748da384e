"""Lesson 04: what is left in a graph, trackers, passes, the meaning of a graph, and what stand-ins don't see."""

from .blending import BLENDING
from .equal_nodes import EQUAL_NODES
from .fooling import FOOLING
from .operation_counts import OPERATION_COUNTS
from .running_graphs import RUNNING_GRAPHS
from .tensor_rows import TENSOR_ROWS

TITLE = "04 from interpreter to tracer: graphs"
EXERCISES = (OPERATION_COUNTS, TENSOR_ROWS, EQUAL_NODES, RUNNING_GRAPHS, FOOLING, BLENDING)
