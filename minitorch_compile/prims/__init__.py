"""Floor 5: the closed set of primitive operations, and the rules that write every other op in them.

>>> from minitorch_compile import prims
>>> prims.table["add"] is prims.add
True

A prim is declared in one of the files imported first; that alone makes it an attribute of this module. `__init__.pyi`
lists them for editors and type checkers (`tools/stubs.py`).
"""

from minitorch_compile.prims import (
    attention,
    complex_numbers,
    contraction,
    creation,
    indexing,
    linear_algebra,
    ordering,
    pointwise,
    pooling,
    reduction,
    shape,
    special_functions,
)
from minitorch_compile.prims.prim import Prim, table

globals().update(table)

# isort: split
# The rules are written in the prims above, so they come last.
from minitorch_compile.prims import decompositions
from minitorch_compile.prims.backends import aot_eager_decomp
from minitorch_compile.prims.closure import closure
from minitorch_compile.prims.core import CORE
from minitorch_compile.prims.decomposed_call import decomposed
from minitorch_compile.prims.decomposer import decompose
from minitorch_compile.prims.decomposition_table import beyond_prims, decomposes, register_decomposition
