"""Every float32: an elementary function at all 2**32 of them, or at every so-manieth, against NumPy in float64.

    python -m tests.inductor.sweep                      all functions, a quarter of an hour
    python -m tests.inductor.sweep exp sin --step 101   two of them, at every 101st bit pattern

Prints the largest error of each function beside its stated bound, and where it is; exit status 1 if a bound is broken.
"""

import argparse
import sys

import numpy as np
from numba import njit

from minitorch_compile.inductor.kernels import vecmath
from minitorch_compile.inductor.kernels.vecmath import LARGEST_ANGLE, ULP_BOUNDS
from tests.inductor.references import ONLY_FLOAT32, REFERENCES

FUNCTIONS = REFERENCES | ONLY_FLOAT32
PIECE = 1 << 22  # bit patterns at once


def bit_patterns(start, step):
    """Some float32 numbers, as their bits go up from `start`."""
    stop = min(start + PIECE * step, 1 << 32)
    return np.arange(start, stop, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


def compiled(name):
    quick = getattr(vecmath, f"{name}_float32")

    @njit(error_model="numpy")
    def run(x, out):
        for i in range(x.size):
            out[i] = quick(x[i])

    return run


def error_at(name, run, x):
    """The largest error at these numbers, in units in the last place, and the number where it is."""
    if name in ("sin", "cos"):  # beyond, kernels ask for a second look
        x = x[~(np.abs(x) > LARGEST_ANGLE["float32"])]
    out = np.empty_like(x)
    run(x, out)
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype(np.float64))
        rounded = exact.astype(np.float32)
        spacing = np.spacing(np.abs(rounded)).astype(np.float64)
        error = np.abs(out - exact) / spacing
    same = (out == rounded) & (np.signbit(out) == np.signbit(rounded)) | np.isnan(out) & np.isnan(rounded)
    error[same & ~np.isfinite(rounded)] = 0
    error[~np.isfinite(error) | (np.signbit(out) != np.signbit(rounded)) & ~np.isnan(rounded)] = np.inf
    error[np.isnan(out) & np.isnan(rounded)] = 0
    worst = int(np.argmax(error)) if len(error) else -1
    return (float(error[worst]), float(x[worst])) if worst >= 0 else (0.0, 0.0)


def sweep(name, step=1):
    """The largest error of a function, and where."""
    run = compiled(name)
    return max(error_at(name, run, bit_patterns(start, step)) for start in range(0, 1 << 32, PIECE * step))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(FUNCTIONS))
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args(arguments)
    broken = False
    for name in options.names or FUNCTIONS:
        error, where = sweep(name, options.step)
        bound = ULP_BOUNDS[f"{name}_float32"]
        broken = broken or not error <= bound
        print(
            f"{name:>8}  {error:.3f} ulp at {where!r}, bound {bound}{'' if error <= bound else '  BROKEN'}", flush=True
        )
    return int(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
