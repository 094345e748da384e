"""Conversions of two-byte floats, bit by bit, against NumPy and ml_dtypes."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from numba import njit

from minitorch_compile.inductor.kernels import half_floats
from minitorch_compile.inductor.machine import host, using

PLAIN = replace(host(), instructions=frozenset())  # a processor that converts nothing
WAYS = {"by the processor": host(), "by integers": PLAIN}
EVERY_HALF = np.arange(1 << 16, dtype=np.uint16)
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def widened(name, bits):
    convert = getattr(half_floats, f"float32_of_{name}")

    @njit
    def run(bits, out):
        for i in range(bits.size):
            out[i] = convert(bits[i])

    out = np.empty(bits.shape, np.float32)
    run(bits, out)
    return out


def narrowed(name, x):
    convert = getattr(half_floats, f"{name}_of_float32")

    @njit
    def run(x, out):
        for i in range(x.size):
            out[i] = convert(x[i])

    out = np.empty(x.shape, np.uint16)
    run(x, out)
    return out


@pytest.fixture(params=WAYS, autouse=True)
def way(request):
    """Functions that are compiled in the test convert so."""
    with using(WAYS[request.param]):
        yield


def same_numbers(a, b):
    """Equal with the sign of zero, or both NaN."""
    return ((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)).all()


@pytest.mark.parametrize("name", DTYPES)
def test_every_number_of_two_bytes_is_read(name):
    with np.errstate(all="ignore"):
        assert same_numbers(widened(name, EVERY_HALF), EVERY_HALF.view(DTYPES[name]).astype(np.float32))


@pytest.mark.parametrize("name", DTYPES)
def test_every_number_of_two_bytes_and_every_tie_between_two_is_rounded(name):
    with np.errstate(all="ignore"):
        numbers = EVERY_HALF.view(DTYPES[name]).astype(np.float64)
        ties = ((numbers[:-1] + numbers[1:]) / 2).astype(np.float32)
        x = np.concatenate(
            [numbers.astype(np.float32), ties, np.nextafter(ties, np.float32(0)), [65519.996, 65520, 3e38]]
        )
        x = x.astype(np.float32)
        expected = x.astype(DTYPES[name]).astype(np.float32)
    assert same_numbers(widened(name, narrowed(name, x)), expected)


@pytest.mark.parametrize("name", DTYPES)
def test_random_bits_are_rounded(name):
    x = np.random.default_rng(0).integers(0, 1 << 32, 300_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        expected = x.astype(DTYPES[name]).astype(np.float32)
    assert same_numbers(widened(name, narrowed(name, x)), expected)
