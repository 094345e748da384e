"""Which calls a compiled graph keeps whole, though they could be written in prims.

`decompose` takes everything apart that it can. But a sort is one quick call of NumPy's, and what it would dissolve into
has no kernel either; and a call on complex numbers would become a dozen calls that run as they are, in place of one.

>>> from minitorch_compile.tensor import empty_fake, ops
>>> x = empty_fake((3,))
>>> stays_whole(ops.argsort, (x, 0)), stays_whole(ops.exp, (x,))
(True, False)

Source: `make_fallback` in TorchInductor (`torch/_inductor/lowering.py`), which lists such ops in the same way.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.prims import beyond_prims
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype, dtype_of_scalar
from minitorch_compile.tensor.tensor_base import TensorBase

# Ops that NumPy, SciPy or LAPACK do in one pass, where prims would take many.
ONE_CALL = """
    argsort topk_indices median_index mode_index searchsorted_places isin_elements histc
    gcd lcm nextafter view_dtype polygamma
    linalg_inv _linalg_solve _linalg_solve_triangular _linalg_pinv linalg_det _linalg_slogdet linalg_matrix_exp
    _linalg_cholesky _linalg_qr _linalg_svd _linalg_eigh _linalg_eig _linalg_lu_factor _permutation_of_pivots
    special_zeta special_airy_ai
"""
WHOLE = frozenset(ops.table[name] for name in ONE_CALL.split())
DIVISIONS = frozenset((ops.floor_divide, ops.remainder, ops.fmod, ops.div))


def stays_whole(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether a compiled graph runs this call as it is."""
    if op in WHOLE or beyond_prims(op, args) or _may_divide_by_zero(op, args):
        return True
    return any(_has_no_kernels(op, leaf) for leaf in tree_leaves(args))


def _may_divide_by_zero(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether integers are divided by others that are not known: a zero among them raises, as no kernel does."""
    if op not in DIVISIONS or (op is ops.div and args[2] is None):
        return False
    numbers = [x.dtype if isinstance(x, TensorBase) else dtype_of_scalar(x) for x in args[:2]]
    is_integer = all(element.category < FLOATING for element in numbers)
    return is_integer and (isinstance(args[1], TensorBase) or (type(args[1]) is int and args[1] == 0))


def _has_no_kernels(op: Op, value: Any) -> bool:
    """Whether kernels can't be generated for what has this argument."""
    element = value.dtype if isinstance(value, TensorBase) else value
    if not isinstance(element, dtype):
        return isinstance(value, complex)
    return element.is_complex or (op.kind == "convolution" and not element.is_floating_point)
