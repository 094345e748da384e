"""From prims to loops: one rule a prim, in `table`, or a reason why not; and the walk over a graph that applies them.

>>> from minitorch_compile import prims
>>> sorted(set(prims.table) - set(table) - set(WITHOUT_A_KERNEL)), WITHOUT_A_KERNEL["sort"]
([], 'what it compares depends on the data')
"""

from minitorch_compile.inductor.lowering import (
    concatenation,
    convolution,
    creation,
    extern,
    indexing,
    pointwise,
    reduction,
    shape,
)
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering, lower
from minitorch_compile.inductor.lowering.table import WITHOUT_A_KERNEL, lowering, table
