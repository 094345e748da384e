"""Connectionist temporal classification has none.

>>> from minitorch_compile.prims.decomposition_table import refusal_of
>>> from minitorch_compile.tensor import ops
>>> refusal_of(ops.ctc_alignments)
'it walks over the times one after another; PyTorch keeps _ctc_loss whole as well'
"""

from __future__ import annotations

from minitorch_compile.prims.decomposition_table import refuses
from minitorch_compile.tensor import ops

refuses(
    ops.ctc_alignments,
    ops.ctc_gradient,
    because="it walks over the times one after another; PyTorch keeps _ctc_loss whole as well",
)
