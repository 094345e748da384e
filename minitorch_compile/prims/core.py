"""The core ops: what `decompose(graph, until="core")` leaves.

Prims are for compilers; they say nothing about a program that a person would recognise. The core is the middle ground
that backends for other machines are written against. Of the ops that people call it keeps those that are worth a
kernel of their own (softmax, layer normalization, convolution, gelu); everything else is decomposed, as deep as prims,
and each prim is written as the op of which it is the strict form: `prims.mul` as `mul`, `broadcast_in_dim` as `expand`.

>>> from minitorch_compile.prims import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> print(decomposed(ops.silu, empty_fake((3,)), until="core").compact())
x -> mul(x, sigmoid(x))
>>> len(CORE) < 189    # as many has PyTorch, overloads counted apart
True

Source: PyTorch's core ATen operators (`docs/source/torch.compiler_ir.md`); `PYTORCH_NAMES` has its name for each.
"""

from __future__ import annotations

from minitorch_compile.prims.decomposition_table import Rule
from minitorch_compile.prims.prim import Prim, table
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.numerics.dtype import FLOATING, bool_, dtype, float64, int64

Ints = tuple[int, ...]

# ------------------------------------------------------------------------------------------ prims as ops

# A prim is the op of its own name, called with the same arguments. Of these, the op has another name.
OTHER_NAMES = {
    "airy_ai": "special_airy_ai",
    "bessel_i0e": "special_i0e",
    "bessel_i1e": "special_i1e",
    "bessel_j0": "special_bessel_j0",
    "bessel_j1": "special_bessel_j1",
    "bessel_k0e": "special_scaled_modified_bessel_k0",
    "bessel_k1e": "special_scaled_modified_bessel_k1",
    "bessel_y0": "special_bessel_y0",
    "bessel_y1": "special_bessel_y1",
    "convert_element_type": "to_copy",
    "eig": "_linalg_eig",
    "eigh": "_linalg_eigh",
    "erf_inv": "erfinv",
    "erfcx": "special_erfcx",
    "fft_c2c": "_fft_c2c",
    "fft_c2r": "_fft_c2r",
    "fft_r2c": "_fft_r2c",
    "imag": "_imaginary_part",
    "lu_factor": "_linalg_lu_factor",
    "matrix_exp": "linalg_matrix_exp",
    "max_pool2d": "max_pool_with_indices",
    "max_pool2d_backward": "max_pool_with_indices_backward",
    "ndtri": "special_ndtri",
    "permutation_of_pivots": "_permutation_of_pivots",
    "qr": "_linalg_qr",
    "real": "_real_part",
    "rev": "flip",
    "solve": "_linalg_solve",
    "solve_triangular": "_linalg_solve_triangular",
    "svd": "_linalg_svd",
    "transpose": "permute",
    "view_element_type": "view_dtype",
    "zeta": "special_zeta",
}

_rules: dict[str, Rule] = {}  # of prims that take other arguments than any op


def as_core(prim: Prim) -> Rule:
    """The prim as a function of the same parameters that calls core ops."""
    return _rules.get(prim.name) or _op_of(prim.name)


def _op_of(prim: str) -> Op:
    name = OTHER_NAMES.get(prim, prim)
    if name not in ops.table:
        raise LookupError(
            f"prims.{prim}: there is no op named {name!r}; OTHER_NAMES says of which op it is the strict form"
        )
    return ops.table[name]


def _spells(rule: Rule) -> Rule:
    """Declares the decorated function to be the prim of that name, said in core ops."""
    _rules[rule.__name__] = rule
    return rule


@_spells
def div(a: Tensor, b: Tensor) -> Tensor:
    return ops.div(a, b) if a.dtype.category >= FLOATING else ops.div(a, b, "trunc")


@_spells
def sum(x: Tensor, dims: Ints) -> Tensor:
    return ops.sum(x, dims, False, dtype=x.dtype)


@_spells
def prod(x: Tensor, dims: Ints) -> Tensor:
    return ops.prod(x, dims, False, dtype=x.dtype)


@_spells
def amax(x: Tensor, dims: Ints) -> Tensor:
    return ops.amax(x, dims, False)


@_spells
def amin(x: Tensor, dims: Ints) -> Tensor:
    return ops.amin(x, dims, False)


@_spells
def argmax(x: Tensor, dim: int) -> Tensor:
    return ops.argmax(_numbers(x), dim, False)


@_spells
def argmin(x: Tensor, dim: int) -> Tensor:
    return ops.argmin(_numbers(x), dim, False)


def _numbers(x: Tensor) -> Tensor:
    """Bools as integers."""
    return ops.to_copy(x, int64) if x.dtype is bool_ else x


@_spells
def scan(x: Tensor, dim: int, kind: str) -> Tensor:
    if kind in ("amax", "amin"):
        return ops.gather(x, dim, ops.running_extreme_indices(x, dim, kind == "amax"))
    if kind == "logaddexp":
        return ops.logcumsumexp(x, dim)
    return (ops.cumsum if kind == "sum" else ops.cumprod)(x, dim, dtype=x.dtype)


@_spells
def broadcast_in_dim(x: Tensor, sizes: Ints, broadcast_dimensions: Ints) -> Tensor:
    for dim in range(len(sizes)):
        if dim not in broadcast_dimensions:
            x = ops.unsqueeze(x, dim)
    return ops.expand(x, sizes)


@_spells
def reshape(x: Tensor, sizes: Ints) -> Tensor:
    return ops.reshape(x, sizes)


@_spells
def slice(x: Tensor, start_indices: Ints, limit_indices: Ints, strides: Ints) -> Tensor:
    for dim, (start, limit, step) in enumerate(zip(start_indices, limit_indices, strides, strict=True)):
        if (start, limit, step) != (0, x.sizes[dim], 1):
            x = ops.slice(x, dim, start, limit, step)
    return x


@_spells
def pad(x: Tensor, low: Ints, high: Ints, value: float) -> Tensor:
    around = [n for pair in zip(reversed(low), reversed(high), strict=True) for n in pair]
    return ops.constant_pad_nd(x, around, value)


@_spells
def iota(length: int, start: float, step: float, dtype: dtype) -> Tensor:
    if step == 1 and start == 0:
        return ops.arange(length, dtype=dtype)
    wide = int64 if dtype.category < FLOATING else float64
    return ops.to_copy(ops.arange(length, dtype=wide) * step + start, dtype)


@_spells
def convolution(x: Tensor, w: Tensor, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Tensor:
    return ops.convolution(x, w, None, stride, padding, dilation, groups)


@_spells
def scatter_reduce(x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str) -> Tensor:
    return ops.scatter_combine(x, dim, index, src, reduce, True)


@_spells
def sort(x: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    places = ops.argsort(x, dim, descending, True)
    return ops.gather(x, dim, places), places


@_spells
def cholesky(a: Tensor) -> Tensor:
    return ops._linalg_cholesky(a, False)


# ------------------------------------------------------------------------------------------ the core

# Of the ops that people call, those in which prims are not yet to be seen.
KEPT_WHOLE = """
    acos acosh addmm any asin asinh atan atanh avg_pool avg_pool_backward clamp col2im convolution cosh diagonal elu
    embedding gelu hardtanh isinf isnan leaky_relu log10 log2 log_softmax logical_and logical_not logical_or logical_xor
    mean native_batch_norm native_layer_norm philox_normal relu scatter_src select sigmoid sign sinh softmax
    split_with_sizes_copy tan topk_indices copy fill clone full_strided
"""
# What dissolves no further, and has no prim: its size depends on the data, or it walks through time.
WITHOUT_A_SIMPLER_FORM = """
    argwhere repeated_positions unique_parts unique_consecutive_parts bincount ctc_alignments ctc_gradient
    multinomial_choice poisson_quantile binomial_quantile gamma_quantile gamma_quantile_slope uniform_random
    normal_random randint_random mt19937_random mt19937_rejected
"""
# What the rules above call besides the op of the prim's own name.
IN_SPELLINGS = """
    sum prod amax amin argmax argmin cumsum cumprod logcumsumexp running_extreme_indices unsqueeze expand view slice
    constant_pad_nd arange scatter_combine argsort _linalg_cholesky div
"""


def _named(*lists: str) -> list[Op]:
    return [ops.table[name] for names in lists for name in names.split()]


CORE: frozenset[Op] = frozenset(
    [
        *_named(KEPT_WHOLE, WITHOUT_A_SIMPLER_FORM, IN_SPELLINGS),
        *(_op_of(prim) for prim in table if prim not in _rules),
    ]
)

# Where a core ATen operator has another name than ours.
PYTORCH_NAMES = {
    "_fft_r2c": "_fft_r2c",
    "argsort": "sort",
    "argwhere": "nonzero",
    "avg_pool": "avg_pool1d, avg_pool2d, avg_pool3d",
    "avg_pool_backward": "avg_pool2d_backward",
    "convolution_input_grad": "convolution_backward",
    "convolution_weight_grad": "convolution_backward",
    "full_strided": "empty_strided",
    "log_softmax": "_log_softmax",
    "max_pool_with_indices": "max_pool2d_with_indices, max_pool3d_with_indices",
    "max_pool_with_indices_backward": "max_pool2d_with_indices_backward",
    "native_batch_norm": "_native_batch_norm_legit",
    "philox_normal": "randn",
    "philox_uniform": "rand",
    "scatter_combine": "scatter_reduce",
    "scatter_src": "scatter",
    "softmax": "_softmax",
    "split_with_sizes_copy": "split_with_sizes",
    "to_copy": "_to_copy",
    "topk_indices": "topk",
}
SAME_NAME = """
    _fft_c2r abs acos acosh add addmm amax amin any arange argmax argmin asin asinh atan atan2 atanh bitwise_and
    bitwise_not bitwise_or bitwise_xor bmm cat ceil clamp clone col2im constant_pad_nd convolution copy cos cosh
    cumsum diagonal div elu embedding eq erf exp expand expm1 fill flip floor fmod full gather ge gelu gt hardtanh
    index index_put isinf isnan le leaky_relu log log10 log1p log2 logical_and logical_not logical_or logical_xor
    lt maximum mean minimum mm mul native_layer_norm ne neg permute pow prod reciprocal relu remainder round rsqrt
    scatter_add select sigmoid sign sin sinh slice sqrt squeeze sub sum tan tanh trunc unsqueeze view where
"""


def pytorch_name(op: Op) -> str:
    """What the op is called among PyTorch's core ATen operators; "" if PyTorch has it outside of the core."""
    return PYTORCH_NAMES.get(op.name, op.name if op.name in SAME_NAME.split() else "")
