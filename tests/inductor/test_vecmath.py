"""The elementary functions against NumPy in higher precision: error bounds, special values, vector instructions."""

import platform

import numpy as np
import pytest
from numba import njit
from scipy import special

from minitorch_compile.inductor.kernels import vecmath
from minitorch_compile.inductor.kernels.vecmath import LARGEST_ANGLE, ULP_BOUNDS
from minitorch_compile.inductor.runtime.kernel_function import kernel
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS
from tests.inductor.references import ONLY_FLOAT32, REFERENCES
from tests.inductor.sweep import sweep

SAMPLES = 100_000
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -1.5, 2.0, 5e-324, -5e-324, 1e-45, -1e-45, 1e-40,
1e-310, 1e-20,
           -1e-20, 2.0**-126, 2.0**-1022, 3e38, -3e38, 1e308, -1e308, 88.72, 88.73, -87.4, -103.9, -104.1, 709.78,
           709.79, -745.1, -746.0, -0.9999999, 1e10, -1e10]  # fmt: skip


ALL = REFERENCES | ONLY_FLOAT32
FUNCTIONS = [(name, "float32") for name in ALL] + [(name, "float64") for name in REFERENCES]

# Intervals that are sampled evenly, besides all magnitudes.
INTERVALS = {
    "exp": [(-104, 89), (-1, 1)], "expm1": [(-30, 89), (-1, 1)], "log": [(0, 10), (0.5, 2)],
    "log1p": [(-1, 10), (-0.5, 0.5)],
    "tanh": [(-20, 20), (-1, 1)], "sigmoid": [(-100, 40), (-3, 3)], "sin": [(-100, 100), (-1, 1)],
    "cos": [(-100, 100), (-1, 1)], "erf": [(-6, 6), (-1, 1)], "rsqrt": [(0, 10)],
    "erfc": [(-6, 11), (-1, 1)], "erf_inv": [(-1.01, 1.01), (0.999, 1)],
}  # fmt: skip


def elementwise(function, inputs=1):
    if inputs == 2:

        @njit(error_model="numpy")
        def run(x, y, out):
            for i in range(x.size):
                out[i] = function(x[i], y[i])

    else:

        @njit(error_model="numpy")
        def run(x, out):
            for i in range(x.size):
                out[i] = function(x[i])

    return run


def error_in_ulps(result, exact):
    """The largest distance from the exact result, in spacings of the result's dtype there."""
    with np.errstate(over="ignore"):
        rounded = exact.astype(result.dtype)
    both = np.isfinite(rounded) & np.isfinite(result)
    assert np.array_equal(np.isnan(rounded), np.isnan(result))
    spacing = np.spacing(np.abs(rounded[both])).astype(exact.dtype)
    return float(np.max(np.abs(result[both].astype(exact.dtype) - exact[both]) / spacing, initial=0))


def assert_same(out, expected, inputs):
    """Equal with the sign of zero, or both NaN, or within three spacings."""
    with np.errstate(all="ignore"):
        same = (out == expected) & (np.signbit(out) == np.signbit(expected))
        close = np.abs(out - expected) <= 3 * np.spacing(np.abs(expected))
        right = same | close | (np.isnan(out) & np.isnan(expected))
    assert right.all(), [(x, o, e) for x, o, e, r in zip(inputs, out, expected, right) if not r]


def magnitudes(element, rng):
    """Values of both signs whose exponents are spread evenly: what random bits give."""
    size = {"float32": np.uint32, "float64": np.uint64}[element]
    limit = {"float32": 2**32, "float64": 2**64}[element]
    return rng.integers(0, limit, SAMPLES, dtype=np.uint64).astype(size).view(element)


def wider(x):
    """A precision in which the reference has bits to spare."""
    return x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)


@pytest.mark.parametrize("name, element", FUNCTIONS)
def test_the_stated_error_bound_holds(name, element):
    if name == "erf" and element == "float64":
        pytest.skip("SciPy's erf is no more precise than ours: see the next test")
    rng = np.random.default_rng(0)
    samples = [rng.uniform(low, high, SAMPLES) for low, high in INTERVALS[name]] + [magnitudes(element, rng)]
    x = np.concatenate([s.astype(element) for s in samples])
    if name in ("sin", "cos"):
        x = x[~(np.abs(x) > LARGEST_ANGLE[element])]
    out = np.empty_like(x)
    elementwise(getattr(vecmath, f"{name}_{element}"))(x, out)
    with np.errstate(all="ignore"):
        exact = ALL[name](wider(x))
    assert error_in_ulps(out, exact) <= ULP_BOUNDS[f"{name}_{element}"]


def test_erf_in_float64_agrees_with_scipy_to_two_roundings():
    x = np.random.default_rng(0).uniform(-7, 7, SAMPLES)
    out = np.empty_like(x)
    elementwise(vecmath.erf_float64)(x, out)
    assert error_in_ulps(out, special.erf(x)) <= ULP_BOUNDS["erf_float64"] + 1.5


@pytest.mark.parametrize("name, element", FUNCTIONS)
def test_special_values_are_those_of_c(name, element):
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL).astype(element)
        if name in ("sin", "cos"):
            x = x[~((np.abs(x) > LARGEST_ANGLE[element]) & np.isfinite(x))]
        expected = ALL[name](x if name == "erf" else wider(x)).astype(element)
    out = np.empty_like(x)
    elementwise(getattr(vecmath, f"{name}_{element}"))(x, out)
    assert_same(out, expected, x)


@pytest.mark.parametrize("element", ["float32", "float64"])
def test_pow_in_all_its_cases(element):
    bases = [*SPECIAL, 3.0, -3.0, 7.0, -0.5, 0.99999]
    exponents = [*SPECIAL, 3.0, -3.0, 7.0, 1e20, 4503599627370497.0, -2.0]
    with np.errstate(all="ignore"):
        x, y = (a.ravel().astype(element) for a in np.meshgrid(bases, exponents))
        expected = np.power(x, y)
    run, out = elementwise(getattr(vecmath, f"pow_{element}"), 2), np.empty_like(x)
    run(x, y, out)
    assert_same(out, expected, list(zip(x, y)))


@pytest.mark.parametrize("element", ["float32", "float64"])
@pytest.mark.parametrize(
    "bases, exponents", [((0, 10), (-10, 10)), ((0.5, 2), (-100, 100)), ((0.999, 1.001), (-8e4, 8e4))]
)
def test_pow_keeps_its_error_bound(element, bases, exponents):
    rng = np.random.default_rng(1)
    x, y = rng.uniform(*bases, SAMPLES).astype(element), rng.uniform(*exponents, SAMPLES).astype(element)
    out = np.empty_like(x)
    elementwise(getattr(vecmath, f"pow_{element}"), 2)(x, y, out)
    with np.errstate(all="ignore"):
        assert error_in_ulps(out, np.power(wider(x), wider(y))) <= ULP_BOUNDS[f"pow_{element}"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86 assembly")
@pytest.mark.parametrize(
    "name",
    ["exp_float32", "log_float32", "tanh_float32", "erf_float32", "sin_float32", "erf_inv_float32", "exp_float64"],
)
def test_a_loop_over_it_is_vector_code(name):
    function = getattr(vecmath, name)
    element = ELEMENTS[name.rpartition("_")[2]]

    @kernel(f"test_vector_code_{name}", element, element)
    def run(lo, hi, x, out):
        for i in range(lo, hi):
            out[i] = function(x[i])

    text = run.assembly()
    packed = "mulps" if name.endswith("32") else "mulpd"
    assert packed in text or packed.replace("mul", "fmadd213") in text or packed.replace("mul", "fmadd132") in text
    assert "callq\t*" in text or "call" not in text  # at most the landing pad that Numba adds, no library function


@pytest.mark.parametrize("name", ALL)
def test_every_so_manieth_float32_keeps_the_bound(name):
    error, where = sweep(name, step=20_011)
    assert error <= ULP_BOUNDS[f"{name}_float32"], where


@pytest.mark.parametrize("element", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_atan2_keeps_its_error_bound(element, scale):
    rng = np.random.default_rng(0)
    y, x = (rng.standard_normal(SAMPLES).astype(element) for _ in range(2))
    y = y * y.dtype.type(scale)
    out = np.empty_like(x)
    elementwise(getattr(vecmath, f"atan2_{element}"), 2)(y, x, out)
    assert error_in_ulps(out, np.arctan2(wider(y), wider(x))) <= ULP_BOUNDS[f"atan2_{element}"]


@pytest.mark.parametrize("element", ["float32", "float64"])
@pytest.mark.parametrize("name, reference", [("fmod", np.fmod), ("remainder", np.remainder), ("atan2", np.arctan2)])
def test_functions_of_two_numbers_at_awkward_ones(name, reference, element):
    with np.errstate(all="ignore"):
        x, y = (a.ravel().astype(element) for a in np.meshgrid(SPECIAL, SPECIAL))
        expected = reference(x, y)
    out, far = np.empty_like(x), np.zeros(x.shape, bool)
    elementwise(getattr(vecmath, f"{name}_{element}"), 2)(x, y, out)
    if name != "atan2":
        elementwise(getattr(vecmath, f"far_quotient_{element}"), 2)(x, y, far)
        assert far.mean() < 0.3
    assert_same(out[~far], expected[~far], list(zip(x[~far], y[~far])))


@pytest.mark.parametrize("element", ["float32", "float64"])
def test_remainders_are_exact(element):
    rng = np.random.default_rng(0)
    x, y = (10.0 ** rng.uniform(-6, 6, (2, SAMPLES)) * rng.choice([-1, 1], (2, SAMPLES))).astype(element)
    for name, reference in (("fmod", np.fmod), ("remainder", np.remainder)):
        out = np.empty_like(x)
        elementwise(getattr(vecmath, f"{name}_{element}"), 2)(x, y, out)
        assert np.array_equal(out, reference(x, y))
