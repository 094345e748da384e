"""Complex numbers: made, taken apart, turned; and those functions whose real formula means nothing for them.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, ops
>>> from minitorch_compile.tensor.numerics.dtype import complex64
>>> print(decomposed(ops.conj_physical, empty_fake((2,), None, complex64)).compact())
x -> complex(real(x), neg(imag(x)))
"""

from __future__ import annotations

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes
from minitorch_compile.prims.elementwise import broadcast_to, copied, elementwise, number_like, reshaped
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.strides import broadcast_sizes

Ints = tuple[int, ...]


@decomposes(ops.complex)
def _(real: Tensor, imag: Tensor) -> Tensor:
    """The prim, of parts of the same sizes."""
    sizes = broadcast_sizes(real.sizes, imag.sizes)
    return prims.complex(broadcast_to(real, sizes), broadcast_to(imag, sizes))


@decomposes(ops._real_part)
def _(x: Tensor) -> Tensor:
    """The prim."""
    return prims.real(x)


@decomposes(ops._imaginary_part)
def _(x: Tensor) -> Tensor:
    """The prim."""
    return prims.imag(x)


@decomposes(ops.view_as_real)
def _(x: Tensor) -> Tensor:
    """Both parts side by side."""
    return prims.cat([reshaped(part, (*x.sizes, 1)) for part in (prims.real(x), prims.imag(x))], len(x.sizes))


@decomposes(ops.view_as_complex)
def _(x: Tensor) -> Tensor:
    """The two elements of the last dimension as the parts of one number."""
    return prims.complex(ops.select(x, -1, 0), ops.select(x, -1, 1))


@decomposes(ops._conj)
def _(x: Tensor) -> Tensor:
    """The conjugate numbers, as new ones."""
    return ops.conj_physical(x)


@decomposes(ops._neg_view)
def _(x: Tensor) -> Tensor:
    """The negative numbers, as new ones."""
    return prims.neg(x)


@elementwise(ops.conj_physical)
def _(x: Tensor) -> Tensor:
    """The other sign for the imaginary part."""
    return prims.complex(prims.real(x), prims.neg(prims.imag(x))) if x.dtype.is_complex else copied(x)


@elementwise(ops.angle)
def _(x: Tensor) -> Tensor:
    """The angle of the point (real, imag)."""
    if x.dtype.is_complex:
        return prims.atan2(prims.imag(x), prims.real(x))
    return prims.atan2(number_like(x, 0), x)


# ------------------------------------------------------------------------------------------ transforms


@decomposes(ops._fft_c2c)
def _(x: Tensor, dim: Ints, norm: str, forward: bool) -> Tensor:
    """The prim."""
    return prims.fft_c2c(x, tuple(dim), norm, forward)


@decomposes(ops._fft_r2c)
def _(x: Tensor, dim: Ints, norm: str) -> Tensor:
    """The prim."""
    return prims.fft_r2c(x, tuple(dim), norm)


@decomposes(ops._fft_c2r)
def _(x: Tensor, dim: Ints, norm: str, size: int) -> Tensor:
    """The prim."""
    return prims.fft_c2r(x, tuple(dim), norm, size)


# ------------------------------------------------------------------------------------------ inverse functions
#
# With real arguments these are angles of points (elementary.py). The formulas here are right on both sides of the
# branch cuts and lose no digits near them.
# Source: W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987).


def asin(x: Tensor) -> Tensor:
    """atan2(Re z, Re(a b)) + i asinh(Im(conj(a) b)), where a = sqrt(1 - z) and b = sqrt(1 + z)."""
    below, above = _roots(x)
    (p, q), (r, s) = _parts(below), _parts(above)
    angle = prims.atan2(prims.real(x), prims.sub(prims.mul(p, r), prims.mul(q, s)))
    return prims.complex(angle, ops.asinh(prims.sub(prims.mul(p, s), prims.mul(q, r))))


def acos(x: Tensor) -> Tensor:
    """2 atan2(Re a, Re b) + i asinh(Im(conj(b) a)), where a = sqrt(1 - z) and b = sqrt(1 + z)."""
    below, above = _roots(x)
    (p, q), (r, s) = _parts(below), _parts(above)
    angle = prims.atan2(p, r)
    return prims.complex(prims.add(angle, angle), ops.asinh(prims.sub(prims.mul(r, q), prims.mul(s, p))))


def acosh(x: Tensor) -> Tensor:
    """asinh(Re(conj(a) b)) + 2 i atan2(Im a, Re b), where a = sqrt(z - 1) and b = sqrt(z + 1)."""
    re, im = _parts(x)
    one = number_like(re, 1)
    roots = (prims.sqrt(prims.complex(part, im)) for part in (prims.sub(re, one), prims.add(re, one)))
    (p, q), (r, s) = map(_parts, roots)
    angle = prims.atan2(q, r)
    return prims.complex(ops.asinh(prims.add(prims.mul(p, r), prims.mul(q, s))), prims.add(angle, angle))


def asinh(x: Tensor) -> Tensor:
    """asin, turned by a quarter: -i asin(i z)."""
    return _turned_back(asin(_turned(x)))


def atanh(x: Tensor) -> Tensor:
    """log1p(4 x / ((1 - x)^2 + y^2)) / 4 + i atan2(2 y, (1 - x) (1 + x) - y^2) / 2."""
    re, im = _parts(x)
    one, quarter, half = number_like(re, 1), number_like(re, 0.25), number_like(re, 0.5)
    before, after, square = prims.sub(one, re), prims.add(one, re), prims.mul(im, im)
    ratio = prims.div(prims.mul(number_like(re, 4), re), prims.add(prims.mul(before, before), square))
    angle = prims.atan2(prims.add(im, im), prims.sub(prims.mul(before, after), square))
    return prims.complex(prims.mul(quarter, prims.log1p(ratio)), prims.mul(half, angle))


def atan(x: Tensor) -> Tensor:
    """atanh, turned by a quarter: -i atanh(i z)."""
    return _turned_back(atanh(_turned(x)))


def tan(x: Tensor) -> Tensor:
    """tanh, turned by a quarter: -i tanh(i z), which doesn't overflow."""
    return _turned_back(prims.tanh(_turned(x)))


def _roots(x: Tensor) -> tuple[Tensor, Tensor]:
    """sqrt(1 - z) and sqrt(1 + z), with the imaginary zero of z kept: its sign says which side of a cut z is on."""
    re, im = _parts(x)
    one = number_like(re, 1)
    below = prims.complex(prims.sub(one, re), prims.neg(im))
    return prims.sqrt(below), prims.sqrt(prims.complex(prims.add(one, re), im))


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    return prims.real(x), prims.imag(x)


def _turned(x: Tensor) -> Tensor:
    """i z."""
    return prims.complex(prims.neg(prims.imag(x)), prims.real(x))


def _turned_back(x: Tensor) -> Tensor:
    """-i z."""
    return prims.complex(prims.imag(x), prims.neg(prims.real(x)))
