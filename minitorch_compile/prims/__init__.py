"""Floor 5: the closed set of primitive operations, and the rules that write every other op in them.

>>> from minitorch_compile import prims
>>> prims.table["add"] is prims.add, len(prims.table) <= 110
(True, True)
"""

from minitorch_compile.prims.attention import flash_attention, flash_attention_backward
from minitorch_compile.prims.complex_numbers import complex, fft_c2c, fft_c2r, fft_r2c, imag, real
from minitorch_compile.prims.contraction import (
    bmm,
    convolution,
    convolution_input_grad,
    convolution_weight_grad,
    mm,
)
from minitorch_compile.prims.creation import full, iota, philox_uniform
from minitorch_compile.prims.indexing import gather, index, index_put, scatter_add, scatter_reduce
from minitorch_compile.prims.linear_algebra import (
    cholesky,
    eig,
    eigh,
    lu_factor,
    matrix_exp,
    permutation_of_pivots,
    qr,
    solve,
    solve_triangular,
    svd,
)
from minitorch_compile.prims.ordering import sort
from minitorch_compile.prims.pointwise import (
    abs,
    add,
    atan2,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    ceil,
    convert_element_type,
    cos,
    div,
    eq,
    erf,
    exp,
    expm1,
    floor,
    fmod,
    gcd,
    ge,
    gt,
    le,
    log,
    log1p,
    lt,
    maximum,
    minimum,
    mul,
    ne,
    neg,
    nextafter,
    pow,
    reciprocal,
    remainder,
    round,
    rsqrt,
    signbit,
    sin,
    sqrt,
    sub,
    tanh,
    trunc,
    where,
)
from minitorch_compile.prims.pooling import max_pool2d, max_pool2d_backward
from minitorch_compile.prims.prim import Prim, table
from minitorch_compile.prims.reduction import amax, amin, argmax, argmin, prod, scan, sum
from minitorch_compile.prims.shape import (
    broadcast_in_dim,
    cat,
    pad,
    reshape,
    rev,
    slice,
    squeeze,
    transpose,
    view_element_type,
)
from minitorch_compile.prims.special_functions import (
    airy_ai,
    bessel_i0e,
    bessel_i1e,
    bessel_j0,
    bessel_j1,
    bessel_k0e,
    bessel_k1e,
    bessel_y0,
    bessel_y1,
    digamma,
    erf_inv,
    erfc,
    erfcx,
    igamma,
    igammac,
    lgamma,
    ndtri,
    zeta,
)

# isort: split
# The rules are written in the prims above, so they come last.
from minitorch_compile.prims import decompositions
from minitorch_compile.prims.backends import aot_eager_decomp
from minitorch_compile.prims.closure import closure
from minitorch_compile.prims.core import CORE
from minitorch_compile.prims.decomposed_call import decomposed
from minitorch_compile.prims.decomposer import beyond_prims, decompose
from minitorch_compile.prims.decomposition_table import decomposes, register_decomposition
