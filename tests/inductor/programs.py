"""Programs over prims, one or more for each lowering, with inputs: every target is tested on all of them."""

import ml_dtypes
import numpy as np

from minitorch_compile.tensor.numerics.dtype import (
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
)
from minitorch_compile.tensor.tensor_base import wrap

F = np.float32


def floats(*sizes, seed=0, dtype=F):
    return np.random.default_rng(seed).standard_normal(sizes).astype(dtype)


def ints(*sizes, low=-5, high=6, seed=0):
    return np.random.default_rng(seed).integers(low, high, sizes)


def transposed(array):
    """A tensor whose strides are not row-major."""
    return wrap(array.T.copy().T)


AWKWARD = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-40, 3e38, -1e-3, 0.5, 2.0], F)
PAIRS = np.array(np.meshgrid(AWKWARD, AWKWARD)).reshape(2, -1)

UNARY = [
    "neg", "abs", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "erf", "floor",
    "ceil", "round", "trunc", "signbit",
]  # fmt: skip
BINARY = ["add", "sub", "mul", "div", "pow", "remainder", "fmod", "maximum", "minimum", "atan2"]
COMPARE = ["eq", "ne", "lt", "le", "gt", "ge"]
INTEGER = [
    "add", "sub", "mul", "div", "remainder", "fmod", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor",
]  # fmt: skip

PROGRAMS = {}


def program(*arrays):
    def add(function):
        PROGRAMS[function.__name__] = (function, arrays)
        return function

    return add


@program(AWKWARD.clip(-1e6, 1e6))
def every_unary_function(p, x):
    return tuple(getattr(p, name)(x) for name in UNARY)


@program(AWKWARD.clip(-1e6, 1e6).astype(np.float64))
def every_unary_function_in_float64(p, x):
    return tuple(getattr(p, name)(x) for name in UNARY)


@program(*PAIRS)
def every_binary_function(p, x, y):
    return tuple(getattr(p, name)(x, y) for name in BINARY)


@program(*PAIRS.astype(np.float64))
def every_binary_function_in_float64(p, x, y):
    return tuple(getattr(p, name)(x, y) for name in BINARY)


@program(*PAIRS)
def every_comparison(p, x, y):
    results = [getattr(p, name)(x, y) for name in COMPARE]
    return (*results, p.where(p.bitwise_not(results[2]), x, y), p.bitwise_xor(results[0], results[3]))


@program(ints(40), ints(40, seed=1))
def integer_arithmetic(p, x, y):
    return (*(getattr(p, name)(x, y) for name in INTEGER), p.neg(x), p.abs(x), p.bitwise_not(x))


@program(ints(40).astype(np.int32), ints(40, seed=1).astype(np.int32))
def integer_arithmetic_in_int32(p, x, y):
    return (*(getattr(p, name)(x, y) for name in INTEGER), p.mul(p.full((40,), 1 << 20, int32), p.mul(x, x)))


ENDS = np.array([0, 1, -1, 5, 127, -128, 100, -100, 32767, -32768, 255, 77])
SMALL = np.array(np.meshgrid(ENDS, ENDS)).reshape(2, -1)


@program(*SMALL.astype(np.int8), *SMALL.astype(np.int16), *SMALL.astype(np.uint8))
def arithmetic_of_small_integers(p, a, b, c, d, e, f):
    results = [getattr(p, name)(x, y) for x, y in ((a, b), (c, d), (e, f)) for name in INTEGER]
    wrapped = [
        p.neg(a),
        p.abs(a),
        p.bitwise_not(e),
        p.neg(e),
        p.sum(a, (0,)),
        p.prod(c, (0,)),
        p.amax(e, (0,)),
    ]
    compared = [p.lt(e, f), p.where(p.gt(a, b), a, b), p.argmax(c, 0), p.convert_element_type(c, int8)]
    return (*results, *wrapped, *compared, p.convert_element_type(a, uint8), p.convert_element_type(e, float32))


@program(np.array([0.0, 1.7, -1.7, 300.0, 0.3], F), ints(5), np.array([True, False, True, True, False]))
def conversions(p, x, i, b):
    return (
        p.convert_element_type(x, int64), p.convert_element_type(x, float64), p.convert_element_type(x, bool_),
        p.convert_element_type(i, float32), p.convert_element_type(i, bool_), p.convert_element_type(b, float32),
        p.convert_element_type(b, int64), p.convert_element_type(i, int32),
    )  # fmt: skip


@program(floats(6))
def small_powers(p, x):
    return tuple(p.pow(x, p.full((6,), exponent, float32)) for exponent in (1.0, 2.0, 3.0, 0.5, -1.0, 4.0))


@program(floats(3, 4), floats(4, seed=1))
def broadcast_and_transpose(p, x, row):
    wide = p.add(x, p.broadcast_in_dim(row, (3, 4), (1,)))
    return p.mul(p.transpose(wide, (1, 0)), p.transpose(x, (1, 0)))


@program(floats(70, 50), floats(50, 70, seed=1), floats(2, 40, 50, seed=2))
def transposes_in_tiles(p, x, y, z):
    return p.add(p.transpose(x, (1, 0)), y), p.exp(p.transpose(z, (0, 2, 1))), p.transpose(z, (2, 1, 0))


@program(
    ints(75, 41).astype(np.int8), ints(75, 41).astype(np.int16), floats(75, 41, dtype=np.float64), ints(75, 41) > 0
)
def transposes_of_other_dtypes(p, a, b, c, d):
    turned = [p.transpose(x, (1, 0)) for x in (a, b, c, d)]
    return p.add(turned[0], turned[0]), p.neg(turned[1]), p.abs(turned[2]), p.bitwise_not(turned[3])


@program(transposed(floats(64, 130)), transposed(floats(64, 130, seed=1)), floats(64, 130, seed=2))
def written_across_the_grain(p, x, y, z):
    total = p.add(p.add(x, y), z)
    return total, p.exp(p.transpose(total, (1, 0)))


@program(floats(40, 50), floats(50, 40, seed=1))
def transposes_with_masks_and_slices(p, x, y):
    shifted = p.pad(p.slice(x, (0, 1), (40, 50), (1, 1)), (0, 0), (0, 1), 3.0)
    part = p.slice(p.transpose(y, (1, 0)), (3, 0), (40, 50), (1, 1))
    return p.sub(p.transpose(shifted, (1, 0)), y), p.add(part, p.slice(x, (3, 0), (40, 50), (1, 1))), p.rev(part, (0,))


@program(floats(20, 3, 5), floats(3, 20, 5, seed=1), floats(2, 3, 4, 5, seed=2), floats(3, seed=3))
def arrays_that_disagree_about_the_outer_axes(p, x, y, z, row):
    total = p.add(p.transpose(x, (1, 0, 2)), y)
    scaled = p.mul(z, p.broadcast_in_dim(row, (2, 3, 4, 5), (1,)))
    turned = p.transpose(p.rev(z, (1,)), (1, 2, 0, 3))
    return (
        total,
        p.neg(x),
        p.transpose(scaled, (2, 0, 1, 3)),
        turned,
        p.exp(p.pad(turned, (0, 1, 0, 0), (1, 0, 0, 0), 2.0)),
    )


@program(transposed(floats(5, 3)), floats(3, 1, seed=1))
def strided_input_and_size_one(p, x, y):
    return p.add(x, p.transpose(p.broadcast_in_dim(y, (3, 5), (0, 1)), (1, 0)))


@program(floats(2, 3, 4))
def reshapes(p, x):
    return p.exp(p.reshape(p.neg(p.reshape(x, (6, 4))), (4, 3, 2))), p.reshape(x, (24,)), p.reshape(x, (2, 1, 12, 1))


@program(floats(7, 5))
def slices_and_reversal(p, x):
    return p.add(p.slice(x, (0, 1), (6, 5), (2, 2)), p.rev(p.slice(x, (1, 0), (4, 4), (1, 2)), (0, 1)))


@program(floats(3, 4), floats(3, 2, seed=1), floats(3, 1, seed=2))
def concatenation(p, x, y, z):
    return p.cat([p.exp(x), y, z], 1), p.cat([x, x], 0), p.cat([z], 1)


@program(floats(3, 4))
def padding(p, x):
    padded = p.pad(p.exp(x), (1, 0), (0, 3), 7.0)
    return padded, p.pad(x, (0, 0), (0, 0), 0.0), p.sum(padded, (0,))


@program(floats(8, 33))
def reductions_of_rows(p, x):
    return p.sum(x, (1,)), p.amax(x, (1,)), p.amin(x, (1,)), p.prod(x, (1,))


@program(floats(9, 20))
def reductions_of_columns(p, x):
    return p.sum(x, (0,)), p.amax(x, (0,)), p.amin(x, (0,)), p.prod(x, (0,))


@program(floats(150, 300), floats(3, 200, 9, seed=1))
def long_columns(p, x, y):
    scaled = p.mul(x, p.broadcast_in_dim(p.sum(x, (0,)), (150, 300), (1,)))
    return p.sum(p.exp(x), (0,)), p.amax(x, (0,)), scaled, p.sum(y, (1,)), p.sum(y, (0, 1)), p.prod(y, (1,))


@program(floats(3, 9000), floats(2, 5000, seed=1, dtype=np.float64))
def long_rows(p, x, y):
    return p.sum(x, (1,)), p.amax(x, (1,)), p.sum(x, (0, 1)), p.sum(y, (1,)), p.argmax(x, 1)


@program(floats(32, 2500), floats(70_000, seed=1))
def reductions_of_everything_in_parts(p, x, y):
    sums = p.sum(x, (0, 1)), p.amax(p.exp(y), (0,)), p.argmin(y, 0)
    return (*sums, p.sub(y, p.broadcast_in_dim(p.amin(y, (0,)), (70_000,), ())))


@program(floats(3, 4, 5, 2))
def reductions_of_several_dimensions(p, x):
    return p.sum(x, (0, 2)), p.sum(x, (1, 3)), p.amax(x, (0, 1, 2, 3)), p.sum(x, (0, 3))


@program(ints(6, 5), ints(6, 5) > 0)
def reductions_of_integers_and_bools(p, x, b):
    return p.sum(x, (1,)), p.prod(x, (0,)), p.amax(x, (1,)), p.amax(b, (1,)), p.amin(b, (0,)), p.amax(b, (0, 1))


@program(np.array([[1.0, np.nan, 3.0], [-np.inf, -np.inf, -np.inf], [2.0, 2.0, 1.0]], F))
def extremes_and_their_places(p, x):
    return p.argmax(x, 1), p.argmin(x, 1), p.argmax(x, 0), p.amax(x, (1,)), p.amin(x, (0,)), p.argmin(x, 0)


def rows_with_ties():
    """Long rows whose extremes stand several times, beside NaNs, or everywhere."""
    x = floats(8, 700)
    x[1, [650, 300]] = np.nan
    x[2] = -np.inf
    x[3, [5, 127, 128, 400, 699]] = 9
    x[4] = np.inf
    x[5, [140, 0]] = np.inf, np.nan
    x[6, 699] = -9
    return x


@program(rows_with_ties(), ints(5, 300, low=-3, high=3))
def places_in_long_rows(p, x, i):
    doubled = p.add(x, x)
    places = p.argmax(x, 1), p.argmin(x, 1), p.argmax(doubled, 1), p.argmax(i, 1), p.argmin(i, 1)
    return (
        *places,
        p.amax(x, (1,)),
        p.amin(x, (1,)),
        p.sum(doubled, (1,)),
        p.argmin(p.slice(x, (3, 2), (4, 301), (1, 1)), 1),
    )


@program(floats(5, 21), floats(5, 40, seed=1), floats(3, 40, seed=2))
def regions(p, x, y, z):
    rows = p.cat([y, z, p.exp(y)], 0)
    beside = p.cat([x, p.neg(y), p.slice(x, (0, 0), (5, 1), (1, 1)), p.rev(x, (1,))], 1)
    padded = p.pad(p.pad(z, (1, 2), (3, 4), 7.0), (0, 1), (2, 1), 0.5)
    columns = [p.reshape(y, (5, 40, 1)), p.reshape(p.sin(y), (5, 40, 1))]
    return rows, p.mul(beside, beside), padded, p.cat(columns, 2), p.sum(p.cat([x, y], 1), (1,))


@program(floats(4, 7), ints(3, 5))
def running_totals(p, x, i):
    return p.scan(x, 1, "sum"), p.scan(p.exp(x), 0, "sum"), p.scan(i, 1, "sum")


def awkward(dtype):
    """Where series end, change sides or have poles."""
    ends = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 30.0, -30.0, 171.5, 1e10, 1e-20, np.inf, -np.inf, np.nan]
    return np.array(ends, dtype)


@program(np.tile(awkward(F), 20), np.repeat(np.abs(awkward(F)), 20))
def series_in_float32(p, x, y):
    of_one = [getattr(p, name)(x) for name in ("erfc", "erfcx", "erf_inv", "ndtri", "lgamma", "digamma")]
    bessel = [getattr(p, f"bessel_{name}")(x) for name in ("j0", "j1", "y0", "y1", "i0e", "i1e", "k0e", "k1e")]
    return *of_one, *bessel, p.igamma(p.abs(x), y), p.igammac(p.abs(x), y)


@program(np.tile(awkward(np.float64), 20), np.repeat(np.abs(awkward(np.float64)), 20))
def series_in_float64(p, x, y):
    erfs = p.erfc(x), p.erf_inv(x), p.ndtri(p.mul(x, p.full((300,), 0.01, float64)))
    return *erfs, p.exp(p.lgamma(x)), p.neg(p.digamma(x)), p.bessel_i0e(x), p.igamma(p.abs(x), y)


BF16 = ml_dtypes.bfloat16


@program(floats(9, 20, dtype=np.float16), floats(9, 20, seed=1, dtype=np.float16))
def float16_arithmetic(p, x, y):
    total = p.add(p.mul(x, y), p.full((9, 20), 0.1, float16))
    return total, p.exp(total), p.convert_element_type(p.neg(x), float32), p.pow(x, p.full((9, 20), 2.0, float16))


@program(floats(9, 20).astype(BF16), floats(9, 20, seed=1).astype(BF16), ints(5, low=0, high=9))
def bfloat16_arithmetic(p, x, y, i):
    total = p.maximum(p.sub(x, y), p.full((9, 20), 0.25, bfloat16))
    whole = p.convert_element_type(p.mul(x, p.full((9, 20), 100.0, bfloat16)), int64)
    return total, p.lt(x, y), whole, p.index(total, (i,)), p.where(p.lt(x, y), x, y)


@program(floats(12, 40).astype(BF16), floats(12, 40, dtype=np.float16))
def reductions_of_half_floats(p, x, y):
    sums = p.sum(x, (1,)), p.sum(p.exp(y), (0,)), p.amax(x, (0,)), p.amin(y, (0, 1)), p.argmax(y, 1)
    return (*sums, p.scan(x, 1, "sum"), p.scan(y, 0, "amax"))


HALF_AWKWARD = np.where(AWKWARD == F(3e38), 6e4, AWKWARD)


@program(HALF_AWKWARD.astype(np.float16), AWKWARD.astype(BF16))
def half_floats_that_are_awkward(p, x, y):
    swapped = p.convert_element_type(x, bfloat16), p.convert_element_type(y, float16)
    wide = p.convert_element_type(x, float64), p.convert_element_type(y, float32), p.convert_element_type(y, bool_)
    return (*swapped, *wide, p.neg(x), p.abs(y), p.cat([x, x], 0), p.pad(y, (1,), (2,), 3.0), p.rev(x, (0,)))


@program(floats(8, 5).astype(BF16), floats(5, 7, seed=1).astype(BF16), floats(40, 50, dtype=np.float16))
def half_floats_in_products_and_transposes(p, a, b, x):
    return p.tanh(p.mm(a, b)), p.exp(p.transpose(x, (1, 0))), p.transpose(p.neg(x), (1, 0))


@program(
    floats(5, 6).astype(BF16), ints(5, 2, low=0, high=6), floats(5, 2, seed=1).astype(BF16), np.array(3), np.array(9)
)
def half_floats_chosen_stored_and_drawn(p, x, along, src, seed, offset):
    chosen = (
        p.gather(x, 1, along),
        p.scatter_add(x, 1, along, src),
        p.index_put(x, (None, p.iota(2, 0, 1, int64)), p.index(x, (None, p.iota(2, 1, 1, int64))), False),
    )
    return (
        *chosen,
        p.philox_uniform((7,), seed, offset, float16),
        p.iota(6, 0.5, 0.25, bfloat16),
        p.full((2,), 0.1, bfloat16),
    )


SCANS = ["sum", "prod", "amax", "amin", "logaddexp"]
SCANNED = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, -1e-3, 0.5, 2.0, 9.0, -1.0], F)[
    ints(7, 41, low=0, high=12)
]


@program(SCANNED, SCANNED.astype(np.float64), floats(19, 37, seed=3))
def running_results_of_every_kind(p, x, y, z):
    return tuple(p.scan(value, dim, kind) for value in (x, y, z) for dim in (0, 1) for kind in SCANS)


@program(ints(5, 13), ints(5, 13).astype(np.int8), ints(5, 13) > 3, ints(3, 4, 9).astype(np.uint8))
def running_results_of_integers(p, x, y, b, z):
    sums = [p.scan(value, 1, kind) for value in (x, y, z) for kind in SCANS[:4]]
    return (*sums, p.scan(b, 1, "amax"), p.scan(b, 0, "amin"), p.scan(x, 0, "prod"), p.scan(z, 2, "sum"))


@program(floats(6, 20), floats(20, 6, seed=1))
def scans_fused_with_what_surrounds_them(p, x, y):
    total = p.scan(p.div(x, p.broadcast_in_dim(p.sum(p.abs(x), (1,)), (6, 20), (0,))), 1, "sum")
    other = p.scan(p.exp(p.transpose(total, (1, 0))), 0, "amax")
    twice = p.scan(p.neg(p.scan(y, 0, "sum")), 0, "amin")
    return p.reshape(p.exp(total), (6, 4, 5)), p.mul(other, y), p.sum(total, (1,)), p.add(twice, other)


@program(floats(4, 6, 5), floats(1, 5), floats(130))
def scans_of_views_and_of_one_dimension(p, x, y, z):
    mixed = p.reshape(p.transpose(x, (0, 2, 1)), (4, 30))
    return p.scan(mixed, 1, "sum"), p.exp(p.scan(mixed, 0, "sum")), p.scan(y, 0, "prod"), p.scan(p.neg(z), 0, "sum")


@program(floats(0, 3), floats(4, 0, seed=1), floats())
def empty_and_scalar(p, x, y, s):
    scans = p.scan(x, 0, "sum"), p.scan(x, 1, "amax"), p.scan(y, 1, "prod")
    return p.exp(x), p.sum(x, (0,)), p.sum(y, (1,)), p.exp(s), p.reshape(s, (1, 1)), p.sum(s, ()), *scans


@program(np.array(3), np.array(1000))
def random_numbers(p, seed, offset):
    u = p.philox_uniform((4, 9), seed, offset, float32)
    return u, p.philox_uniform((11,), seed, offset, float64), p.transpose(u, (1, 0))


@program(floats(5, 4))
def counting(p, x):
    rows = p.broadcast_in_dim(p.iota(5, 3, -1, int64), (5, 4), (0,))
    keep = p.lt(rows, p.broadcast_in_dim(p.iota(4, 0, 1, int64), (5, 4), (1,)))
    return p.where(keep, x, p.full((5, 4), -np.inf, float32)), p.iota(4, 0.5, 0.25, float32)


@program(floats(5, 6), ints(5, 2, low=0, high=6), ints(7, low=-5, high=5, seed=2))
def choosing_elements(p, x, along, rows):
    return p.gather(p.exp(x), 1, along), p.index(x, (rows,)), p.index(x, (None, p.abs(rows)))


@program(floats(4, 5, 6), ints(3, low=0, high=4), ints(3, low=0, high=6, seed=3))
def choosing_by_two_tensors(p, x, i, j):
    return p.index(x, (i, None, j)), p.index(x, (i, p.full((3,), 2, int64), None))


@program(floats(5, 6), ints(5, 2, low=0, high=6), floats(5, 2, seed=1), ints(9, low=-5, high=5), floats(9, 6, seed=2))
def storing_elements(p, x, along, src, rows, values):
    zeros = p.full((5, 6), 0.0, float32)
    return p.scatter_add(x, 1, along, src), p.index_put(zeros, (rows,), p.exp(values), True)


@program(
    SCANNED,
    ints(7, 90, low=0, high=41),
    SCANNED[:, np.arange(90) % 41],
    ints(6),
    ints(20, low=0, high=6),
    ints(20, seed=4),
)
def combining_where_values_meet(p, x, along, src, i, places, values):
    kinds = ["prod", "amax", "amin"]
    mixed = [p.scatter_reduce(x, 1, along, p.neg(src), kind) for kind in kinds]
    return (
        *mixed,
        *(p.scatter_reduce(i, 0, places, values, kind) for kind in kinds),
        p.scatter_add(i, 0, places, values),
    )


@program(floats(16, 24))
def softmax(p, x):
    top = p.broadcast_in_dim(p.amax(x, (1,)), (16, 24), (0,))
    e = p.exp(p.sub(x, top))
    return p.div(e, p.broadcast_in_dim(p.sum(e, (1,)), (16, 24), (0,)))


@program(floats(16, 24), floats(24, seed=1), floats(24, seed=2))
def layer_norm(p, x, weight, bias):
    count = p.full((16,), 24.0, float32)
    wide = lambda t, d: p.broadcast_in_dim(t, (16, 24), (d,))
    centred = p.sub(x, wide(p.div(p.sum(x, (1,)), count), 0))
    variance = p.div(p.sum(p.mul(centred, centred), (1,)), count)
    scale = p.rsqrt(p.add(variance, p.full((16,), 1e-5, float32)))
    return p.add(p.mul(p.mul(centred, wide(scale, 0)), wide(weight, 1)), wide(bias, 1)), scale


@program(floats(4, 3, 5, 5), floats(3, seed=1))
def batch_norm(p, x, weight):
    wide = lambda t: p.broadcast_in_dim(t, (4, 3, 5, 5), (1,))
    count = p.full((3,), 100.0, float32)
    centred = p.sub(x, wide(p.div(p.sum(x, (0, 2, 3)), count)))
    variance = p.div(p.sum(p.mul(centred, centred), (0, 2, 3)), count)
    return p.mul(centred, wide(p.mul(p.rsqrt(p.add(variance, p.full((3,), 1e-5, float32))), weight)))


@program(floats(8, 5), floats(5, 7, seed=1), floats(9, 7, seed=2))
def matrix_products(p, a, b, c):
    hidden = p.tanh(p.mm(a, b))
    return p.mm(hidden, p.transpose(c, (1, 0))), p.mm(p.transpose(a, (1, 0)), hidden)


@program(floats(3, 4, 5, dtype=np.float64), floats(3, 6, 5, dtype=np.float64), ints(3, 4), ints(4, 2))
def batched_and_integer_products(p, a, b, i, j):
    return p.bmm(a, p.transpose(b, (0, 2, 1))), p.mm(i, j)


@program(floats(2, 8, 3, 4))
def products_of_heads(p, x):
    heads = p.reshape(p.transpose(x, (0, 2, 1, 3)), (6, 8, 4))
    return p.bmm(heads, p.transpose(heads, (0, 2, 1)))


GEOMETRIES = [
    ((1, 1), (1, 1), (1, 1), 1),
    ((2, 1), (0, 2), (1, 2), 1),
    ((1, 1), (1, 1), (1, 1), 2),
    ((1, 1), (0, 0), (1, 1), 4),
]


@program(floats(2, 4, 9, 8), floats(6, 4, 3, 3, seed=1), floats(6, 2, 3, 3, seed=2), floats(4, 1, 1, 1, seed=3))
def convolutions(p, x, w, w2, w4):
    results = []
    for weight, geometry in zip((w, w, w2, w4), GEOMETRIES):
        y = p.convolution(x, weight, *geometry)
        results.append(y)
        results.append(p.convolution_input_grad(y, weight, (2, 4, 9, 8), *geometry))
        results.append(p.convolution_weight_grad(y, x, tuple(weight.meta["val"].sizes), *geometry))
    return tuple(results)


@program(floats(2, 3, 7, 9))
def pooling(p, x):
    both = p.max_pool2d(x, (3, 2), (2, 2), (1, 1), (1, 1), False)
    values, places = p.item(both, 0), p.item(both, 1)
    return values, places, p.max_pool2d_backward(p.exp(values), places, (2, 3, 7, 9))


@program(floats(1, 2, 70, 4), floats(1, 1, 140, 4), floats(1, 1, 140, 3), floats(1, 1, 70, 140) > -1)
def attention(p, query, key, value, mask):
    both = p.flash_attention(query, key, value, mask, True, 0.5, -3.0, False)
    out, sums = p.item(both, 0), p.item(both, 1)
    grads = p.flash_attention_backward(p.exp(out), query, key, value, out, sums, mask, True, 0.5, -3.0)
    return out, sums, p.item(grads, 0), p.item(grads, 1), p.item(grads, 2)


@program(floats(6, 5))
def outputs_that_are_inputs_views_and_repeats(p, x):
    y = p.exp(x)
    return x, y, y, p.transpose(y, (1, 0)), p.transpose(x, (1, 0)), p.convert_element_type(x, float32)


@program(floats(10, 6), floats(10, 6, seed=1))
def a_value_with_many_users(p, x, y):
    e = p.tanh(p.mul(x, y))
    return p.sum(e, (0,)), p.sum(e, (1,)), p.transpose(e, (1, 0)), p.add(e, x)


@program(floats(8))
def a_long_chain(p, x):
    for _ in range(120):
        x = p.add(x, p.mul(x, p.full((8,), 1e-3, float32)))
    return x


@program(floats(64, 12), floats(12, 16, seed=1), floats(16, 4, seed=2), ints(64, low=0, high=4))
def training_step_of_a_classifier(p, x, w1, w2, labels):
    """Forward, cross entropy and backward of a two-layer perceptron, as one graph."""
    hidden = p.mm(x, w1)
    active = p.maximum(hidden, p.full((64, 16), 0.0, float32))
    logits = p.mm(active, w2)
    wide = lambda t: p.broadcast_in_dim(t, (64, 4), (0,))
    shifted = p.sub(logits, wide(p.amax(logits, (1,))))
    log_total = p.log(p.sum(p.exp(shifted), (1,)))
    log_probability = p.sub(shifted, wide(log_total))
    one_hot = p.eq(p.broadcast_in_dim(p.iota(4, 0, 1, int64), (64, 4), (1,)), wide(labels))
    picked = p.where(one_hot, log_probability, p.full((64, 4), 0.0, float32))
    loss = p.div(p.neg(p.sum(picked, (0, 1))), p.full((), 64.0, float32))
    hit = p.convert_element_type(one_hot, float32)
    d_logits = p.div(p.sub(p.exp(log_probability), hit), p.full((64, 4), 64.0, float32))
    d_w2 = p.mm(p.transpose(active, (1, 0)), d_logits)
    d_active = p.mm(d_logits, p.transpose(w2, (1, 0)))
    d_hidden = p.where(p.gt(hidden, p.full((64, 16), 0.0, float32)), d_active, p.full((64, 16), 0.0, float32))
    d_w1 = p.mm(p.transpose(x, (1, 0)), d_hidden)
    rate = lambda w: p.full(tuple(w.meta["val"].sizes), 0.1, float32)
    return loss, p.sub(w1, p.mul(rate(w1), d_w1)), p.sub(w2, p.mul(rate(w2), d_w2)), p.sum(d_hidden, (0,))
