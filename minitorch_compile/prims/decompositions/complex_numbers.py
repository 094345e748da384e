"""Complex numbers stay what they are: kernels are generated for real dtypes only.

>>> from minitorch_compile.prims.decomposition_table import refusal_of
>>> from minitorch_compile.tensor import ops
>>> refusal_of(ops.view_as_complex)
'kernels compute with real numbers; complex ones run on NumPy, between what is compiled'
"""

from __future__ import annotations

from minitorch_compile.prims.decomposition_table import refuses
from minitorch_compile.tensor import ops

refuses(
    ops.complex,
    ops._real_part,
    ops._imaginary_part,
    ops.view_as_real,
    ops.view_as_complex,
    ops.conj_physical,
    ops.angle,
    ops._fft_c2c,
    ops._fft_r2c,
    ops._fft_c2r,
    because="kernels compute with real numbers; complex ones run on NumPy, between what is compiled",
)
